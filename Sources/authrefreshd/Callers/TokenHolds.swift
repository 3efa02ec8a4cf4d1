internal import AuthRefreshInterface
internal import RefreshCore

/// One use of one token by a program that keeps it until a time that it was told.
///
/// client-go (kubectl, k9s, helm) runs its credential plugin again before that time only after a server has answered
/// 401, and cannot say so.
struct TokenHold: Hashable, Sendable {
    /// The process and its machine, if it is not this one.
    struct Holder: Hashable, Sendable {
        let process: String
        let host: String?
        let account: AccountID
    }

    /// Nil if the process is unknown.
    let holder: Holder?
    private let use: String?
    private let target: TokenTarget?
    private let isIDToken: Bool

    /// Returns nil if a text is longer than the interface allows.
    init?(
        _ asked: TokenHolder,
        of account: AccountID,
        for target: TokenTarget?,
        _ call: AcquireToken.Parameters
    ) {
        guard asked.process?.utf8.count ?? 0 <= 100, asked.use?.utf8.count ?? 0 <= 4096 else { return nil }
        holder = asked.process.map { Holder(process: $0, host: call.host, account: account) }
        use = asked.use
        self.target = target
        isIDToken = call.idToken ?? false
    }
}

/// The tokens that programs keep, to notice that a server has refused one.
struct TokenHolds {
    /// The most uses that are kept: some megabytes at worst. If there is one more, all are forgotten. A refused token
    /// is then noticed at the call after the next.
    static let maximum = 1_000

    /// The longest time before its end at which a holder should ask for the next token. A request, and a clock that is
    /// wrong by some seconds, then still find a valid token.
    private static let margin = Duration.seconds(60)

    /// How long one report of a process stands for all that follow: a token that is refused again lacks the permission.
    private static let reportInterval = Duration.seconds(60)

    private struct Given {
        /// When the token was issued, which tells it from the tokens before and after it.
        let issue: Timestamp
        let at: Moment
        let length: Duration
    }

    private var given: [TokenHold: Given] = [:]
    private var reports: [TokenHold.Holder: Moment] = [:]

    /// Whether this call means that a server has refused the current token. It counts as the process's report.
    ///
    /// - Parameter issue: when the current token was issued; nil if there is none.
    mutating func isRefused(_ hold: TokenHold?, _ issue: Timestamp?, _ now: Moment) -> Bool {
        guard let hold, let holder = hold.holder, let last = given[hold], last.issue == issue,
            now.elapsed(since: last.at) < last.length,
            reports[holder].map({ now.elapsed(since: $0) >= Self.reportInterval }) ?? true
        else { return false }
        reports = reports.filter { now.elapsed(since: $0.value) < Self.reportInterval }
        if reports.count >= Self.maximum { reports = [:] }
        reports[holder] = now
        return true
    }

    /// Takes note of a token that the caller gets.
    ///
    /// - Parameters:
    ///   - issue: when the token was issued.
    ///   - end: when it expires.
    /// - Returns: until when the caller should keep it, whole seconds in µs since 1970; nil if it keeps none.
    mutating func note(_ hold: TokenHold?, _ issue: Timestamp, _ end: Timestamp, _ now: Moment) -> Int64? {
        guard let hold else { return nil }
        let left = max(end - now.wall, .zero)
        let until = end.microseconds - min(Self.margin, left / 10).microseconds
        // Every client can read RFC 3339 without a fraction.
        let told = until - until % 1_000_000
        if hold.holder != nil {
            if given.count >= Self.maximum {
                given = given.filter { now.elapsed(since: $0.value.at) < $0.value.length }
            }
            if given.count >= Self.maximum { given = [:] }
            given[hold] = Given(issue: issue, at: now, length: Timestamp(microseconds: told) - now.wall)
        }
        return told
    }
}
