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
            throw VarlinkError(NoSuchAccountError(account: name))
        }
    }

    /// The account of this name, even if it cannot be read.
    ///
    /// - Throws: `NoSuchAccount`.
    func shownAccount(_ name: String) throws(VarlinkError) -> ShownAccount {
        guard let account = try stored(shownAccount(named: name)) else {
            let nearest = try? nearestAccountName(to: name)
            throw VarlinkError(NoSuchAccountError(account: name, nearest: nearest))
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

    /// Begins a diagnosis. The caller of this method ends it with `diagnosisEnded(of:)`.
    ///
    /// - Returns: the process for which it runs.
    /// - Throws: `LimitExceeded` if too many are under way.
    func beginDiagnosis(for responder: VarlinkResponder) throws(VarlinkError) -> Int32 {
        let process = responder.peer.pid
        guard let crowding = lifecycle.diagnoses.take(for: process) else { return process }
        throw refusal(of: process, .diagnoses, crowding)
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
        case .notNow(let complaint, _): fail(complaint.error)
        case .stopping: hangUp()
        case .removed: fail(VarlinkError(NoSuchAccountError(account: name)))
        case .damaged(let account): fail(VarlinkError(account))
        case .storeFailed(let trouble): fail(VarlinkError(trouble.error))
        case .timedOut:
            let limit = Waiter.timeLimit.components.seconds
            let complaint = Complaint(
                .noTokenNow(of: name),
                "the refresh has taken longer than \(limit) s; the daemon continues it"
            )
            fail(complaint.error)
        }
    }
}

extension Secret {
    /// A secret from a call.
    ///
    /// - Throws: `InvalidSettings` if it is empty, `LimitExceeded` if it is too long.
    convenience init(checked text: String, field: String) throws(VarlinkError) {
        guard !text.isEmpty else { throw Complaint.empty(field: field).error }
        guard text.utf8.count <= CallerLimits.secretBytesMax else {
            throw VarlinkError(LimitExceededError(.secretBytes, maximum: CallerLimits.secretBytesMax))
        }
        self.init(text)
    }
}

extension RefreshToken {
    /// A refresh token from a call.
    ///
    /// - Throws: the errors of `Secret(checked:field:)`; `InvalidSettings` for text of another kind.
    init(checked text: String) throws(VarlinkError) {
        let secret = try Secret(checked: text, field: "refreshToken")
        if let flaw = RefreshTokenText.flaw(in: text) {
            throw Complaint(field: "refreshToken", "it is not a refresh token, but \(flaw.rawValue)").error
        }
        self.init(secret)
    }
}

extension VarlinkError {
    /// The error reply for a failing store.
    init(_ error: StoreError) {
        switch error {
        case .nameTaken(let name): self.init(AccountExistsError(account: name.text))
        // In all these cases the caller can only wait or repair the store; the text says which.
        default: self = Complaint(.storeUnavailable, error.description, hint: error.hint).error
        }
    }
}
