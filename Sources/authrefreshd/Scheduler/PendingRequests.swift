internal import RefreshCore

/// A request that is under way at the token endpoint.
struct PendingRequest {
    let lease: Lease
    /// Stands in the journal, and in the request where the provider takes it.
    var correlationID: String
    /// What is asked for beyond the grant; nil if nothing is.
    var claims: String?
    /// What the attempt before it failed by; nil if it did not.
    var lastFailure: RefreshFailure?
    /// Whether nothing has been sent: the token of another account is waited for.
    var awaitsSource = false
    /// What waits for the answer; nil while nothing has been sent.
    var task: Task<Void, Never>?

    /// The same while another account's token is waited for: nothing is sent.
    var awaitingSource: PendingRequest {
        PendingRequest(lease: lease, correlationID: "", lastFailure: lastFailure, awaitsSource: true)
    }
}

/// The requests that are under way, at most one for each account. Of one whose account has another grant meanwhile only the identifier is
/// kept, for its slot.
struct PendingRequests {
    private var requests: [AccountID: PendingRequest] = [:]
    /// Those that have not passed their time limit, each with a slot at its issuer's gate, by correlation identifier.
    private var young: Set<String> = []

    var isEmpty: Bool { requests.isEmpty }
    var count: Int { requests.count }
    /// Whether an answer is about to come.
    var areYoung: Bool { !young.isEmpty }

    /// The one of `account`; nil if there is none.
    subscript(_ account: AccountID) -> PendingRequest? { requests[account] }

    /// The one of `account`, if it holds `lease`: an imported grant may have begun another.
    func holding(_ lease: Lease, of account: AccountID) -> PendingRequest? {
        requests[account].flatMap { $0.lease == lease ? $0 : nil }
    }

    mutating func begin(_ request: PendingRequest, of account: AccountID) {
        requests[account] = request
        if !request.awaitsSource { young.insert(request.correlationID) }
    }

    /// A request has passed its time limit.
    ///
    /// - Returns: whether its answer is still waited for.
    mutating func passLimit(_ correlationID: String) -> Bool {
        young.remove(correlationID) != nil
    }

    /// A request has ended.
    ///
    /// - Returns: it; nil if the account has another grant meanwhile.
    mutating func end(_ lease: Lease, of account: AccountID, correlationID: String) -> PendingRequest? {
        young.remove(correlationID)
        guard let request = holding(lease, of: account) else { return nil }
        requests[account] = nil
        return request
    }

    /// Ends the waiting for another account's token.
    ///
    /// - Returns: whether `account` waited with this lease. It may have been signed out meanwhile, and have begun anew.
    mutating func endWaiting(_ lease: Lease, of account: AccountID) -> Bool {
        guard let request = holding(lease, of: account), request.awaitsSource else { return false }
        requests[account] = nil
        return true
    }

    /// Ends all waiting for other accounts' tokens.
    ///
    /// - Returns: who has waited, and with which lease.
    mutating func endAllWaiting() -> [(account: AccountID, lease: Lease)] {
        let waiting = requests.filter(\.value.awaitsSource)
        for account in waiting.keys { requests[account] = nil }
        return waiting.map { ($0.key, $0.value.lease) }
    }

    /// Whether the account's request has passed its time limit, and its answer is still waited for.
    func isOverdue(_ account: AccountID) -> Bool {
        requests[account].map { !$0.awaitsSource && !young.contains($0.correlationID) } ?? false
    }

    /// Gives up the answers of requests whose connections cannot be alive any more: they count as unanswered.
    ///
    /// - Parameter isLost: tells by account.
    func giveUpAnswers(where isLost: (AccountID) -> Bool) {
        for (account, request) in requests where isLost(account) { request.task?.cancel() }
    }
}
