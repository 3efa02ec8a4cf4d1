internal import AccountStorage
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// A sign-out: it tells the server, then erases the tokens, whatever the server says.
///
/// Each step is done even if earlier ones failed. If an import or a sign-in brings a new grant meanwhile, this grant
/// and its account stay, because nobody asked to end that grant.
struct AccountSignOut {
    let request: SignOutRequest
    /// The account that signs out. It is updated when a running refresh has ended.
    private var snapshot: AccountSnapshot
    private var report = SignOutReport()

    init(_ request: SignOutRequest, of snapshot: AccountSnapshot) {
        self.request = request
        self.snapshot = snapshot
    }

    private var account: Account { snapshot.account }

    mutating func run(on coordinator: isolated RefreshCoordinator) async -> SignOutReport {
        let isSignedOut = snapshot.state.phase == .signedOut
        if request.revokes { report.note(.revoke, await revoke(on: coordinator)) }
        if request.endsSession {
            switch await sessionEnd(on: coordinator) {
            case .success(let url):
                report.sessionEnd = url
                report.note(.endSession, .done)
            case .failure(let failure): report.note(.endSession, .failed(failure.detail))
            }
        }
        let erasure = outcome { () throws(StoreError) in try eraseTokens(on: coordinator) }
        if case .done = erasure, isSignedOut {
            report.note(.erase, .notNeeded)
        } else {
            report.note(.erase, erasure)
        }
        guard request.forgets, case .done = erasure else { return report }
        if let management = account.registration.management {
            report.note(.deregister, await deregister(management, on: coordinator))
        }
        report.note(.remove, outcome { () throws(StoreError) in try remove(on: coordinator) })
        return report
    }

    /// Asks the server to revoke the tokens (RFC 7009).
    private mutating func revoke(on coordinator: isolated RefreshCoordinator) async -> SignOutReport.Outcome {
        var outcome = SignOutReport.Outcome.notNeeded
        var revoked: Generation?
        do throws(StoreError) {
            let wasStopping = coordinator.isStopping
            try await waitForRefresh(on: coordinator)
            // The service manager does not wait for a refresh and for a revocation. The tokens must be erased in time.
            guard coordinator.isStopping == wasStopping else {
                return .failed(FailureDetail(summary: "the daemon was stopped before it could revoke the tokens"))
            }
            // Tries twice, because a refresh during the revocation may replace the token.
            for _ in 0..<2 {
                guard let record = try coordinator.records.record(of: account.id), holdsSameGrant(record) else { break }
                snapshot = coordinator.snapshot(of: record, at: coordinator.timebase.now())
                guard request.revokesParked || !snapshot.state.phase.isParked else {
                    return .failed(FailureDetail(summary: "the grant was exported to be moved meanwhile"))
                }
                guard snapshot.state.generation != revoked, let request = try revocation(on: coordinator) else { break }
                revoked = snapshot.state.generation
                switch await coordinator.client.revoke(request) {
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
    private func waitForRefresh(on coordinator: isolated RefreshCoordinator) async throws(StoreError) {
        let id = account.id
        guard !coordinator.isStopping, case .refreshing? = try coordinator.records.record(of: id)?.state.phase else {
            return
        }
        await withCheckedContinuation { continuation in
            _ = coordinator.wait(for: .attempt, of: id, after: .requestContinues) { _ in continuation.resume() }
        }
    }

    /// Whether the account's token is the one in the snapshot, or one that replaced it in a refresh.
    private func holdsSameGrant(_ record: Record) -> Bool {
        let known = snapshot.state.generation
        return record.state.generation == known || record.state.previous?.generation == known
    }

    /// The request to revoke the tokens; nil if there is nothing to revoke.
    private func revocation(on coordinator: isolated RefreshCoordinator) throws(StoreError) -> RevocationRequest? {
        let refreshToken = try coordinator.records.refreshToken(of: snapshot)
        let accessToken = snapshot.state.accessToken == nil ? nil : try coordinator.records.accessToken(of: account.id)
        guard refreshToken != nil || accessToken != nil else { return nil }
        return RevocationRequest(client: asking(coordinator), refreshToken: refreshToken, accessToken: accessToken)
    }

    /// The URL at which a browser ends the person's session at the server.
    private func sessionEnd(on coordinator: isolated RefreshCoordinator) async -> Result<EndSessionURL, RefreshFailure>
    {
        let asking = asking(coordinator)
        let request = EndSessionRequest(
            client: asking,
            // Without the hint, the server asks the person which session to end. That is no reason to fail.
            idTokenHint: (try? coordinator.records.idToken(of: account.id)) ?? nil,
            postLogoutRedirectURI: account.registration.redirect.postLogoutURI
        )
        return await coordinator.client.browser.endSessionURL(for: request).flatMap { url in
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
    private func deregister(
        _ management: RegistrationManagement,
        on coordinator: isolated RefreshCoordinator
    ) async -> SignOutReport.Outcome {
        let asking = asking(coordinator)
        switch await coordinator.client.registrar.deregister(asking.registration.management ?? management, of: asking) {
        case .success: return .done
        case .failure(let failure): return .failed(failure.detail)
        }
    }

    private func eraseTokens(
        on coordinator: isolated RefreshCoordinator
    ) throws(StoreError) -> SignOutReport.Outcome {
        guard let record = try coordinator.records.record(of: account.id) else { return .notNeeded }
        guard holdsSameGrant(record) else {
            return .failed(FailureDetail(summary: "the grant was replaced meanwhile; the new one is kept"))
        }
        if record.state.phase != .signedOut { try AccountChanges.signOut(account.id, on: coordinator) }
        return .done
    }

    private func remove(on coordinator: isolated RefreshCoordinator) throws(StoreError) -> SignOutReport.Outcome {
        guard try coordinator.records.entry(of: account.id) != nil else { return .notNeeded }
        try AccountChanges.remove(account.id, on: coordinator)
        return .done
    }

    /// The client in the requests to the server.
    private func asking(_ coordinator: isolated RefreshCoordinator) -> RequestingClient {
        coordinator.requestingClient(of: account, correlationID: CorrelationID.new())
    }

    private func outcome(of step: () throws(StoreError) -> SignOutReport.Outcome) -> SignOutReport.Outcome {
        do throws(StoreError) {
            return try step()
        } catch {
            return .failed(FailureDetail(summary: error.description))
        }
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
    }

    struct Result: Sendable {
        let step: Step
        let outcome: Outcome
    }

    private(set) var steps: [Result] = []
    /// The URL that ends the session in a browser; nil if it was not requested, or if the server has none.
    var sessionEnd: EndSessionURL?

    mutating func note(_ step: Step, _ outcome: Outcome) {
        steps.append(Result(step: step, outcome: outcome))
    }
}
