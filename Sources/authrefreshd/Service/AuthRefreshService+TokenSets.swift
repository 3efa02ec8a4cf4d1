internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// What a caller asks of a token set.
struct TokenSetCall: Sendable {
    let set: TokenSet
    /// Nil: enough for the request it is for.
    let minimumValidity: Duration?
    /// Whether it must have been issued after the call.
    let isForced: Bool
}

/// Tokens of sets.
extension AuthRefreshService {
    /// The set that a call names; nil if it names none, and so means the account's default token.
    ///
    /// - Throws: `InvalidSettings` for what no server could take.
    func tokenSet(_ scopes: [String]?, _ resources: [String]?, _ audience: String?) throws(VarlinkError) -> TokenSet? {
        guard scopes?.isEmpty == false || resources?.isEmpty == false || audience != nil else { return nil }
        do {
            return try TokenSet(scopes: scopes ?? [], resources: resources ?? [], audience: audience)
        } catch {
            throw VarlinkError(error)
        }
    }

    /// Answers from the stored token if it is good enough, else waits for one request that all callers of the set share.
    func acquire(
        _ call: TokenSetCall,
        of snapshot: AccountSnapshot,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let (id, name) = (snapshot.account.id, snapshot.account.name.text)
        let held = try stored(coordinator.records.tokenSet(call.set, of: id))
        let standing = coordinator.callers.standingFailure(of: call.set, for: id, at: snapshot.at)
        if !call.isForced {
            let isGood = held?.times.suffices(for: call.minimumValidity, at: snapshot.at) ?? false
            let isValid = held.map { $0.times.remaining(at: snapshot.at) > .zero } ?? false
            // A token that is valid is better than being told again why there is no newer one.
            if isGood || isValid && standing != nil,
                try stored(hand(over: held, of: snapshot, responder, on: coordinator))
            {
                // Replaced while it is still good, so that those who use it never wait.
                if isGood, standing == nil, held?.times.isDue(at: snapshot.at) == true {
                    coordinator.submit(.tokenSetNeeded(call.set), for: id)
                }
                return
            }
            if let (failure, rest) = standing {
                return responder.fail(.tokenSet(failed: failure, name, retryAt: snapshot.at.wall + rest))
            }
        }
        guard try stored(coordinator.hasRoom(for: call.set, of: id, at: snapshot.at)) else {
            throw VarlinkError(LimitExceededError(.tokenSets, maximum: TokenSet.maximum))
        }
        let purpose = Waiter.Purpose.token(minimumValidity: call.minimumValidity, isForced: call.isForced)
        wait(for: purpose, of: id, after: .tokenSetNeeded(call.set), holding: held?.times, responder, on: coordinator) {
            [coordinator] outcome in
            coordinator.assumeIsolated { coordinator in
                finish(call, of: name, had: held, outcome, responder, on: coordinator)
            }
        }
    }

    /// Hands over what is held after the wait, if it is valid; a forced call is content only with a token that was not there before.
    private func finish(
        _ call: TokenSetCall,
        of name: String,
        had before: TokenSetRecord?,
        _ outcome: WaitOutcome,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator
    ) {
        if case .stopping = outcome { return responder.hangUp() }
        do throws(StoreError) {
            var after = outcome.snapshot
            // Without an outcome, it still stands somewhere, if it stands at all.
            if after == nil, case .whole(let now)? = try coordinator.account(named: name) { after = now }
            guard let after else { return refuse(outcome, name, responder) }
            let held = try coordinator.records.tokenSet(call.set, of: after.account.id)
            let isNew = held?.times.issuedAt != before?.times.issuedAt
            if isNew || !call.isForced, try hand(over: held, of: after, responder, on: coordinator) { return }
            refuse(outcome, name, responder)
        } catch {
            responder.fail(VarlinkError(error))
        }
    }

    /// Replies with the token of a set; false if there is none that is valid.
    private func hand(
        over held: TokenSetRecord?,
        of snapshot: AccountSnapshot,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator
    ) throws(StoreError) -> Bool {
        guard let held, held.times.remaining(at: snapshot.at) > .zero,
            let token = try coordinator.records.accessToken(of: snapshot.account.id, for: held.set)
        else { return false }
        // RFC 6749 §5.1: a server that does not say what it granted has granted what was asked for.
        let granted = held.grantedScopes ?? held.set.scopes
        responder.reply(
            AcquireToken.Reply(
                accessToken: token.secret.reveal(),
                tokenType: token.scheme,
                expiresAtUSec: held.times.expiresAt(at: snapshot.at).microseconds,
                scopes: granted.isEmpty ? nil : granted
            )
        )
        return true
    }
}

extension TokenSetStatus {
    init(_ record: TokenSetRecord, at now: Moment) {
        self.init(
            scopes: record.set.scopes.isEmpty ? nil : record.set.scopes,
            resources: record.set.resources.isEmpty ? nil : record.set.resources,
            audience: record.set.audience,
            expiresAtUSec: record.times.expiresAt(at: now).microseconds
        )
    }
}

extension VarlinkError {
    /// What is wrong with a set, in the words of the call.
    fileprivate init(_ error: TokenSetError) {
        switch error {
        case .empty: self.init(InvalidSettingsError(field: "scopes", reason: "nothing is asked for"))
        case .scope(let text):
            let reason = "'\(text)' is no scope token"
            let hint = "visible ASCII without spaces, quotes and backslashes (RFC 6749 section 3.3)"
            self.init(InvalidSettingsError(field: "scopes", reason: reason, hint: hint))
        case .resource(let text):
            let reason = "'\(text)' is no absolute URI without a fragment"
            self.init(InvalidSettingsError(field: "resources", reason: reason, hint: "RFC 8707 section 2"))
        case .audience:
            self.init(InvalidSettingsError(field: "audience", reason: "it is empty, or not plain ASCII text"))
        case .tooLong: self.init(LimitExceededError(.tokenSetBytes, maximum: TokenSet.longestText))
        }
    }
}

extension VarlinkError {
    /// Why there is no token of a set, and what helps.
    ///
    /// - Parameter retryAt: when the server may be asked again.
    static func tokenSet(failed failure: RefreshFailure, _ name: String, retryAt: Timestamp) -> VarlinkError {
        let detail = Failure(failure.detail)
        switch failure.failureClass {
        case .unreachable, .unanswered, .unavailable:
            return VarlinkError(
                TemporarilyUnavailableError(
                    account: name,
                    retryAtUSec: retryAt.microseconds,
                    reason: detail.summary,
                    failure: detail
                )
            )
        case .misconfigured, .untrusted, .rejected, .refusedByGateway, .grantEnded:
            return refused(name, detail, isForUser: false, "'authctl account show \(name)' shows what its grant covers")
        case .userRequired:
            return refused(
                name,
                detail,
                isForUser: true,
                "sign in with the account's scopes and these: authctl login \(name) --scope SCOPE --scope SCOPE"
            )
        }
    }

    private static func refused(_ name: String, _ failure: Failure, isForUser: Bool, _ hint: String) -> VarlinkError {
        VarlinkError(
            TokenSetRefusedError(
                account: name,
                userRequired: isForUser,
                reason: failure.summary,
                failure: failure,
                hint: hint
            )
        )
    }
}

extension VarlinkError {
    /// Why an account has no access token to give, and what helps.
    static func noToken(_ snapshot: AccountSnapshot) -> VarlinkError {
        let name = snapshot.account.name.text
        let hint = snapshot.hint ?? "authctl status \(name)"
        switch snapshot.state.phase {
        case .signedOut:
            return VarlinkError(SignedOutError(account: name, hint: hint))
        case .parked:
            return VarlinkError(AccountParkedError(account: name, hint: hint))
        case .interactionRequired(let interaction):
            return VarlinkError(interactionRequired(interaction, name, hint))
        case .backingOff(let backOff) where snapshot.shown == .misconfigured:
            let failure = Failure(backOff.failure.detail)
            return VarlinkError(
                MisconfiguredError(account: name, reason: failure.summary, failure: failure, hint: hint)
            )
        case .backingOff(let backOff):
            return unavailable(
                name,
                backOff.failure.detail.summary,
                Failure(backOff.failure.detail),
                snapshot.state.deadline
            )
        case .scheduled where !snapshot.state.isRefreshable:
            // It was asked for a newer one than the one that is held.
            return VarlinkError(
                InteractionRequiredError(
                    account: name,
                    reason: InteractionReason.noRefreshToken.rawValue,
                    sinceUSec: snapshot.at.wall.microseconds,
                    hint: "authctl login \(name)"
                )
            )
        case .scheduled, .refreshing:
            return unavailable(name, "a refresh is due, and waits for its turn", nil, snapshot.state.deadline)
        }
    }

    private static func unavailable(_ name: String, _ reason: String, _ failure: Failure?, _ retryAt: Timestamp?)
        -> VarlinkError
    {
        VarlinkError(
            TemporarilyUnavailableError(
                account: name,
                retryAtUSec: retryAt?.microseconds,
                reason: reason,
                failure: failure
            )
        )
    }

    private static func interactionRequired(
        _ interaction: InteractionRequired,
        _ name: String,
        _ hint: String
    ) -> InteractionRequiredError {
        let detail = interaction.failure.detail
        return InteractionRequiredError(
            account: name,
            reason: interaction.reason.rawValue,
            oauthError: detail.oauthError,
            oauthErrorDescription: detail.oauthErrorDescription,
            subError: detail.subError,
            providerCode: detail.providerCode,
            correlationId: detail.correlationID,
            sinceUSec: interaction.since.microseconds,
            hint: hint
        )
    }
}

/// Proofs for tokens that are bound to a key (RFC 9449).
extension AuthRefreshService {
    func provePossession(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: ProvePossession.Parameters.self)
        guard let snapshot = try account(asked.account, for: caller, on: coordinator) else { return }
        guard let key = snapshot.account.registration.dpopKey else {
            let hint = "'authctl account add --dpop' makes an account whose tokens are"
            throw VarlinkError(
                InvalidSettingsError(field: "dpop", reason: "its tokens are bound to no key", hint: hint)
            )
        }
        guard PossessionRequest.isMethod(asked.method) else { throw VarlinkError.invalidParameter("method") }
        guard let url = Endpoint(asked.url) else {
            throw VarlinkError(
                InvalidSettingsError(field: "url", reason: "it is no https URL that a request could be sent to")
            )
        }
        if let nonce = asked.nonce, !PossessionRequest.isNonce(nonce) { throw VarlinkError.invalidParameter("nonce") }
        let request = PossessionRequest(
            method: asked.method,
            url: url,
            accessToken: try asked.accessToken.map { token throws(VarlinkError) in
                try checked(secret: token, field: "accessToken")
            },
            nonce: asked.nonce
        )
        // Servers that look at the time look at theirs, and resource servers keep the authorization server's.
        guard let proof = request.proof(by: key, now: snapshot.at.wall + (snapshot.clockSkew ?? .zero)) else {
            let reason = "the key cannot be used"
            throw VarlinkError(InvalidSettingsError(field: "dpop", reason: reason, hint: "authctl store check"))
        }
        responder.reply(ProvePossession.Reply(proof: proof))
    }
}

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
            let held = try stored(coordinator.records.tokenSet(set, of: snapshot.account.id))
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
