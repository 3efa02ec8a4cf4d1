import RefreshCore

/// The course of an exchange, with its fault, if any.
enum Fate: Hashable {
    case well
    case wrong(Fault)
}

/// A request on its way to the server. It arrives even if the process that sent it has died.
struct Request: Hashable {
    var exchange: Int
    var token: ModelToken
    var target: TokenTarget?
    /// The true time at which the server does its work.
    var arrivesAt: Int64
}

/// One exchange, as the shell sees it.
struct Exchange {
    /// How long the shell waits for the answer of a server that is known not to rotate, and of any other. While the
    /// process stands still, the time does too.
    static let (steadyLimit, limit): (Int64, Int64) = (30_000_000, 300_000_000)

    var number: Int
    var lease: Lease
    /// The requested token target; nil for the account's default access token.
    var target: TokenTarget?
    /// The number of the grant to which it belongs.
    var epoch: Int
    var fate: Fate
    let sentAt: Int64
    /// The true time at which the shell learns of its end.
    var endsAt: Int64
    /// The server's answer, once there is one.
    var answer: ModelServer.Answer?
    var retryAfter: Duration?

    func issued(_ issuance: Issuance) -> Event {
        target.map { .answer(.targetIssued($0, lease.generation, issuance)) }
            ?? .answer(.tokensIssued(lease.generation, issuance))
    }

    func failed(_ failure: RefreshFailure) -> Event {
        target.map { .answer(.targetFailed($0, lease.generation, failure)) }
            ?? .answer(.refreshFailed(lease.generation, failure))
    }
}

/// Tokens that could not be stored yet. They are in memory, and storing them is tried again.
struct UnsavedAnswer {
    var exchange: Exchange
    var tokens: ModelTokens
    var triedAgainAt: Int64
}

extension RefreshFailure {
    init(model failureClass: FailureClass, retryAfter: Duration? = nil) {
        // A wrong setting is something that the server says.
        let status = failureClass == .misconfigured ? 400 : nil
        let detail = FailureDetail(summary: "a model fault", httpStatus: status)
        self.init(failureClass, detail: detail, retryAfter: retryAfter)
    }
}
