import GRDB
import RefreshCore

/// Checks some consecutive accounts of the store: their rows, their tokens, their deadlines.
struct AccountCheck {
    /// If the clock is stepped during the copy, deadlines can differ by the step. No clock is stepped by more than
    /// this.
    private static let slack = Duration.seconds(3600)

    /// The accounts to check, in the order of their numbers; at least one.
    private let entries: [AccountEntry]
    /// The range of the accounts' numbers, without the first number and including the second.
    private let range: StatementArguments
    private let now: Timestamp
    private let names: [AccountID: String]

    private var findings: [StoreFinding] = []
    private var refreshTokens: Set<SealedPlace> = []
    /// The texts of the targets that have a token.
    private var targets: [AccountID: Set<String>] = [:]

    /// Prepares the check.
    ///
    /// - Parameter start: the number before the first of `entries`.
    init(_ entries: [AccountEntry], after start: Int64, now: Timestamp) {
        self.entries = entries
        self.now = now
        range = [start, entries.last?.id.rawValue ?? start]
        names = Dictionary(entries.map { ($0.id, $0.name) }) { first, _ in first }
    }

    /// The findings: first about tokens, then about accounts.
    static func findings(
        of entries: [AccountEntry],
        after start: Int64,
        now: Timestamp,
        in store: AccountStore,
        _ db: Database
    ) throws -> [StoreFinding] {
        var check = AccountCheck(entries, after: start, now: now)
        try check.openTokens(with: store.connection.sealer, in: db)
        try check.readTargets(in: db)
        try check.readAccounts(in: db)
        return check.findings
    }

    private mutating func openTokens(with sealer: Sealer, in db: Database) throws {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: StoreStatement.tokensToReseal.sql),
            arguments: range
        )
        while let row = try rows.next() {
            // A token without an account is reported among the orphans.
            guard let name = names[AccountID(row[1])] else { continue }
            guard let place = SealedPlace(tokenRow: row) else {
                findings.append(.unknownToken(name: name))
                continue
            }
            // A damaged digest protects nothing, and needs nobody.
            guard place.column != .copiedToken else { continue }
            if place.column == .refreshToken { refreshTokens.insert(place) }
            let isOfTarget = !place.target.isEmpty
            if isOfTarget { targets[place.account, default: []].insert(place.target) }
            do {
                // The opened secret is released and erased at once.
                _ = try sealer.open(row[5], at: place)
            } catch {
                findings.append(isOfTarget ? .targetDamaged(name: name) : .sealBroken(name: name, error))
            }
        }
    }

    /// Checks that each target has its token, and each token of a target its target.
    private mutating func readTargets(in db: Database) throws {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: StoreStatement.targetsAmong.sql),
            arguments: range
        )
        while let row = try rows.next() {
            let account = AccountID(row["account_id"])
            guard let name = names[account] else { continue }
            let isReadable = TokenTargetColumns.record(from: row, account: account) != nil
            let hasToken = targets[account]?.remove(row[0]) != nil
            if !isReadable || !hasToken { findings.append(.targetDamaged(name: name)) }
        }
        for (account, rest) in targets.sorted(by: { $0.key < $1.key }) {
            if let name = names[account] { findings += rest.map { _ in .targetDamaged(name: name) } }
        }
    }

    private mutating func readAccounts(in db: Database) throws {
        let aside = try Set(
            Int64.fetchAll(db.cachedStatement(sql: StoreStatement.asideAmong.sql), arguments: range)
        )
        for entry in entries {
            switch entry {
            case .damaged(let account): findings.append(.damaged(name: account.name, account.cause))
            case .intact(let record): check(record, isAside: aside.contains(entry.id.rawValue))
            }
        }
    }

    private mutating func check(_ record: Record, isAside: Bool) {
        let name = record.account.name.text
        if isAside { findings.append(.stillAside(name: name)) }
        guard let longestWait = longestWait(of: record.state) else { return }
        let (account, generation) = (record.account.id, record.state.generation)
        let needed = SealedPlace(account: account, column: .refreshToken, generation: generation)
        let needsRefreshToken = record.state.isRefreshable && record.account.registration.serviceGrant == nil
        if needsRefreshToken, !refreshTokens.contains(needed) {
            findings.append(.refreshTokenMissing(name: name, generation))
        }
        // An account that was set aside has no deadline until it returns to the schedule.
        guard !isAside else { return }
        guard let deadline = record.state.deadline else {
            findings.append(.deadlineMissing(name: name))
            return
        }
        if deadline > now + longestWait + Self.slack { findings.append(.deadlineTooFar(name: name)) }
    }

    /// How far ahead a deadline can be at most; nil if nothing should happen by itself.
    private func longestWait(of state: RefreshState) -> Duration? {
        switch state.phase {
        case .signedOut, .parked: nil
        case .interactionRequired(let interaction): interaction.longestWait
        case .scheduled: state.accessToken?.lifetime ?? .zero
        case .refreshing: Lease.duration
        case .backingOff(let backOff):
            backOff.kind == .doubtful ? max(backOff.delay, state.accessToken?.lifetime ?? .zero) : backOff.delay
        }
    }
}
