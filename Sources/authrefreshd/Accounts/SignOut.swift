internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Signing out: the server is told what it is to be told, then the tokens are erased, whatever it said.
extension RefreshCoordinator {
    /// Signs an account out; each step is done whatever became of those before it.
    ///
    /// Only a grant that came meanwhile, by an import or a sign-in, is kept, and its account with it: nobody wanted that one to end.
    func signOut(_ request: SignOutRequest, of snapshot: AccountSnapshot) async -> SignOutReport {
        var snapshot = snapshot
        var report = SignOutReport()
        if request.revokes { report.note(.revoke, await revokeGrant(of: &snapshot)) }
        if request.endsSession {
            switch await sessionEnd(of: snapshot.account) {
            case .success(let url):
                report.sessionEnd = url
                report.note(.endSession, .done)
            case .failure(let failure): report.note(.endSession, .failed(failure.detail))
            }
        }
        let erasure = outcome(of: { () throws(StoreError) in try eraseTokens(of: snapshot) })
        report.note(.erase, erasure)
        guard request.forgets, case .done = erasure else { return report }
        if let management = snapshot.account.registration.management {
            report.note(.deregister, await deregister(management, of: snapshot.account))
        }
        report.note(.remove, outcome(of: { () throws(StoreError) in try forget(snapshot.account.id) }))
        return report
    }

    /// Asks the server to revoke an account's tokens (RFC 7009).
    ///
    /// - Parameter snapshot: what was revoked; a later one if a refresh that was under way brought its answer meanwhile.
    private func revokeGrant(of snapshot: inout AccountSnapshot) async -> SignOutReport.Outcome {
        var outcome = SignOutReport.Outcome.notNeeded
        // Twice, because a refresh may rotate the token away that the server is told of; a third time nothing is under way.
        for _ in 0..<2 {
            let request: RevocationRequest
            do throws(StoreError) {
                guard let next = try revocation(of: snapshot) else { break }
                request = next
            } catch {
                return .failed(FailureDetail(summary: error.description))
            }
            switch await client.revoke(request) {
            case .success: outcome = .done
            case .failure(let failure): outcome = .failed(failure.detail)
            }
            guard let later = try? record(of: snapshot.account.id),
                later.state.previous?.generation == snapshot.state.generation
            else { break }
            snapshot = self.snapshot(of: later, at: timebase.now())
        }
        return outcome
    }

    /// Nil if there is nothing to revoke.
    private func revocation(of snapshot: AccountSnapshot) throws(StoreError) -> RevocationRequest? {
        let id = snapshot.account.id
        let refreshToken = try refreshToken(of: snapshot)
        let accessToken = snapshot.state.accessToken == nil ? nil : try accessToken(of: id)
        guard refreshToken != nil || accessToken != nil else { return nil }
        return RevocationRequest(
            client: requestingClient(of: snapshot.account, correlationID: Self.newCorrelationID()),
            refreshToken: refreshToken,
            accessToken: accessToken
        )
    }

    /// Where a browser ends the person's session at the server.
    private func sessionEnd(of account: Account) async -> Result<EndSessionURL, RefreshFailure> {
        let correlationID = Self.newCorrelationID()
        let request = EndSessionRequest(
            client: requestingClient(of: account, correlationID: correlationID),
            // Without it the server asks the person whom to sign out; that is no reason to fail.
            idTokenHint: (try? store.idToken(of: account.id)) ?? nil,
            postLogoutRedirectURI: account.registration.redirect.postLogoutURI
        )
        return await client.endSessionURL(for: request).flatMap { url in
            guard let url else {
                let summary = "the server names no address at which a session ends"
                let detail = FailureDetail(summary: summary, correlationID: correlationID)
                return .failure(RefreshFailure(.misconfigured, detail: detail))
            }
            return .success(url)
        }
    }

    /// Has the server delete the client that was registered for this account alone (RFC 7592 §2.3).
    private func deregister(_ management: RegistrationManagement, of account: Account) async -> SignOutReport.Outcome {
        let asking = requestingClient(of: account, correlationID: Self.newCorrelationID())
        switch await client.deregister(asking.registration.management ?? management, of: asking) {
        case .success: return .done
        case .failure(let failure): return .failed(failure.detail)
        }
    }

    private func eraseTokens(of snapshot: AccountSnapshot) throws(StoreError) -> SignOutReport.Outcome {
        guard let record = try record(of: snapshot.account.id) else { return .notNeeded }
        let isSame =
            record.state.generation == snapshot.state.generation
            || record.state.previous?.generation == snapshot.state.generation
        guard isSame else {
            return .failed(FailureDetail(summary: "the grant changed meanwhile; the new one is kept"))
        }
        try signOut(snapshot.account.id)
        return .done
    }

    private func forget(_ account: AccountID) throws(StoreError) -> SignOutReport.Outcome {
        guard try entry(of: account) != nil else { return .notNeeded }
        try remove(account)
        return .done
    }

    private func record(of account: AccountID) throws(StoreError) -> Record? {
        try entry(of: account)?.record()
    }

    private func outcome(
        of step: () throws(StoreError) -> SignOutReport.Outcome
    ) -> SignOutReport.Outcome {
        do throws(StoreError) {
            return try step()
        } catch {
            return .failed(FailureDetail(summary: error.description))
        }
    }
}

/// What a sign-out is to do beside erasing the tokens.
struct SignOutRequest: Sendable {
    var revokes = false
    var endsSession = false
    /// Whether its client is deregistered, and the account removed, afterwards.
    var forgets = false
}

/// What became of a sign-out.
struct SignOutReport: Sendable {
    /// In the order in which they are done; the raw values are the wire's.
    enum Step: String, Sendable {
        case revoke
        case endSession = "end-session"
        case erase, deregister, remove
    }

    enum Outcome: Sendable {
        case done
        /// There was nothing to do it to.
        case notNeeded
        case failed(FailureDetail)
    }

    struct Result: Sendable {
        let step: Step
        let outcome: Outcome
    }

    private(set) var steps: [Result] = []
    /// Where a browser ends the session; nil if it was not asked for, or there is no such place.
    var sessionEnd: EndSessionURL?

    mutating func note(_ step: Step, _ outcome: Outcome) {
        steps.append(Result(step: step, outcome: outcome))
    }
}
