internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import TextEncodings
internal import Varlink

/// The calls for access tokens, and about rejected ones.
extension RefreshCoordinator {
    func acquireToken(_ asked: AcquireToken.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        // A caller that has left while its call waited for its turn wants nothing any more.
        guard responder.isConnected else { return }
        let minimumValidity = asked.minimumValiditySec.map { Duration.seconds($0) }
        let isForced = asked.force ?? false
        let snapshot = try account(asked.account)
        guard snapshot.timeToSourcesSignOut != .zero else { return responder.fail(.noToken(snapshot)) }
        let target = try askedTarget(asked.scopes, asked.resources, asked.audience, claims: asked.claims)
        let hold = try asked.holder.map { holder throws(VarlinkError) in
            let caller = responder.peer.pid
            guard let hold = TokenHold(holder, of: snapshot.account.id, for: target, asked, from: caller) else {
                throw VarlinkError.invalidParameter("holder")
            }
            return hold
        }
        let call = TokenCall(minimumValidity: minimumValidity, isForced: isForced, hold: hold)
        if asked.idToken == true {
            guard target == nil else {
                throw Complaint(
                    field: "idToken",
                    "an ID token cannot be combined with scopes, resources or an audience"
                ).error
            }
            return try acquireIDToken(call, of: snapshot, responder)
        }
        if let target {
            return try acquireToken(call, for: target, of: snapshot, responder)
        }
        let issue = snapshot.state.accessToken?.issuedAt.wall
        let isRefused = tokenHolds.isRefused(call.hold, issue, snapshot.at)
        if !isForced, !isRefused, snapshot.holdsAccessToken(for: minimumValidity) {
            let token = replyWithToken(of: snapshot, to: call, responder)
            if let token { records.noteGiven(token, of: snapshot) }
            return
        }
        let purpose = Waiter.Purpose.token(minimumValidity: minimumValidity, isForced: isForced || isRefused)
        let (id, held) = (snapshot.account.id, snapshot.state.accessToken)
        wait(for: purpose, of: id, after: .demand(.tokenNeeded), holding: held, responder) { coordinator, outcome in
            // If the wait has no result, the account may still be there. Another one may have its name by now.
            guard let after = outcome.snapshot ?? (try? coordinator.account(asked.account)),
                after.account.id == id
            else { return responder.refuse(outcome, asked.account) }
            // A valid token is better than none, unless the caller has said that it does not work.
            let isNew = after.state.accessToken?.issuedAt != snapshot.state.accessToken?.issuedAt
            if after.givesTokens, after.state.holdsAccessToken(for: .zero, at: after.at), isNew || !isForced {
                coordinator.replyWithToken(of: after, to: call, responder)
                return
            }
            responder.refuse(outcome, asked.account)
        }
    }

    func refresh(_ asked: Refresh.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let snapshot = try account(asked.account)
        // A person may have corrected what kept the metadata from being fetched.
        client.forgetFailures(of: snapshot.account.issuer)
        // A plain refresh cancels a pending step-up.
        stepUps.forget(snapshot.account.id)
        // Do not report it as fresh, because no refresh was possible.
        guard !snapshot.lacksRefreshToken else {
            return responder.fail(
                InteractionRequiredError(
                    account: asked.account,
                    reason: InteractionReason.noRefreshToken.rawValue,
                    sinceUSec: snapshot.at.wall.microseconds,
                    hint: snapshot.hint ?? Hint(Command("login", asked.account))
                ).error
            )
        }
        wait(for: snapshot, after: .demand(.refreshRequested), responder) {
            Refresh.Reply(status: $0.wireStatus)
        }
    }

    /// Replies with the account's own token.
    ///
    /// - Returns: the token; nil if there is none, or if it cannot be read.
    @discardableResult
    private func replyWithToken(
        of snapshot: AccountSnapshot,
        to call: TokenCall,
        _ responder: VarlinkResponder
    ) -> AccessToken? {
        do {
            guard let times = snapshot.state.accessToken,
                let token = try records.accessToken(of: snapshot.account.id)
            else {
                responder.fail(.noToken(snapshot))
                return nil
            }
            let end = times.expiresAt(at: snapshot.at)
            responder.reply(
                AcquireToken.Reply(
                    accessToken: token.secret.reveal(),
                    tokenType: token.scheme,
                    expiresAtUSec: end.microseconds,
                    heldUntilUSec: tokenHolds.note(call.hold, times.issuedAt.wall, end, snapshot.at)
                )
            )
            return token
        } catch {
            responder.fail(VarlinkError(error, of: snapshot.account.name.text))
            return nil
        }
    }

    // MARK: Token targets

    /// The target that a call names; nil for the account's default token.
    ///
    /// - Throws: `InvalidSettings` for values that no server could accept.
    func askedTarget(
        _ scopes: [String]?,
        _ resources: [String]?,
        _ audience: String?,
        claims: String?
    ) throws(VarlinkError) -> TokenTarget? {
        guard scopes?.isEmpty == false || resources?.isEmpty == false || audience != nil || claims != nil else {
            return nil
        }
        let target: TokenTarget
        do throws(ValueError) {
            target = try TokenTarget(
                scopes: scopes ?? [],
                resources: resources ?? [],
                audience: audience,
                // What is not JSON is not an object, either.
                claims: claims.map { JSONValue($0)?.compactText ?? "" }
            )
        } catch {
            throw Complaint(error).error
        }
        guard !target.isTooLong else {
            throw LimitExceededError(.tokenSetBytes, maximum: TokenTarget.longestText).error
        }
        return target
    }

    /// Replies with the stored token if it is good enough. Otherwise it waits for one request that all callers of the
    /// target share.
    func acquireToken(
        _ call: TokenCall,
        for target: TokenTarget,
        of snapshot: AccountSnapshot,
        _ responder: VarlinkResponder
    ) throws(VarlinkError) {
        let (id, name) = (snapshot.account.id, snapshot.account.name.text)
        let held = try stored(records.targetRecord(target, of: id))
        let declined = snapshot.account.grantFacts.scope?.declined ?? []
        if !call.isForced, held == nil, let scope = target.scopes.first(where: declined.contains) {
            throw .declined(scope, snapshot)
        }
        let isRefused = tokenHolds.isRefused(call.hold, held?.times.issuedAt.wall, snapshot.at)
        let standing = callers.standingFailure(of: target, for: id, at: snapshot.at)
        if !call.isForced, !isRefused {
            let isGood = held?.times.suffices(for: call.minimumValidity, at: snapshot.at) ?? false
            let isValid = held.map { $0.times.remaining(at: snapshot.at) > .zero } ?? false
            // A valid token is better than repeating why there is no newer one.
            if isGood || isValid && standing != nil,
                try stored(replyWithToken(held, of: snapshot, to: call, responder))
            {
                // Replace the token before it expires, so that its users never wait.
                if isGood, standing == nil, held?.times.isDue(at: snapshot.at) == true,
                    narrowing(by: target, of: snapshot) == .harmless
                {
                    submit(.demand(.targetNeeded(target)), for: id)
                }
                return
            }
            if let (failure, rest) = standing {
                return responder.fail(.tokenSet(failed: failure, name, retryAt: snapshot.at.wall + rest))
            }
        }
        switch narrowing(by: target, of: snapshot) {
        case .harmless: break
        case .harmful: throw .narrowing(to: target.scopes, name)
        case .unknown: return learnRotation(of: snapshot, before: call, for: target, responder)
        }
        guard try stored(hasRoom(for: target, of: id, at: snapshot.at)) else {
            throw LimitExceededError(.tokenSets, maximum: TokenTarget.maximum).error
        }
        let purpose = Waiter.Purpose.token(minimumValidity: call.minimumValidity, isForced: call.isForced || isRefused)
        wait(for: purpose, of: id, after: .demand(.targetNeeded(target)), holding: held?.times, responder) {
            $0.finish(call, for: target, of: snapshot, had: held, $1, responder)
        }
    }

    /// What a request for fewer scopes may do to the account's grant.
    private enum Narrowing {
        case harmless
        /// The server issues a new refresh token with each answer, and it may have only the scopes that were named.
        case harmful
        /// Nothing has shown whether the server does that.
        case unknown
    }

    /// What a request for `target` may do to the account's grant.
    ///
    /// RFC 6749 §6: a new refresh token has the same scope as the one that was sent. Many servers give it the scope of
    /// the request instead.
    private func narrowing(by target: TokenTarget, of snapshot: AccountSnapshot) -> Narrowing {
        let account = snapshot.account
        guard account.registration.serviceGrant == nil, !target.scopes.isEmpty else { return .harmless }
        let client = requestingClient(of: account, correlationID: "")
        let granted = Set(account.grantFacts.scope?.granted ?? client.scopes(nil))
        // The server refuses scopes that the grant does not have, and a refusal changes nothing.
        let isPart = !granted.isSubset(of: target.scopes) && !granted.isDisjoint(with: target.scopes)
        guard granted.isEmpty || isPart else { return .harmless }
        switch client.profile?.narrowedScopes {
        case .kept: return .harmless
        case .lost: return .harmful
        case nil:
            // What the issuer does with one grant, it does with all.
            let isKept = account.grantFacts.scope?.isKept ?? (try? store.keepsScope(account.issuer))
            if isKept == true { return .harmless }
            return snapshot.state.isRotating.map { $0 ? .harmful : .harmless } ?? .unknown
        }
    }

    /// Refreshes the account itself, which shows whether the server issues new refresh tokens, and then serves `call`.
    private func learnRotation(
        of snapshot: AccountSnapshot,
        before call: TokenCall,
        for target: TokenTarget,
        _ responder: VarlinkResponder
    ) {
        let (id, name) = (snapshot.account.id, snapshot.account.name.text)
        wait(for: .attempt, of: id, after: .demand(.refreshRequested), responder) { coordinator, outcome in
            guard case .settled(let after) = outcome, after.state.isRotating != nil else {
                return responder.refuse(outcome, name)
            }
            do throws(VarlinkError) {
                try coordinator.acquireToken(call, for: target, of: after, responder)
            } catch {
                responder.fail(error)
            }
        }
    }

    /// Whether the account has room for the target. Targets count if they have a valid token, or callers who wait for
    /// one.
    private func hasRoom(for target: TokenTarget, of account: AccountID, at now: Moment) throws(StoreError) -> Bool {
        let held = try store.targets.records(of: account).filter { $0.times.remaining(at: now) > .zero }
        return callers.targets(of: account).union(held.map(\.target) + [target]).count
            <= TokenTarget.maximum
    }

    /// Replies with the token after the wait, if it is valid. A forced call accepts only a new token.
    private func finish(
        _ call: TokenCall,
        for target: TokenTarget,
        of account: AccountSnapshot,
        had before: TokenTargetRecord?,
        _ outcome: WaitOutcome,
        _ responder: VarlinkResponder
    ) {
        if case .stopping = outcome { return responder.hangUp() }
        let name = account.account.name.text
        do throws(StoreError) {
            var after = outcome.snapshot
            // If the wait has no result, the account may still be there. Another one may have its name by now.
            if after == nil, case .whole(let now)? = try shownAccount(named: name) {
                after = now
            }
            guard let after, after.account.id == account.account.id else { return responder.refuse(outcome, name) }
            let held = try records.targetRecord(target, of: after.account.id)
            let isNew = held?.times.issuedAt != before?.times.issuedAt
            if isNew || !call.isForced, try replyWithToken(held, of: after, to: call, responder) {
                return
            }
            responder.refuse(outcome, name)
        } catch {
            responder.fail(VarlinkError(error))
        }
    }

    /// Replies with the token of a target; false if there is no valid one.
    private func replyWithToken(
        _ held: TokenTargetRecord?,
        of snapshot: AccountSnapshot,
        to call: TokenCall,
        _ responder: VarlinkResponder
    ) throws(StoreError) -> Bool {
        guard let held, held.times.remaining(at: snapshot.at) > .zero, snapshot.givesTokens,
            let token = try records.accessToken(of: snapshot.account.id, for: held.target)
        else { return false }
        // RFC 6749 §5.1: a server that states no scope has granted the requested one.
        let granted = held.grantedScopes ?? held.target.scopes
        let end = held.times.expiresAt(at: snapshot.at)
        responder.reply(
            AcquireToken.Reply(
                accessToken: token.secret.reveal(),
                tokenType: token.scheme,
                expiresAtUSec: end.microseconds,
                scopes: granted.isEmpty ? nil : granted,
                heldUntilUSec: tokenHolds.note(call.hold, held.times.issuedAt.wall, end, snapshot.at)
            )
        )
        return true
    }

    // MARK: Rejections

    func reportRejected(_ asked: ReportRejected.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let snapshot = try account(asked.account)
        if let field = asked.challenge, let stepUp = try stepUp(field, of: snapshot) {
            guard snapshot.account.registration.serviceGrant == nil else {
                throw Complaint(
                    field: "challenge",
                    "it wants more than the tokens have, and a service account has no person to ask",
                    hint: Hint(Command("account", "edit", snapshot.account.name.text, "--scope", "SCOPE"))
                ).error
            }
            noteStepUp(stepUp, of: snapshot)
            guard stepUp.needsPerson else { return ask(for: snapshot, attempts: 2, responder) }
            return responder.fail(InteractionRequiredError(stepUp, of: snapshot.account.name).error)
        }
        let target = try askedTarget(asked.scopes, asked.resources, asked.audience, claims: asked.claims)
        let isKnown = try asked.accessToken.map { token throws(VarlinkError) in
            try isHeld(token.secret(field: "accessToken"), for: target, of: snapshot)
        }
        guard isKnown != false else {
            return responder.reply(ReportRejected.Reply(status: snapshot.wireStatus, known: false))
        }
        let issuedAt = isKnown == nil ? nil : snapshot.state.accessToken?.issuedAt
        var event = Event.demand(.accessTokenRejected(issuedAt: issuedAt))
        if let target {
            let held = try stored(records.targetRecord(target, of: snapshot.account.id))
            guard isKnown ?? (held?.times.mayBeRejected(at: snapshot.at) == true) else {
                return responder.reply(ReportRejected.Reply(status: snapshot.wireStatus))
            }
            guard narrowing(by: target, of: snapshot) == .harmless else {
                throw .narrowing(to: target.scopes, snapshot.account.name.text)
            }
            event = .demand(.targetRejected(target))
        }
        wait(for: snapshot, after: event, responder) {
            ReportRejected.Reply(status: $0.wireStatus, known: isKnown)
        }
    }

    /// Whether the account has this token now.
    private func isHeld(
        _ token: Secret,
        for target: TokenTarget?,
        of snapshot: AccountSnapshot
    ) throws(VarlinkError) -> Bool {
        let id = snapshot.account.id
        if let target { return try stored(records.accessToken(of: id, for: target))?.secret == token }
        guard snapshot.state.accessToken != nil else { return false }
        return try stored(records.accessToken(of: id))?.secret == token
    }

    /// Makes a refresh request the claims, and replies with the result.
    ///
    /// - Parameter attempts: one more than needed, because a refresh that is already under way does not request the
    ///   claims.
    private func ask(for snapshot: AccountSnapshot, attempts: Int, _ responder: VarlinkResponder) {
        let (id, name) = (snapshot.account.id, snapshot.account.name)
        wait(for: .attempt, of: id, after: .demand(.refreshRequested), responder) { coordinator, outcome in
            guard case .settled(let after) = outcome else { return responder.refuse(outcome, name.text) }
            if coordinator.stepUps.isDemanding(id), case .scheduled = after.state.phase {
                if attempts > 1 { return coordinator.ask(for: after, attempts: attempts - 1, responder) }
                let complaint = TemporarilyUnavailableError(
                    account: name.text,
                    reason: "the server could not be asked for the claims"
                )
                return responder.fail(complaint.error)
            }
            if let stepUp = coordinator.stepUps[id], stepUp.needsPerson {
                return responder.fail(InteractionRequiredError(stepUp, of: name).error)
            }
            responder.reply(ReportRejected.Reply(status: after.wireStatus))
        }
    }

    /// What the value of `field` requires beyond the grant; nil if any new token is enough.
    private func stepUp(_ field: String, of snapshot: AccountSnapshot) throws(VarlinkError) -> StepUp? {
        guard let demand = AuthenticationChallenge.all(in: field).flatMap(TokenDemand.init) else {
            throw Complaint(
                field: "challenge",
                "it is not a challenge for a token that can be understood (RFC 6750, RFC 9470)"
            ).error
        }
        if demand.kind == .nothing {
            throw Complaint(
                field: "challenge",
                "it rejects the request, not the token (\(demand.error ?? "no error"))"
            ).error
        }
        let client = requestingClient(of: snapshot.account, correlationID: "")
        return StepUp(demand, of: client.scopes(nil), since: snapshot.at.wall)
    }
}

extension AcquireToken.Parameters {
    /// Checks what needs no account.
    func check() throws(VarlinkError) {
        guard minimumValiditySec.map(Self.isValid(minimumValiditySec:)) ?? true else {
            throw .invalidParameter("minimumValiditySec")
        }
        // The longest name of a host (RFC 1035 §2.3.4), with a user's name and a port.
        guard host.map({ (1...512).contains($0.utf8.count) }) ?? true else { throw .invalidParameter("host") }
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
            hint: Hint(Command("login", account.text))
        )
    }
}
