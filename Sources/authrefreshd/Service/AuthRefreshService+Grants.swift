internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import RefreshCore
internal import Varlink

/// The methods about grants and tokens.
extension AuthRefreshService {
    func acquire(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws {
        let asked = try call.decodeParameters(as: AcquireToken.Parameters.self)
        let minimumValidity = try asked.minimumValiditySec.map { seconds throws(VarlinkError) in
            guard AcquireToken.Parameters.isValid(minimumValiditySec: seconds) else {
                throw VarlinkError.invalidParameter("minimumValiditySec")
            }
            return Duration.seconds(seconds)
        }
        let isForced = asked.force ?? false
        let snapshot = try account(asked.account, for: caller, on: coordinator)
        if let set = try tokenSet(asked.scopes, asked.resources, asked.audience) {
            let call = TokenSetCall(set: set, minimumValidity: minimumValidity, isForced: isForced)
            return try acquire(call, of: snapshot, responder, on: coordinator)
        }
        if !isForced, snapshot.holdsAccessToken(for: minimumValidity) {
            return hand(over: snapshot, responder, on: coordinator)
        }
        let purpose = Waiter.Purpose.token(minimumValidity: minimumValidity, isForced: isForced)
        let (id, held) = (snapshot.account.id, snapshot.state.accessToken)
        wait(for: purpose, of: id, after: .tokenNeeded, holding: held, responder, on: coordinator) {
            [coordinator] outcome in
            coordinator.assumeIsolated { coordinator in
                // Without an outcome, it still stands somewhere, if it stands at all.
                guard let after = outcome.snapshot ?? (try? account(asked.account, on: coordinator)) else {
                    return refuse(outcome, asked.account, responder)
                }
                // A token that is still valid is better than none, unless the caller has said that it is not.
                let isNew = after.state.accessToken?.issuedAt != snapshot.state.accessToken?.issuedAt
                if after.state.holdsAccessToken(for: .zero, at: after.at), isNew || !isForced {
                    return hand(over: after, responder, on: coordinator)
                }
                refuse(outcome, asked.account, responder)
            }
        }
    }

    func refresh(_ call: VarlinkCall, _ responder: VarlinkResponder, on coordinator: isolated RefreshCoordinator) throws
    {
        let asked = try call.decodeParameters(as: Refresh.Parameters.self)
        let snapshot = try account(asked.account, on: coordinator)
        // Who asks for the grant that there is wants no more. Those who may not have the token do not decide about it.
        if snapshot.account.allowedCallers == nil { coordinator.stepUps[snapshot.account.id] = nil }
        wait(for: snapshot, after: .refreshRequested, responder, on: coordinator) {
            Refresh.Reply(status: $0)
        }
    }

    func importGrant(_ call: VarlinkCall, on coordinator: isolated RefreshCoordinator) throws -> ImportGrant.Reply {
        let asked = try call.decodeParameters(as: ImportGrant.Parameters.self)
        let snapshot = try account(asked.account, on: coordinator)
        guard snapshot.account.registration.serviceGrant == nil else { throw VarlinkError.needsNoGrant }
        let grant = RefreshToken(try checked(secret: asked.refreshToken, field: "refreshToken"))
        try coordinator.importGrant(grant, for: snapshot.account.id)
        return ImportGrant.Reply(status: try account(asked.account, on: coordinator).wireStatus)
    }

    func exportGrant(
        _ call: VarlinkCall,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws -> ExportGrant.Reply {
        let asked = try call.decodeParameters(as: ExportGrant.Parameters.self)
        let snapshot = try account(asked.account, for: caller, on: coordinator)
        return ExportGrant.Reply(
            settings: AccountSettings(snapshot.account),
            clientSecret: snapshot.account.registration.clientSecret?.reveal(),
            clientKey: snapshot.account.registration.clientKey?.reveal(),
            refreshToken: try coordinator.refreshToken(of: snapshot)?.secret.reveal(),
            registration: snapshot.account.registration.management.map {
                ManagedRegistration(uri: $0.uri, accessToken: $0.accessToken.reveal())
            },
            clientSecretExpiresAtUSec: snapshot.account.registration.clientSecretExpiresAt?.microseconds
        )
    }

    /// Has `event` decided on, and replies with where the account stands when that has settled.
    func wait<Reply: Encodable & SendableMetatype>(
        for snapshot: AccountSnapshot,
        after event: Event,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator,
        reply: @escaping @Sendable (AccountStatus) -> Reply
    ) {
        let name = snapshot.account.name.text
        wait(for: .attempt, of: snapshot.account.id, after: event, responder, on: coordinator) { outcome in
            guard case .settled(let after) = outcome else { return refuse(outcome, name, responder) }
            responder.reply(reply(after.wireStatus))
        }
    }

    /// Waits for as long as the caller does.
    ///
    /// - Parameter accessToken: what the caller gets if it has waited in vain; nil if there is nothing.
    func wait(
        for purpose: Waiter.Purpose,
        of account: AccountID,
        after event: Event,
        holding accessToken: AccessTokenTimes? = nil,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator,
        answer: @escaping @Sendable (WaitOutcome) -> Void
    ) {
        let number = coordinator.wait(for: purpose, of: account, after: event, holding: accessToken, answer: answer)
        responder.onDisconnect { [coordinator] in
            coordinator.queue.async {
                coordinator.assumeIsolated { $0.forgetWaiter(number, of: account) }
            }
        }
    }

    private func hand(
        over snapshot: AccountSnapshot,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator
    ) {
        do {
            guard let times = snapshot.state.accessToken,
                let token = try coordinator.accessToken(of: snapshot.account.id)
            else {
                return responder.fail(.noToken(snapshot))
            }
            responder.reply(
                AcquireToken.Reply(
                    accessToken: token.secret.reveal(),
                    tokenType: token.scheme,
                    expiresAtUSec: times.expiresAt(at: snapshot.at).microseconds
                )
            )
        } catch {
            responder.fail(VarlinkError(error, of: snapshot.account.name.text))
        }
    }

    func refuse(_ outcome: WaitOutcome, _ name: String, _ responder: VarlinkResponder) {
        switch outcome {
        case .settled(let snapshot): responder.fail(.noToken(snapshot))
        case .tokenSetFailed(let failure, let snapshot):
            let wait = BackOffRule.tokenSet(after: failure)
            responder.fail(.tokenSet(failed: failure, name, retryAt: snapshot.at.wall + wait))
        case .notNow(let reason, _):
            responder.fail(VarlinkError(TemporarilyUnavailableError(account: name, reason: reason)))
        case .stopping: responder.hangUp()
        case .removed: responder.fail(VarlinkError(NoSuchAccountError(account: name)))
        case .damaged(let account): responder.fail(VarlinkError(account))
        case .storeFailed(let trouble): responder.fail(VarlinkError(trouble.error))
        case .timedOut:
            let seconds = Waiter.timeLimit.components.seconds
            let reason = "the refresh has taken longer than \(seconds) s, and goes on"
            responder.fail(VarlinkError(TemporarilyUnavailableError(account: name, reason: reason)))
        }
    }
}
