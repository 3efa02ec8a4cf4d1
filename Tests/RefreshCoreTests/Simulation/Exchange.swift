import RefreshCore

/// How an exchange goes: what is wrong with it, if anything.
enum Fate: Hashable {
    case well
    case wrong(Fault)
}

/// A request on its way to the server; it arrives even if the process that sent it has died.
struct Request: Hashable {
    var exchange: Int
    var token: ModelToken
    var target: TokenTarget?
    /// True time at which the server does its work.
    var arrivesAt: Int64
}

/// One exchange as the shell sees it.
struct Exchange {
    /// How long the answer of a server is waited for that is known not to rotate, and of any other; the time stands still while the
    /// process does.
    static let (steadyLimit, limit): (Int64, Int64) = (30_000_000, 300_000_000)

    var number: Int
    var lease: Lease
    /// What is asked for; nil for the account's default access token.
    var target: TokenTarget?
    /// Which grant it belongs to: raised by each sign-in and sign-out.
    var epoch: Int
    var fate: Fate
    let sentAt: Int64
    /// True time at which its end comes to the shell.
    var endsAt: Int64
    /// What the server gave, once it did.
    var answer: ModelServer.Answer?
    var retryAfter: Duration?

    func issued(_ issuance: Issuance) -> Event {
        target.map { .targetIssued($0, lease.generation, issuance) } ?? .tokensIssued(lease.generation, issuance)
    }

    func failed(_ failure: RefreshFailure) -> Event {
        target.map { .targetFailed($0, lease.generation, failure) } ?? .refreshFailed(lease.generation, failure)
    }
}

/// Tokens that came and could not be stored yet: in memory, tried again.
struct UnsavedAnswer {
    var exchange: Exchange
    var tokens: ModelTokens
    var triedAgainAt: Int64
}

extension RefreshFailure {
    init(model failureClass: FailureClass, retryAfter: Duration? = nil) {
        self.init(failureClass, detail: FailureDetail(summary: "a model fault"), retryAfter: retryAfter)
    }
}
