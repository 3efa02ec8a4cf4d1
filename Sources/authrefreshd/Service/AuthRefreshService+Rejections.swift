internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// Tokens that a resource server did not take.
extension AuthRefreshService {
    func reportRejected(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: ReportRejected.Parameters.self)
        guard let snapshot = try account(asked.account, for: caller, on: coordinator) else { return }
        if let field = asked.challenge, let stepUp = try stepUp(field, of: snapshot, on: coordinator) {
            guard snapshot.account.registration.serviceGrant == nil else {
                throw VarlinkError.wantsMore(than: snapshot.account.name)
            }
            coordinator.note(stepUp, of: snapshot)
            guard stepUp.needsPerson else { return ask(for: snapshot, attempts: 2, responder, on: coordinator) }
            return responder.fail(VarlinkError(InteractionRequiredError(stepUp, of: snapshot.account.name)))
        }
        var event = Event.accessTokenRejected
        if let set = try tokenSet(asked.scopes, asked.resources, asked.audience) {
            let held = try stored(coordinator.tokenSet(set, of: snapshot.account.id))
            guard held?.times.mayBeRejected(at: snapshot.at) == true else {
                return responder.reply(ReportRejected.Reply(status: snapshot.wireStatus))
            }
            event = .tokenSetRejected(set)
        }
        wait(for: snapshot, after: event, responder, on: coordinator) {
            ReportRejected.Reply(status: $0.wireStatus)
        }
    }

    /// Has a refresh ask for what is demanded, and replies with what came of it.
    ///
    /// - Parameter attempts: one more than are needed, for a refresh that was under way already asks for nothing.
    private func ask(
        for snapshot: AccountSnapshot,
        attempts: Int,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator
    ) {
        let (id, name) = (snapshot.account.id, snapshot.account.name)
        wait(for: .attempt, of: id, after: .refreshRequested, responder, on: coordinator) { [coordinator] outcome in
            coordinator.assumeIsolated { coordinator in
                guard case .settled(let after) = outcome else { return refuse(outcome, name.text, responder) }
                if coordinator.stepUps.isDemanding(id), case .scheduled = after.state.phase {
                    if attempts > 1 { return ask(for: after, attempts: attempts - 1, responder, on: coordinator) }
                    let reason = "the server could not be asked for the claims"
                    return responder.fail(VarlinkError(TemporarilyUnavailableError(account: name.text, reason: reason)))
                }
                if let stepUp = coordinator.stepUps[id], stepUp.needsPerson {
                    return responder.fail(VarlinkError(InteractionRequiredError(stepUp, of: name)))
                }
                responder.reply(ReportRejected.Reply(status: after.wireStatus))
            }
        }
    }

    /// What `field` wants beyond the grant; nil if another token will do.
    private func stepUp(
        _ field: String,
        of snapshot: AccountSnapshot,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> StepUp? {
        guard let demand = AuthenticationChallenge.all(in: field).flatMap(TokenDemand.init) else {
            throw .challenge("it is no challenge for a token (RFC 6750, RFC 9470) that can be understood")
        }
        if demand.kind == .nothing {
            throw .challenge("it finds fault with the request, not with the token (\(demand.error ?? "no error"))")
        }
        let client = coordinator.requestingClient(of: snapshot.account, correlationID: "")
        return StepUp(demand, of: client.scopes(nil), since: snapshot.at.wall)
    }
}

extension VarlinkError {
    fileprivate static func challenge(_ reason: String) -> VarlinkError {
        VarlinkError(InvalidSettingsError(field: "challenge", reason: reason))
    }
}

extension InteractionRequiredError {
    fileprivate init(_ stepUp: StepUp, of account: AccountName) {
        self.init(
            account: account.text,
            reason: StepUp.reason,
            oauthError: stepUp.error,
            oauthErrorDescription: stepUp.description,
            sinceUSec: stepUp.since.microseconds,
            hint: "authctl login \(account)"
        )
    }
}
