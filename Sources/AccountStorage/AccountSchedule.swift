import GRDB
package import RefreshCore

/// What is due, and when there is something to do next.
///
/// `online` false leaves out the accounts whose issuer can only be reached over the network.
package struct AccountSchedule {
    let connection: StoreConnection
    let records: RecordReader

    /// How many due accounts of closed issuers are passed over before the issuers are asked one by one. A few thousand index
    /// entries take about a millisecond.
    static let longestWalk = 4_096

    /// The accounts that are due at `wall`, the longest overdue first; they are not read.
    ///
    /// - Parameters:
    ///   - closed: issuers that may not be sent anything now. With more than `longestWalk` of their accounts in the way, the
    ///     result is taken issuer by issuer, and the order holds only among the accounts returned.
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

    /// The accounts of one issuer that are due at `wall`, the longest overdue first; their rows are read all at once.
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

    /// The latest deadline of all; nil if there is none.
    package func lastDeadline() throws(StoreError) -> Timestamp? {
        try connection.read { db in
            let sql = "SELECT max(deadline_usec) FROM account WHERE deadline_usec IS NOT NULL"
            let stored = try Int64.fetchOne(db.cachedStatement(sql: sql))
            return stored.map { Timestamp(microseconds: $0) + connection.scheduleOffset }
        }
    }

    /// The accounts whose refresh token is being spent, in the order of their numbers; at start-up, those of the daemon before.
    package func leased(after id: AccountID = AccountID(0), limit: Int) throws(StoreError) -> [AccountID] {
        try connection.read { db in try ids(.leased, after: id, limit: limit, in: db) }
    }

    /// The accounts in a back-off that a network coming up may end, in the order of their numbers.
    package func awaitingConnectivity(
        after id: AccountID = AccountID(0),
        limit: Int
    ) throws(StoreError) -> [AccountID] {
        try connection.read { db in try ids(.awaitingConnectivity, after: id, limit: limit, in: db) }
    }

    /// Moves all deadlines by `step`, because the wall clock was, and notes the clock's new offset with it.
    package func shiftDeadlines(by step: Duration, clock: ClockOffset) throws(StoreError) {
        let offset = connection.scheduleOffset + step
        try connection.write { db in
            try Meta.setScheduleOffset(offset.microseconds, in: db)
            try Meta.setClockOffset(clock, in: db)
        }
        connection.scheduleOffset = offset
    }

    /// Takes accounts that cannot be read out of the schedule, which would come upon them again and again.
    ///
    /// - Returns: those that were in it until now.
    package func setAside(_ ids: [AccountID]) throws(StoreError) -> [AccountID] {
        try connection.write { db in
            try ids.filter { id in
                try db.cachedStatement(sql: StoreStatement.setAside.sql).execute(arguments: [id.rawValue])
                let isNew = db.changesCount == 1
                try db.cachedStatement(sql: StoreStatement.unschedule.sql).execute(arguments: [id.rawValue])
                return isNew
            }
        }
    }

    /// Gives those of the accounts set aside that can be read again their deadlines back: their rows were mended, or were written
    /// by a newer version, which is this one.
    ///
    /// - Parameters:
    ///   - start: the account after which to begin; 0 for the first.
    ///   - limit: how many are looked at.
    /// - Returns: those that were mended, and the last one that was looked at; nil if there are no more.
    package func takeBack(
        after start: AccountID,
        limit: Int
    ) throws(StoreError) -> (mended: [AccountID], last: AccountID?) {
        try connection.write { db in
            let aside = try ids(.aside, after: start, limit: limit, in: db)
            let mended = try aside.filter { id in
                guard case .intact? = try records.entries(.recordByID, [id.rawValue], in: db).first else {
                    return false
                }
                try db.cachedStatement(sql: StoreStatement.reschedule.sql).execute(arguments: [id.rawValue])
                try db.execute(sql: "DELETE FROM set_aside WHERE account_id = ?", arguments: [id.rawValue])
                return true
            }
            return (mended, aside.count < limit ? nil : aside.last)
        }
    }

    /// The accounts that wait after a failure, or for a person, in the order of their numbers.
    package func troubled(after id: AccountID = AccountID(0), limit: Int) throws(StoreError) -> [AccountID] {
        try connection.read { db in try ids(.troubled, after: id, limit: limit, in: db) }
    }

    private func ids(
        _ query: StoreStatement,
        after id: AccountID,
        limit: Int,
        in db: Database
    ) throws -> [AccountID] {
        try Int64.fetchAll(db.cachedStatement(sql: query.sql), arguments: [id.rawValue, limit]).map(AccountID.init)
    }

    /// Follows the deadlines of all issuers together; nil if closed issuers are too much in the way.
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

    /// Asks one issuer after the other until there is enough; those not reached come when the first ones are closed.
    private func dueByIssuer(
        at wall: Timestamp,
        online: Bool,
        excluding closed: Set<IssuerID>,
        limit: Int,
        in db: Database
    ) throws -> [AccountID] {
        var found: [DueAccount] = []
        var last = IssuerID(0)
        while found.count < limit,
            let next = try Int64.fetchOne(
                db.cachedStatement(sql: StoreStatement.nextIssuer.sql),
                arguments: [last.rawValue]
            )
        {
            last = IssuerID(next)
            guard !closed.contains(last) else { continue }
            found += try dueIDs(of: last, at: wall, online: online, limit: limit, in: db)
        }
        // The next turns begin behind it, or each would ask every issuer again.
        if found.isEmpty, limit > 0 {
            connection.memory.nothingDue = NothingDue(end: connection.onSchedule(wall), online: online, closed: closed)
        }
        return found.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }.prefix(limit).map(\.id)
    }

    private func dueIDs(
        of issuer: IssuerID,
        at wall: Timestamp,
        online: Bool,
        limit: Int,
        in db: Database
    ) throws -> [DueAccount] {
        let cursor = try Row.fetchCursor(
            db.cachedStatement(sql: StoreStatement.dueOfIssuer.sql),
            arguments: [issuer.rawValue, connection.onSchedule(wall), online, limit]
        )
        var found: [DueAccount] = []
        while let row = try cursor.next() {
            found.append(DueAccount(id: AccountID(row[0]), deadline: row[1]))
        }
        return found
    }

    /// Notes what is about to be committed, which may have something due where there was nothing.
    func expect(_ writes: [StateWrite]) {
        guard let end = connection.memory.nothingDue?.end,
            writes.contains(where: { $0.state.deadline.map(connection.onSchedule) ?? .max <= end })
        else { return }
        connection.memory.nothingDue = nil
    }
}

/// The beginning of the schedule, up to a deadline, in which all accounts are of closed issuers.
///
/// While an issuer's accounts wait for its gate, every turn would walk over all of them to find none.
struct NothingDue {
    /// The last deadline of it, on the schedule's clock.
    let end: Int64
    fileprivate let online: Bool
    fileprivate let closed: Set<IssuerID>

    /// Whether a walk would still find nothing in it: with more issuers closed it would, with one opened again it might not.
    fileprivate func holds(online: Bool, excluding closed: Set<IssuerID>) -> Bool {
        self.online == online && self.closed.isSubset(of: closed)
    }
}

private struct DueAccount {
    let id: AccountID
    let deadline: Int64
}
