import GRDB
package import RefreshCore

/// The machine that uses a store.
extension AccountStore {
    /// Makes this machine the one that uses the store. If it was another one, the grants that it may still use are
    /// parked, because a server that rotates refresh tokens ends a grant that two machines use.
    ///
    /// A grant whose server has not shown yet whether it rotates is parked, too.
    ///
    /// - Parameter machine: identifies this machine; nil if nothing lasting does. Then nothing is checked.
    /// - Returns: how many grants were parked.
    @discardableResult
    package func settle(on machine: String?) throws(StoreError) -> Int {
        guard let machine else { return 0 }
        let last: String? = try connection.read { db in try Meta.value(.machine, in: db) }
        guard last != machine else { return 0 }
        parkedGrants = try connection.write { db in
            try Meta.set(.machine, machine, in: db)
            return last == nil ? 0 : try Self.parkGrants(in: db)
        }
        return parkedGrants
    }

    private static func parkGrants(in db: Database) throws -> Int {
        try db.inPieces(of: "account") { rows in try park(rows, .otherMachine, in: db) }
    }
}

/// Parks the grants of many accounts without loading them.
extension AccountStore {
    private static let cleared = [
        "deadline_usec", "lease_generation", "phase_wall_usec", "phase_boot_id", "phase_boot_usec", "delay_usec",
        "back_off_kind", "interaction_reason", "failure_class", "failure_retry_after_usec", "failure_detail",
        "called_wall_usec", "attempt_wall_usec", "attempt_boot_id", "attempt_boot_usec",
    ]

    private static let parking = """
        UPDATE account SET
            outcome_unknown = outcome_unknown OR phase = 'refreshing',
            phase = 'parked', park_reason = ?,
            \(cleared.map { "\($0) = NULL" }.joined(separator: ", "))
        WHERE id BETWEEN ? AND ? AND is_rotating IS NOT 0 AND is_refreshable
            AND (phase IN ('scheduled', 'refreshing', 'backingOff')
                OR phase = 'interactionRequired'
                    AND interaction_reason IN ('rejectedWithoutReason', 'userRequired'))
            AND EXISTS (
                SELECT 1 FROM token
                WHERE account_id = account.id AND kind = 'refresh' AND target = ''
                    AND token.generation = account.generation
            )
        """

    /// Parks the grants that the server rotates or may rotate, and that may still work.
    ///
    /// - Parameter accounts: the numbers of the accounts.
    /// - Returns: how many were parked.
    static func park(_ accounts: ClosedRange<Int64>, _ reason: ParkReason, in db: Database) throws -> Int {
        let (first, last) = (accounts.lowerBound, accounts.upperBound)
        try db.cachedStatement(sql: parking).execute(arguments: [reason.rawValue, first, last])
        let parked = db.changesCount
        guard parked > 0 else { return 0 }
        // An account that cannot be read gets this deadline back when it can be.
        let outdated = "SELECT id FROM account WHERE id BETWEEN ? AND ? AND phase = 'parked'"
        try db.cachedStatement(
            sql: "UPDATE set_aside SET deadline_usec = NULL WHERE account_id IN (\(outdated))"
        ).execute(arguments: [first, last])
        return parked
    }
}

/// What is known about the servers' clocks and this machine's clock.
extension AccountStore {
    /// Records how far the issuer's clock (`Date`, RFC 9110 §6.6.1) is ahead of the wall clock; negative if it is
    /// behind.
    ///
    /// - Throws: `noSuchIssuer`.
    package func recordSkew(_ skew: Duration, of issuer: IssuerID) throws(StoreError) {
        try connection.write { db in
            try db.cachedStatement(sql: "UPDATE issuer SET clock_skew_usec = ? WHERE id = ?")
                .execute(arguments: [skew.microseconds, issuer.rawValue])
            guard db.changesCount == 1 else { throw StoreError.noSuchIssuer(issuer) }
        }
    }

    /// The last recorded skew; nil if there is none.
    package func skew(of issuer: IssuerID) throws(StoreError) -> Duration? {
        try connection.read { db in
            let statement = try db.cachedStatement(sql: "SELECT clock_skew_usec FROM issuer WHERE id = ?")
            guard let row = try Row.fetchOne(statement, arguments: [issuer.rawValue]) else { return nil }
            let microseconds: Int64? = row[0]
            return microseconds.map { .microseconds($0) }
        }
    }

    /// The last recorded offset of the clock; nil if there is none. If it differs from the current one in the same
    /// boot, the wall clock was stepped while no daemon ran.
    package func clockOffset() throws(StoreError) -> ClockOffset? {
        try connection.read(Meta.clockOffset)
    }

    package func recordClockOffset(_ clock: ClockOffset) throws(StoreError) {
        try connection.write { db in try Meta.setClockOffset(clock, in: db) }
    }
}
