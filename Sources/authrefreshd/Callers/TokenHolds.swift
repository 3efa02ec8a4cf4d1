internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// One use of one token by a program that keeps it until a time that it was told.
///
/// client-go (kubectl, k9s, helm) runs its credential plugin again before that time only after a server has answered
/// 401, and cannot say so.
struct TokenHold: Sendable {
    /// The process and its machine, if it is not this one.
    struct Holder: Hashable, Sendable {
        let process: String
        let host: String?
        let account: AccountID
    }

    /// What distinguishes one use from another.
    struct Use: Hashable, Sendable {
        /// Nil if the process is unknown.
        let holder: Holder?
        fileprivate let name: String?
        fileprivate let target: TokenTarget?
        fileprivate let isIDToken: Bool
    }

    let use: Use
    /// The process that calls. It names the holder, and need not be one.
    fileprivate let caller: Int32

    /// Returns nil if a text is longer than the interface allows.
    init?(
        _ asked: TokenHolder,
        of account: AccountID,
        for target: TokenTarget?,
        _ call: AcquireToken.Parameters,
        from caller: Int32
    ) {
        guard asked.process?.utf8.count ?? 0 <= 100, asked.use?.utf8.count ?? 0 <= 4096 else { return nil }
        use = Use(
            holder: asked.process.map { Holder(process: $0, host: call.host, account: account) },
            name: asked.use,
            target: target,
            isIDToken: call.idToken ?? false
        )
        self.caller = caller
    }
}

/// The tokens that programs keep, to notice that a server has refused one.
struct TokenHolds {
    /// The most uses that are kept: some megabytes at worst. A refused token whose use was forgotten is noticed at the
    /// call after the next.
    static let tokenHoldsMax = 1_000

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
        let caller: Int32
    }

    private var given: [TokenHold.Use: Given] = [:]
    private var reports: [TokenHold.Holder: Moment] = [:]

    /// Whether this call means that a server has refused the current token. It counts as the process's report.
    ///
    /// - Parameter issue: when the current token was issued; nil if there is none.
    mutating func isRefused(_ hold: TokenHold?, _ issue: Timestamp?, _ now: Moment) -> Bool {
        guard let hold, let holder = hold.use.holder, let last = given[hold.use], last.issue == issue,
            now.elapsed(since: last.at) < last.length,
            reports[holder].map({ now.elapsed(since: $0) >= Self.reportInterval }) ?? true
        else { return false }
        reports = reports.filter { now.elapsed(since: $0.value) < Self.reportInterval }
        if reports.count >= Self.tokenHoldsMax { reports = [:] }
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
        if hold.use.holder != nil {
            if given[hold.use] == nil { makeRoom(for: hold.caller, now) }
            let length = Timestamp(microseconds: told) - now.wall
            given[hold.use] = Given(issue: issue, at: now, length: length, caller: hold.caller)
        }
        return told
    }

    /// Forgets the uses that are over. If the caller has its share, also forgets the oldest of its uses. If it has
    /// none, a process with the most gives way.
    private mutating func makeRoom(for caller: Int32, _ now: Moment) {
        given = given.filter { now.elapsed(since: $0.value.at) < $0.value.length }
        let shares = Shares(capacity: Self.tokenHoldsMax, holders: given.values.map(\.caller))
        guard let crowding = shares.crowding(1, for: caller) else { return }
        let hasOwn = given.contains { $0.value.caller == caller }
        let oldest = given.filter { use in
            hasOwn ? use.value.caller == caller : shares.gives(0, to: crowding.process, from: use.value.caller)
        }.max { now.elapsed(since: $0.value.at) < now.elapsed(since: $1.value.at) }
        if let oldest { given[oldest.key] = nil }
    }
}
