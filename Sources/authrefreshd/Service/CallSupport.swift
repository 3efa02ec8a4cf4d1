internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import Dispatch
internal import OAuthClient
internal import RefreshCore
internal import Varlink

// What all calls need: finding an account, using the store, and waiting for a refresh.

extension RefreshCoordinator {
    /// Uses the store for a call.
    ///
    /// - Throws: the error reply for a failing store.
    func stored<Value>(_ work: @autoclosure () throws(StoreError) -> Value) throws(VarlinkError) -> Value {
        do throws(StoreError) {
            return try work()
        } catch {
            throw VarlinkError(error)
        }
    }

    /// The account of this name.
    ///
    /// - Throws: `NoSuchAccount`, also for text that is not a valid name; `Misconfigured` if it cannot be read.
    func account(_ name: String) throws(VarlinkError) -> AccountSnapshot {
        switch try shownAccount(name) {
        case .whole(let snapshot): return snapshot
        case .damaged(let account): throw VarlinkError(account)
        }
    }

    /// Refuses a call that is for another account than the one that has the name now.
    ///
    /// - Parameter id: the account's identifier; nil for any account.
    /// - Throws: `NoSuchAccount`.
    func checkAccount(_ name: String, hasID id: String?) throws(VarlinkError) {
        guard let id else { return }
        guard try stored(shownAccount(named: name))?.id.description == id else {
            throw NoSuchAccountError(account: name).error
        }
    }

    /// The account of this name, even if it cannot be read.
    ///
    /// - Throws: `NoSuchAccount`.
    func shownAccount(_ name: String) throws(VarlinkError) -> ShownAccount {
        guard let account = try stored(shownAccount(named: name)) else {
            let nearest = try? nearestAccountName(to: name)
            throw NoSuchAccountError(account: name, nearest: nearest).error
        }
        return account
    }

    /// Submits `event`, and replies with the account's state when the result is known.
    func wait<Reply: Encodable & SendableMetatype>(
        for snapshot: AccountSnapshot,
        after event: Event,
        _ responder: VarlinkResponder,
        reply: @escaping @Sendable (AccountSnapshot) -> Reply
    ) {
        let name = snapshot.account.name.text
        wait(for: .attempt, of: snapshot.account.id, after: event, responder) { _, outcome in
            guard case .settled(let after) = outcome else { return responder.refuse(outcome, name) }
            responder.reply(reply(after))
        }
    }

    /// Waits as long as the caller does.
    ///
    /// - Parameter accessToken: what the caller gets if the wait fails; nil if there is nothing.
    func wait(
        for purpose: Waiter.Purpose,
        of account: AccountID,
        after event: Event,
        holding accessToken: AccessTokenTimes? = nil,
        _ responder: VarlinkResponder,
        answer: @escaping @Sendable (isolated RefreshCoordinator, WaitOutcome) -> Void
    ) {
        let number = wait(for: purpose, of: account, after: event, holding: accessToken) { outcome in
            self.assumeIsolated { answer($0, outcome) }
        }
        responder.onDisconnect { self.later { $0.callers.forget(number, of: account) } }
    }

    /// Runs `work` in parallel with later calls. It waits for a server, and continues if its caller leaves.
    ///
    /// - Throws: `LimitExceeded` if too many such calls are under way.
    func beginServerCall(
        for responder: VarlinkResponder,
        _ work: @escaping @Sendable (isolated RefreshCoordinator) async -> Void
    ) throws(VarlinkError) {
        let process = responder.peer.pid
        guard let crowding = beginServerCall(of: process, work) else { return }
        throw refusal(of: process, .serverCalls, crowding)
    }

    /// Asks servers, in parallel with later calls, until the caller leaves.
    ///
    /// - Throws: `LimitExceeded` if too many such calls are under way.
    func ask<Reply: Encodable & Sendable>(
        for responder: VarlinkResponder,
        _ work: @escaping @Sendable () async throws(VarlinkError) -> Reply
    ) throws(VarlinkError) {
        let process = responder.peer.pid
        if let crowding = lifecycle.diagnoses.take(for: process) { throw refusal(of: process, .diagnoses, crowding) }
        let task = Task { @concurrent in
            let answer: Result<Reply, VarlinkError>
            do throws(VarlinkError) {
                answer = .success(try await work())
            } catch {
                answer = .failure(error)
            }
            await diagnosisEnded(of: process)
            switch answer {
            case .success(let reply): responder.reply(reply)
            case .failure(let error): responder.fail(error)
            }
        }
        responder.onDisconnect { task.cancel() }
    }
}

extension VarlinkResponder {
    /// Tells the caller why its wait for the account `name` brought nothing.
    func refuse(_ outcome: WaitOutcome, _ name: String) {
        switch outcome {
        case .settled(let snapshot): fail(.noToken(snapshot))
        case .targetFailed(let failure, let snapshot):
            let wait = BackOffRule.targetRefusal(after: failure)
            fail(.tokenSet(failed: failure, name, retryAt: snapshot.at.wall + wait))
        case .notNow(let error, _): fail(error.error)
        case .stopping: hangUp()
        case .removed: fail(NoSuchAccountError(account: name).error)
        case .damaged(let account): fail(VarlinkError(account))
        case .storeFailed(let trouble): fail(VarlinkError(trouble.error))
        case .timedOut:
            let limit = Waiter.timeLimit.components.seconds
            let error = TemporarilyUnavailableError(
                account: name,
                reason: "the refresh has taken longer than \(limit) s; the daemon continues it"
            )
            fail(error.error)
        }
    }
}

/// Texts of a call.
extension String {
    /// - Throws: `InvalidSettings` if it is empty, `LimitExceeded` if it is too long.
    func secret(field: String) throws(VarlinkError) -> Secret {
        guard !isEmpty else { throw Complaint.empty(field: field).error }
        try Limit.secretBytes.check(utf8.count, atMost: CallerLimits.secretBytesMax)
        return Secret(self)
    }

    /// - Throws: as `secret`; `InvalidSettings` for text of another kind.
    func refreshToken() throws(VarlinkError) -> RefreshToken {
        let secret = try secret(field: "refreshToken")
        if let flaw = flawAsRefreshToken {
            throw Complaint(field: "refreshToken", "it is not a refresh token, but \(flaw)").error
        }
        return RefreshToken(secret)
    }
}

extension VarlinkError {
    /// The error reply for a failing store.
    init(_ error: StoreError) {
        switch error {
        case .nameTaken(let name): self = AccountExistsError(account: name.text).error
        // In all these cases the caller can only wait or repair the store; the text says which.
        default:
            let hint = error.hint ?? Hint(Command("status"))
            self = StoreUnavailableError(reason: error.description, hint: hint).error
        }
    }
}
