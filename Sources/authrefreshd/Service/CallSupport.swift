internal import AccountStorage
internal import AuthRefreshInterface
internal import CommandLineProgram
internal import Dispatch
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// The calls of one duty. All duties find accounts, use the store, admit callers and wait for refreshes in the same
/// way.
protocol CallSupport: Sendable {
    var coordinator: RefreshCoordinator { get }
}

extension CallSupport {
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
    func account(_ name: String, on coordinator: isolated RefreshCoordinator) throws(VarlinkError) -> AccountSnapshot {
        switch try shownAccount(name, on: coordinator) {
        case .whole(let snapshot): return snapshot
        case .damaged(let account): throw VarlinkError(account)
        }
    }

    /// The account of this name, for a caller that will get its secrets.
    ///
    /// The list of allowed callers is checked before anything else: a caller that is not allowed must not learn the
    /// account's state from the error.
    ///
    /// - Parameter request: what the caller wants; nil if it gets no secret and does not say where one is sent, so that
    ///   the user is not asked.
    /// - Returns: nil if something about the caller has to be found out first.
    /// - Throws: `PermissionDenied`; the errors of `account(_:on:)`.
    func account(
        _ name: String,
        for caller: Caller,
        wanting request: ConfirmationQuestion.Request?,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> AccountSnapshot? {
        if let (account, allowed) = try stored(coordinator.store.allowedCallers(named: name)) {
            guard try admit(caller, to: account, by: allowed, wanting: request, on: coordinator) else { return nil }
        }
        return try account(name, on: coordinator)
    }

    /// Refuses a call that is for another account than the one that has the name now.
    ///
    /// - Parameter id: the account's identifier; nil for any account.
    /// - Throws: `NoSuchAccount`.
    func check(
        _ name: String,
        hasID id: String?,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        guard let id else { return }
        guard try stored(AccountListing.account(named: name, on: coordinator))?.id.description == id else {
            throw VarlinkError(NoSuchAccountError(account: name))
        }
    }

    /// The account of this name, even if it cannot be read.
    ///
    /// - Throws: `NoSuchAccount`.
    func shownAccount(_ name: String, on coordinator: isolated RefreshCoordinator) throws(VarlinkError) -> ShownAccount
    {
        guard let account = try stored(AccountListing.account(named: name, on: coordinator)) else {
            let nearest = try? AccountListing.nearest(to: name, on: coordinator)
            throw VarlinkError(NoSuchAccountError(account: name, nearest: nearest))
        }
        return account
    }

    /// Checks a secret.
    ///
    /// - Throws: `InvalidSettings` if it is empty, `LimitExceeded` if it is too long.
    func checked(secret: String, field: String) throws(VarlinkError) -> Secret {
        guard !secret.isEmpty else {
            throw Complaint.empty(field: field).error
        }
        guard secret.utf8.count <= CallerLimits.secretBytesMax else {
            throw VarlinkError(LimitExceededError(.secretBytes, maximum: CallerLimits.secretBytesMax))
        }
        return Secret(secret)
    }

    /// Checks a refresh token.
    ///
    /// - Throws: the errors of `checked(secret:field:)`; `InvalidSettings` for text of another kind.
    func checked(refreshToken text: String) throws(VarlinkError) -> RefreshToken {
        let secret = try checked(secret: text, field: "refreshToken")
        if let flaw = RefreshTokenText.flaw(in: text) {
            throw Complaint(field: "refreshToken", "it is not a refresh token, but \(flaw.rawValue)").error
        }
        return RefreshToken(secret)
    }

    /// Submits `event`, and replies with the account's state when the result is known.
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

    /// Waits as long as the caller does.
    ///
    /// - Parameter accessToken: what the caller gets if the wait fails; nil if there is nothing.
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
                coordinator.assumeIsolated { $0.callers.forget(number, of: account) }
            }
        }
    }

    func refuse(_ outcome: WaitOutcome, _ name: String, _ responder: VarlinkResponder) {
        switch outcome {
        case .settled(let snapshot): responder.fail(.noToken(snapshot))
        case .targetFailed(let failure, let snapshot):
            let wait = BackOffRule.targetRefusal(after: failure)
            responder.fail(.tokenSet(failed: failure, name, retryAt: snapshot.at.wall + wait))
        case .notNow(let complaint, _): responder.fail(complaint.error)
        case .stopping: responder.hangUp()
        case .removed: responder.fail(VarlinkError(NoSuchAccountError(account: name)))
        case .damaged(let account): responder.fail(VarlinkError(account))
        case .storeFailed(let trouble): responder.fail(VarlinkError(trouble.error))
        case .timedOut:
            let limit = Waiter.timeLimit.components.seconds
            let complaint = Complaint(
                .noTokenNow(of: name),
                "the refresh has taken longer than \(limit) s; the daemon continues it"
            )
            responder.fail(complaint.error)
        }
    }

    /// Runs `work` in parallel with later calls. It waits for a server, and continues if its caller leaves.
    ///
    /// - Throws: `LimitExceeded` if too many such calls are under way.
    func beginServerCall(
        for responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator,
        _ work: @escaping @Sendable (isolated RefreshCoordinator) async -> Void
    ) throws(VarlinkError) {
        let process = responder.peer.pid
        guard let crowding = coordinator.beginServerCall(of: process, work) else { return }
        throw coordinator.refusal(of: process, .serverCalls, crowding)
    }

    /// Begins a diagnosis. The caller of this method ends it with `diagnosisEnded(of:)`.
    ///
    /// - Returns: the process for which it runs.
    /// - Throws: `LimitExceeded` if too many are under way.
    func beginDiagnosis(
        for responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> Int32 {
        let process = responder.peer.pid
        guard let crowding = coordinator.lifecycle.beginDiagnosis(of: process) else { return process }
        throw coordinator.refusal(of: process, .diagnoses, crowding)
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
