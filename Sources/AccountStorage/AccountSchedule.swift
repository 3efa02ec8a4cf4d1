import GRDB
package import RefreshCore

/// The accounts' deadlines: which accounts are due, and when the next one is.
///
/// If `online` is false, accounts whose issuer needs the network are left out.
package struct AccountSchedule {
    let connection: StoreConnection
    let records: RecordReader

    /// How many due accounts of closed issuers are skipped before the issuers are asked one by one. A few thousand
    /// index entries take about a millisecond.
    static let longestWalk = 4_096

    /// The accounts that are due at `wall`, the longest overdue first. Their rows are not read.
    ///
    /// - Parameters:
    ///   - closed: issuers that may not be sent anything now. If more than `longestWalk` of their accounts are due, the
    ///     result is collected issuer by issuer, and the order holds only within the result.
    package func due(
        at wall: Timestamp,
        online: Bool,
        excluding closed: Set<IssuerID> = [],
        limit: Int
    ) throws(StoreError) -> [AccountID] {
        try connection.read { db in
            try walkDue(at: wall, online: online, excluding: closed, limit: limit, in: db)
                ?? dueByIssuer(at: wall, online: online, excluding: closed, limit: limit, in: db)
        }
    }

    /// The accounts of one issuer that are due at `wall`, the longest overdue first, with their rows.
    package func due(
        issuer: IssuerID,
        at wall: Timestamp,
        online: Bool,
        limit: Int
    ) throws(StoreError) -> [AccountID] {
        let due = try connection.read { db in
            try records.entries(
                .recordsDueOfIssuer,
                [issuer.rawValue, connection.onSchedule(wall), online, limit],
                in: db
            )
        }
        for case .intact(let record) in due { connection.memory.note(record) }
        return due.map(\.id)
    }

    /// The earliest deadline later than `wall`; nil if there is none.
    package func nextDeadline(after wall: Timestamp, online: Bool) throws(StoreError) -> Timestamp? {
        try connection.read { db in
            let query: StoreStatement = online ? .nextDeadlineOnline : .nextDeadlineOffline
            let stored = try Int64.fetchOne(
                db.cachedStatement(sql: query.sql),
                arguments: [connection.onSchedule(wall)]
            )
            return stored.map { Timestamp(microseconds: $0) + connection.scheduleOffset }
        }
    }

    /// The latest deadline; nil if there is none.
    package func lastDeadline() throws(StoreError) -> Timestamp? {
        try connection.read { db in
            let sql = "SELECT max(deadline_usec) FROM account WHERE deadline_usec IS NOT NULL"
            let stored = try Int64.fetchOne(db.cachedStatement(sql: sql))
            return stored.map { Timestamp(microseconds: $0) + connection.scheduleOffset }
        }
    }

    /// The accounts with a refresh request under way, in the order of their numbers. At start-up, these are the
    /// previous daemon's.
    package func leased(after id: AccountID = AccountID(0), limit: Int) throws(StoreError) -> [AccountID] {
        try connection.read { db in try db.accounts(.leased, [id.rawValue, limit]) }
    }

    /// The accounts whose wait ends early when a network comes up, in the order of their numbers.
    package func awaitingConnectivity(
        after id: AccountID = AccountID(0),
        limit: Int
    ) throws(StoreError) -> [AccountID] {
        try connection.read { db in try db.accounts(.awaitingConnectivity, [id.rawValue, limit]) }
    }

    /// The accounts whose sign-out, or its announcement, is due at `now`, the longest overdue first.
    ///
    /// - Parameter byWall: whether also those whose people signed in before the machine was restarted. Their time is
    ///   known by the wall clock only.
    package func signOutsDue(at now: Moment, byWall: Bool, limit: Int) throws(StoreError) -> [AccountID] {
        try connection.read { db in
            let due = try db.accounts(.signOutDue, [now.boot.bootID, now.boot.microseconds, limit])
            guard byWall else { return due }
            let rest = limit - due.count
            return try due + db.accounts(.signOutDueByWall, [now.boot.bootID, now.wall.microseconds, rest])
        }
    }

    /// How long until the next sign-out, or its announcement, that is not due yet; nil if there is none.
    ///
    /// - Parameter trust: how long until the wall clock alone is believed. What is due by it waits for that.
    package func timeToSignOut(at now: Moment, trustingWallIn trust: Duration) throws(StoreError) -> Duration? {
        try connection.read { db in
            let next = try Int64.fetchOne(
                db.cachedStatement(sql: StoreStatement.nextSignOut.sql),
                arguments: [now.boot.bootID, now.boot.microseconds]
            )
            let nextByWall = try Int64.fetchOne(
                db.cachedStatement(sql: StoreStatement.nextSignOutByWall.sql),
                arguments: [now.boot.bootID, trust > .zero ? Int64.min : now.wall.microseconds]
            )
            let waits = [
                next.map { Timestamp(microseconds: $0) - Timestamp(microseconds: now.boot.microseconds) },
                nextByWall.map { max(Timestamp(microseconds: $0) - now.wall, trust) },
            ]
            return waits.compactMap(\.self).min()
        }
    }

    /// Moves all deadlines by `step` after a step of the wall clock, and records the clock's new offset.
    package func shiftDeadlines(by step: Duration, clock: ClockOffset) throws(StoreError) {
        let offset = connection.scheduleOffset + step
        try connection.write { db in
            try Meta.set(.scheduleOffset, offset.microseconds, in: db)
            try Meta.setClockOffset(clock, in: db)
        }
        connection.scheduleOffset = offset
    }

    /// Removes unreadable accounts from the schedule, which would otherwise return them again and again.
    ///
    /// - Returns: the accounts that were in the schedule until now.
    package func setAside(_ ids: [AccountID]) throws(StoreError) -> [AccountID] {
        try connection.write { db in
            try ids.filter { id in
                let isNew = try db.run(.setAside, [.integer(id.rawValue)]) == 1
                try db.run(.unschedule, [.integer(id.rawValue)])
                return isNew
            }
        }
    }

    /// Returns accounts that were set aside to the schedule if they can be read again. Their rows were repaired, or
    /// this version can read what a newer version wrote.
    ///
    /// - Parameters:
    ///   - start: the account after which to begin; 0 for the first.
    ///   - limit: how many accounts are checked.
    /// - Returns: the accounts that can be read again, and the last account that was checked; nil if there are no more.
    package func takeBack(
        after start: AccountID,
        limit: Int
    ) throws(StoreError) -> (repaired: [AccountID], last: AccountID?) {
        try connection.write { db in
            let aside = try db.accounts(.aside, [start.rawValue, limit])
            let repaired = try aside.filter { id in
                guard case .intact? = try records.entries(.recordByID, [id.rawValue], in: db).first else {
                    return false
                }
                try db.run(.reschedule, [.integer(id.rawValue)])
                try db.execute(sql: "DELETE FROM set_aside WHERE account_id = ?", arguments: [id.rawValue])
                return true
            }
            return (repaired, aside.count < limit ? nil : aside.last)
        }
    }

    /// The accounts that wait after a failure or for a person, in the order of their numbers.
    package func troubled(after id: AccountID = AccountID(0), limit: Int) throws(StoreError) -> [AccountID] {
        try connection.read { db in try db.accounts(.troubled, [id.rawValue, limit]) }
    }

    /// Reads the deadlines of all issuers together; nil if too many of them belong to closed issuers.
    private func walkDue(
        at wall: Timestamp,
        online: Bool,
        excluding closed: Set<IssuerID>,
        limit: Int,
        in db: Database
    ) throws -> [AccountID]? {
        let query: StoreStatement = online ? .dueOnline : .dueOffline
        let end = connection.onSchedule(wall)
        let start =
            connection.memory.nothingDue.flatMap { $0.holds(online: online, excluding: closed) ? $0.end : nil } ?? .min
        let cursor = try Row.fetchCursor(db.cachedStatement(sql: query.sql), arguments: [start, end])
        var ids: [AccountID] = []
        var passed = 0
        while ids.count < limit, let row = try cursor.next() {
            if !closed.contains(IssuerID(row[1])) {
                ids.append(AccountID(row[0]))
                continue
            }
            passed += 1
            if passed > AccountSchedule.longestWalk { return nil }
        }
        if ids.isEmpty, limit > 0 {
            connection.memory.nothingDue = NothingDue(end: max(start, end), online: online, closed: closed)
        }
        return ids
    }

    /// Asks one issuer after the other until there are enough accounts. The remaining issuers get their turn when the
    /// first ones are closed.
    private func dueByIssuer(
        at wall: Timestamp,
        online: Bool,
        excluding closed: Set<IssuerID>,
        limit: Int,
        in db: Database
    ) throws -> [AccountID] {
        var found: [(deadline: Int64, id: AccountID)] = []
        var last = IssuerID(0)
        while found.count < limit,
            let next = try Int64.fetchOne(
                db.cachedStatement(sql: StoreStatement.nextIssuer.sql),
                arguments: [last.rawValue]
            )
        {
            last = IssuerID(next)
            guard !closed.contains(last) else { continue }
            let due = try Row.fetchCursor(
                db.cachedStatement(sql: StoreStatement.dueOfIssuer.sql),
                arguments: [last.rawValue, connection.onSchedule(wall), online, limit]
            )
            while let row = try due.next() { found.append((row[1], AccountID(row[0]))) }
        }
        // Start after this point next time. Otherwise each turn would ask every issuer again.
        if found.isEmpty, limit > 0 {
            connection.memory.nothingDue = NothingDue(end: connection.onSchedule(wall), online: online, closed: closed)
        }
        return found.sorted { $0 < $1 }.prefix(limit).map(\.id)
    }

    /// Takes note of writes that are about to be committed, because they may make an account due.
    func expect(_ writes: [StateWrite]) {
        guard let end = connection.memory.nothingDue?.end,
            writes.contains(where: { $0.state.deadline.map(connection.onSchedule) ?? .max <= end })
        else { return }
        connection.memory.nothingDue = nil
    }
}

/// The start of the schedule, up to a deadline, in which all accounts belong to closed issuers.
///
/// While an issuer's accounts wait for its gate, every turn would otherwise read all of them and find none.
struct NothingDue {
    /// The last deadline in it, on the schedule's clock.
    let end: Int64
    fileprivate let online: Bool
    fileprivate let closed: Set<IssuerID>

    /// Whether a walk would still find nothing in it. That holds if more issuers are closed, and may not hold if one
    /// was opened.
    fileprivate func holds(online: Bool, excluding closed: Set<IssuerID>) -> Bool {
        self.online == online && self.closed.isSubset(of: closed)
    }
}
