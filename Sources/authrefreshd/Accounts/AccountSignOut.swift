internal import AccountStorage
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

extension RefreshCoordinator {
    /// Signs an account out: tells the server, then erases the tokens, whatever the server says.
    ///
    /// Each step is done even if earlier ones failed. If an import or a sign-in brings a new grant meanwhile, this grant
    /// and its account stay, because nobody asked to end that grant.
    ///
    /// - Parameter snapshot: the account when it was asked to sign out.
    func carryOut(_ request: SignOutRequest, of snapshot: AccountSnapshot) async -> SignOutReport {
        // It changes when a running refresh has ended.
        var snapshot = snapshot
        var report = SignOutReport()
        let isSignedOut = snapshot.state.phase == .signedOut
        if request.revokes { report.note(.revoke, await revokeTokens(of: &snapshot, request)) }
        if request.endsSession {
            switch await sessionEnd(of: snapshot.account) {
            case .success(let url):
                report.sessionEnd = url
                report.note(.endSession, .done)
            case .failure(let failure): report.note(.endSession, .failed(failure.detail))
            }
        }
        let erasure = SignOutReport.Outcome { () throws(StoreError) in try eraseGrant(of: snapshot) }
        if case .done = erasure, isSignedOut {
            report.note(.erase, .notNeeded)
        } else {
            report.note(.erase, erasure)
        }
        guard request.forgets, case .done = erasure else { return report }
        if let management = snapshot.account.registration.management {
            report.note(.deregister, await deregister(management, of: snapshot.account))
        }
        let removal = SignOutReport.Outcome { () throws(StoreError) in try removeIfPresent(snapshot.account.id) }
        report.note(.remove, removal)
        return report
    }

    /// Asks the server to revoke the tokens (RFC 7009).
    private func revokeTokens(
        of snapshot: inout AccountSnapshot,
        _ request: SignOutRequest
    ) async -> SignOutReport.Outcome {
        let id = snapshot.account.id
        var outcome = SignOutReport.Outcome.notNeeded
        var revoked: Generation?
        do throws(StoreError) {
            let wasStopping = isStopping
            try await waitForRefresh(of: id)
            // The service manager does not wait for a refresh and for a revocation. The tokens must be erased in time.
            guard isStopping == wasStopping else {
                return .failed(FailureDetail(summary: "the daemon was stopped before it could revoke the tokens"))
            }
            // Tries twice, because a refresh during the revocation may replace the token.
            for _ in 0..<2 {
                guard let record = try records.record(of: id), snapshot.holdsSameGrant(as: record) else { break }
                snapshot = self.snapshot(of: record, at: timebase.now())
                guard request.revokesParked || !snapshot.state.phase.isParked else {
                    return .failed(FailureDetail(summary: "the grant was exported to be moved meanwhile"))
                }
                guard snapshot.state.generation != revoked, let request = try revocation(of: snapshot) else { break }
                revoked = snapshot.state.generation
                switch await client.revoke(request) {
                case .success: outcome = .done
                case .failure(.unsupported): outcome = .unsupported
                case .failure(let failure): outcome = .failed(failure.detail)
                }
            }
        } catch {
            return .failed(FailureDetail(summary: error.description))
        }
        if case .done = outcome, case .refreshing = snapshot.state.phase {
            let summary = "the server has not answered a refresh, and may still issue a token"
            return .failed(FailureDetail(summary: summary))
        }
        return outcome
    }

    /// Waits until no refresh is running, but not for an overdue answer, and not while the daemon stops.
    ///
    /// The server may have replaced the token in the answer that is awaited. It then accepts the revocation of the
    /// spent token, and does nothing (RFC 7009 §2.2).
    private func waitForRefresh(of account: AccountID) async throws(StoreError) {
        guard !isStopping, case .refreshing? = try records.record(of: account)?.state.phase else { return }
        await withCheckedContinuation { continuation in
            _ = wait(for: .attempt, of: account, after: .host(.requestContinues)) { _ in continuation.resume() }
        }
    }

    /// The request to revoke the tokens; nil if there is nothing to revoke.
    private func revocation(of snapshot: AccountSnapshot) throws(StoreError) -> RevocationRequest? {
        let account = snapshot.account
        let refreshToken = try records.refreshToken(of: snapshot)
        let accessToken = snapshot.state.accessToken == nil ? nil : try records.accessToken(of: account.id)
        guard refreshToken != nil || accessToken != nil else { return nil }
        let asking = requestingClient(of: account)
        return RevocationRequest(client: asking, refreshToken: refreshToken, accessToken: accessToken)
    }

    /// The URL at which a browser ends the person's session at the server.
    private func sessionEnd(of account: Account) async -> Result<EndSessionURL, RefreshFailure> {
        let asking = requestingClient(of: account)
        let url = await client.browser.endSessionURL(
            of: asking,
            // Without the hint, the server asks the person which session to end. That is no reason to fail.
            idTokenHint: (try? store.tokens.idToken(of: account.id)) ?? nil,
            redirectURI: account.registration.redirect.postLogoutURI
        )
        return url.flatMap { url in
            guard let url else {
                let detail = FailureDetail(
                    summary: "the server publishes no address where a session ends",
                    correlationID: asking.correlationID
                )
                return .failure(RefreshFailure(.misconfigured, detail: detail))
            }
            return .success(url)
        }
    }

    /// Asks the server to delete the client, if it was registered for this account alone (RFC 7592 §2.3).
    private func deregister(_ management: RegistrationManagement, of account: Account) async -> SignOutReport.Outcome {
        let asking = requestingClient(of: account)
        switch await client.registrar.deregister(asking.registration.management ?? management, of: asking) {
        case .success: return .done
        case .failure(let failure): return .failed(failure.detail)
        }
    }

    private func eraseGrant(of snapshot: AccountSnapshot) throws(StoreError) -> SignOutReport.Outcome {
        let id = snapshot.account.id
        guard let record = try records.record(of: id) else { return .notNeeded }
        guard snapshot.holdsSameGrant(as: record) else {
            return .failed(FailureDetail(summary: "the grant was replaced meanwhile; the new one is kept"))
        }
        if record.state.phase != .signedOut { try eraseTokens(of: id) }
        return .done
    }

    private func removeIfPresent(_ account: AccountID) throws(StoreError) -> SignOutReport.Outcome {
        guard try records.entry(of: account) != nil else { return .notNeeded }
        try remove(account)
        return .done
    }
}

extension AccountSnapshot {
    /// Whether the token of `record` is this account's, or one that replaced it in a refresh.
    fileprivate func holdsSameGrant(as record: Record) -> Bool {
        record.state.generation == state.generation || record.state.previous?.generation == state.generation
    }
}

/// What a sign-out does besides erasing the tokens.
struct SignOutRequest: Sendable {
    var revokes = false
    /// Whether it also revokes a grant that is parked, and that another machine may use.
    var revokesParked = false
    var endsSession = false
    /// Whether the client is deregistered and the account removed afterwards.
    var forgets = false
}

/// The result of a sign-out.
struct SignOutReport: Sendable {
    /// The steps, in their order. The raw values are used on the wire.
    enum Step: String, Sendable {
        case revoke
        case endSession = "end-session"
        case erase, deregister, remove
    }

    enum Outcome: Sendable {
        case done
        /// There was nothing to do.
        case notNeeded
        /// The server cannot do it.
        case unsupported
        case failed(FailureDetail)

        fileprivate init(of step: () throws(StoreError) -> SignOutReport.Outcome) {
            do throws(StoreError) {
                self = try step()
            } catch {
                self = .failed(FailureDetail(summary: error.description))
            }
        }
    }

    private(set) var steps: [(step: Step, outcome: Outcome)] = []
    /// The URL that ends the session in a browser; nil if it was not requested, or if the server has none.
    var sessionEnd: EndSessionURL?

    mutating func note(_ step: Step, _ outcome: Outcome) {
        steps.append((step, outcome))
    }
}
