internal import AccountStorage
internal import AuthRefreshInterface
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
        let held = try stored(coordinator.tokenSet(call.set, of: id))
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
            let held = try coordinator.tokenSet(call.set, of: after.account.id)
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
            let token = try coordinator.accessToken(of: snapshot.account.id, for: held.set)
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
