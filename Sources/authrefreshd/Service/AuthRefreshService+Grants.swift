internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// The methods about grants and tokens.
extension AuthRefreshService {
    func acquire(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: AcquireToken.Parameters.self)
        let minimumValidity = try asked.minimumValiditySec.map { seconds throws(VarlinkError) in
            guard AcquireToken.Parameters.isValid(minimumValiditySec: seconds) else {
                throw VarlinkError.invalidParameter("minimumValiditySec")
            }
            return Duration.seconds(seconds)
        }
        let isForced = asked.force ?? false
        guard let snapshot = try account(asked.account, for: caller, on: coordinator) else { return }
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

    func refresh(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: Refresh.Parameters.self)
        guard let snapshot = try account(asked.account, for: caller, on: coordinator) else { return }
        // A person may have mended what the metadata could not be had for.
        coordinator.client.forgetFailures(of: snapshot.account.issuer)
        // Who asks for the grant that there is wants no more.
        coordinator.stepUps.forget(snapshot.account.id)
        // To say that it is fresh would be to say that it was asked for.
        guard !snapshot.lacksRefreshToken else {
            return responder.fail(
                VarlinkError(
                    InteractionRequiredError(
                        account: asked.account,
                        reason: InteractionReason.noRefreshToken.rawValue,
                        sinceUSec: snapshot.at.wall.microseconds,
                        hint: snapshot.hint ?? "authctl login \(asked.account)"
                    )
                )
            )
        }
        wait(for: snapshot, after: .refreshRequested, responder, on: coordinator) {
            Refresh.Reply(status: $0.wireStatus)
        }
    }

    func importGrant(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: ImportGrant.Parameters.self)
        let snapshot = try account(asked.account, on: coordinator)
        let text = asked.refreshToken
        try swapGrant(of: snapshot, for: text, by: nil, responder, on: coordinator) {
            ImportGrant.Reply(status: $0.wireStatus)
        }
    }

    /// Replaces the grant of `snapshot`, and changes its settings with it.
    ///
    /// A grant that may still work stays, and so do the settings, until the server has taken the new one; any other is replaced at once.
    func swapGrant<Reply: Encodable & SendableMetatype>(
        of snapshot: AccountSnapshot,
        for text: String,
        by change: SettingsChange?,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator,
        reply: @escaping @Sendable (AccountSnapshot) -> Reply
    ) throws(VarlinkError) {
        let (held, id) = (snapshot.account, snapshot.account.id)
        let changed = change?.applied(to: held) ?? held
        guard held.registration.serviceGrant == nil else { throw VarlinkError.needsNoGrant }
        let grant = try checked(refreshToken: text)
        guard snapshot.state.mayHoldGoodGrant else {
            try stored(coordinator.importGrant(grant, for: id, by: changed == held ? nil : change))
            return responder.reply(reply(try account(held.name.text, on: coordinator)))
        }
        // Sent twice at the same time, it would end itself.
        if try stored(coordinator.records.refreshToken(of: snapshot)) == grant {
            guard changed.refreshes(like: held) else { throw VarlinkError.heldByAnotherClient }
            if let change, changed != held { _ = try stored(coordinator.update(id, by: change)) }
            try stored(coordinator.unpark(id))
            return wait(for: snapshot, after: .refreshRequested, responder, on: coordinator, reply: reply)
        }
        try stored(coordinator.checkStoreIsWritable())
        guard coordinator.beginServerCall() else {
            throw VarlinkError(LimitExceededError(.serverCalls, maximum: CallerLimits.serverCallsMax))
        }
        let proof = GrantProof(grant: grant, account: changed, change: changed == held ? nil : change)
        Task { [coordinator = self.coordinator] in
            do throws(ServerOrStoreError) {
                if let proved = try await proof.run(on: coordinator) {
                    responder.reply(reply(proved))
                } else {
                    responder.fail(VarlinkError(NoSuchAccountError(account: held.name.text)))
                }
            } catch {
                switch error {
                case .server(let failure): responder.fail(VarlinkError(unproved: failure, held.name))
                case .store(let error): responder.fail(VarlinkError(error))
                }
            }
            await coordinator.serverCallEnded()
        }
    }

    /// With `park`, the grant rests here from before it is told: a request that is under way is waited for, because its answer may hold
    /// the refresh token that works elsewhere.
    func exportGrant(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: ExportGrant.Parameters.self)
        guard let snapshot = try account(asked.account, for: caller, on: coordinator) else { return }
        guard asked.park ?? false else { return responder.reply(try export(snapshot, on: coordinator)) }
        guard snapshot.account.registration.serviceGrant == nil, snapshot.state.isRefreshable,
            snapshot.state.phase != .signedOut
        else {
            let reason = "the account holds no refresh token that could be moved"
            throw VarlinkError(InvalidSettingsError(field: "park", reason: reason, hint: "export it without '--move'"))
        }
        let id = snapshot.account.id
        wait(for: .attempt, of: id, after: .parked, responder, on: coordinator) { [coordinator] outcome in
            coordinator.assumeIsolated { coordinator in
                guard case .settled = outcome else { return refuse(outcome, asked.account, responder) }
                do throws(VarlinkError) {
                    try stored(coordinator.park(id))
                    responder.reply(try export(try account(asked.account, on: coordinator), on: coordinator))
                } catch {
                    responder.fail(error)
                }
            }
        }
    }

    private func export(
        _ snapshot: AccountSnapshot,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> ExportGrant.Reply {
        let registration = snapshot.account.registration
        return ExportGrant.Reply(
            settings: AccountSettings(snapshot.account),
            clientSecret: registration.clientSecret?.reveal(),
            clientKey: registration.clientKey?.reveal(),
            dpopKey: registration.dpopKey.flatMap(OAuthClient.text(ofDPoPKey:))?.reveal(),
            refreshToken: try stored(coordinator.records.refreshToken(of: snapshot))?.secret.reveal(),
            registration: registration.management.map {
                ManagedRegistration(uri: $0.uri, accessToken: $0.accessToken.reveal())
            },
            clientSecretExpiresAtUSec: registration.clientSecretExpiresAt?.microseconds
        )
    }

    func resume(_ call: VarlinkCall, _ responder: VarlinkResponder, on coordinator: isolated RefreshCoordinator)
        throws(VarlinkError)
    {
        let asked = try call.decodeParameters(as: ResumeAccount.Parameters.self)
        let snapshot = try account(asked.account, on: coordinator)
        guard snapshot.state.phase == .parked else {
            return responder.reply(ResumeAccount.Reply(status: snapshot.wireStatus))
        }
        try stored(coordinator.unpark(snapshot.account.id))
        wait(for: snapshot, after: .refreshRequested, responder, on: coordinator) {
            ResumeAccount.Reply(status: $0.wireStatus)
        }
    }

    /// Has `event` decided on, and replies with where the account stands when that has settled.
    func wait<Reply: Encodable & SendableMetatype>(
        for snapshot: AccountSnapshot,
        after event: Event,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator,
        reply: @escaping @Sendable (AccountSnapshot) -> Reply
    ) {
        let name = snapshot.account.name.text
        wait(for: .attempt, of: snapshot.account.id, after: event, responder, on: coordinator) { outcome in
            guard case .settled(let after) = outcome else { return refuse(outcome, name, responder) }
            responder.reply(reply(after))
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
                let token = try coordinator.records.accessToken(of: snapshot.account.id)
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

extension VarlinkError {
    /// The account's own grant, brought in again with settings that have not been tried.
    fileprivate static var heldByAnotherClient: VarlinkError {
        VarlinkError(
            InvalidSettingsError(
                field: "refreshToken",
                reason: "the account holds this grant already, for another server or client than these settings name",
                hint: "change the settings by themselves, with 'authctl account edit'"
            )
        )
    }

    /// Why a grant from outside did not take the place of the one that the account has.
    fileprivate init(unproved failure: RefreshFailure, _ name: AccountName) {
        let kind: String
        switch failure.failureClass {
        case .grantEnded, .userRequired, .rejected, .refusedByGateway: kind = "refused"
        case .unreachable, .unavailable, .unanswered: kind = "unavailable"
        case .misconfigured, .untrusted: kind = "misconfigured"
        }
        self.init(
            GrantNotImportedError(
                account: name.text,
                kind: kind,
                reason: failure.detail.summary,
                failure: AuthRefreshInterface.Failure(failure.detail),
                hint: kind == "unavailable" ? "import it again later" : "authctl login \(name)"
            )
        )
    }
}
