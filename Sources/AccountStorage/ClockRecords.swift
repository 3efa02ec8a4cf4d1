import GRDB
package import RefreshCore

/// What is known about the servers' clocks and this machine's clock.
package struct ClockRecords {
    let connection: StoreConnection

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
