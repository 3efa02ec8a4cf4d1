internal import RefreshCore

/// A request at the token endpoint that is under way.
struct PendingRequest {
    let lease: Lease
    /// The identifier in the journal, and in the request if the provider accepts it.
    var correlationID: String
    /// The requested claims beyond the grant; nil for none.
    var claims: String?
    /// The failure of the previous attempt; nil if it succeeded.
    var lastFailure: RefreshFailure?
    /// Whether nothing was sent yet, because another account's token has to come first.
    var awaitsSource = false
    /// The task that waits for the answer; nil while nothing was sent.
    var task: Task<Void, Never>?

    /// This request while it waits for another account's token.
    var awaitingSource: PendingRequest {
        PendingRequest(lease: lease, correlationID: "", lastFailure: lastFailure, awaitsSource: true)
    }
}

/// The requests under way, at most one per account. If the account got another grant meanwhile, only the identifier is
/// kept, for its slot.
struct PendingRequests {
    private var requests: [AccountID: PendingRequest] = [:]
    /// The correlation identifiers of requests within their time limit. Each has a slot at its issuer's gate.
    private var near: Set<String> = []

    var isEmpty: Bool { requests.isEmpty }
    var count: Int { requests.count }
    /// Whether an answer is expected soon.
    var anyAnswerIsNear: Bool { !near.isEmpty }

    /// The request of `account`; nil if there is none.
    subscript(_ account: AccountID) -> PendingRequest? { requests[account] }

    /// The request of `account`, if it holds `lease`. An imported grant may have started another one.
    func holding(_ lease: Lease, of account: AccountID) -> PendingRequest? {
        requests[account].flatMap { $0.lease == lease ? $0 : nil }
    }

    mutating func begin(_ request: PendingRequest, of account: AccountID) {
        requests[account] = request
        if !request.awaitsSource { near.insert(request.correlationID) }
    }

    /// Records that a request has exceeded its time limit.
    ///
    /// - Returns: whether its answer is still awaited.
    mutating func passLimit(_ correlationID: String) -> Bool {
        near.remove(correlationID) != nil
    }

    /// Records that a request has ended.
    ///
    /// - Returns: the request; nil if the account has another grant now.
    mutating func end(_ lease: Lease, of account: AccountID, correlationID: String) -> PendingRequest? {
        near.remove(correlationID)
        guard let request = holding(lease, of: account) else { return nil }
        requests[account] = nil
        return request
    }

    /// Ends the wait for another account's token.
    ///
    /// - Returns: whether `account` was waiting with this lease. It may have been signed out and started again.
    mutating func endWaiting(_ lease: Lease, of account: AccountID) -> Bool {
        guard let request = holding(lease, of: account), request.awaitsSource else { return false }
        requests[account] = nil
        return true
    }

    /// Ends all waits for other accounts' tokens.
    ///
    /// - Returns: the accounts that waited, with their leases.
    mutating func endAllWaiting() -> [(account: AccountID, lease: Lease)] {
        let waiting = requests.filter(\.value.awaitsSource)
        for account in waiting.keys { requests[account] = nil }
        return waiting.map { ($0.key, $0.value.lease) }
    }

    /// Whether the account's request has exceeded its time limit and its answer is still awaited.
    func isOverdue(_ account: AccountID) -> Bool {
        requests[account].map { !$0.awaitsSource && !near.contains($0.correlationID) } ?? false
    }

    /// Gives up requests whose connections cannot be alive any more; they count as unanswered.
    ///
    /// - Parameter isLost: decides by account.
    func giveUpAnswers(where isLost: (AccountID) -> Bool) {
        for (account, request) in requests where isLost(account) { request.task?.cancel() }
    }
}
