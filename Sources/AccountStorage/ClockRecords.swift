import GRDB
package import RefreshCore

/// What is known about clocks: the servers', and this machine's.
package struct ClockRecords {
    let connection: StoreConnection

    /// Notes how far the issuer's clock (`Date`, RFC 9110 §6.6.1) is ahead of the wall clock; negative if it is behind.
    ///
    /// - Throws: `noSuchIssuer`.
    package func recordSkew(_ skew: Duration, of issuer: IssuerID) throws(StoreError) {
        try connection.write { db in
            try db.cachedStatement(sql: "UPDATE issuer SET clock_skew_usec = ? WHERE id = ?")
                .execute(arguments: [skew.microseconds, issuer.rawValue])
            guard db.changesCount == 1 else { throw StoreError.noSuchIssuer(issuer) }
        }
    }

    /// The skew that was recorded last; nil if none was.
    package func skew(of issuer: IssuerID) throws(StoreError) -> Duration? {
        try connection.read { db in
            let statement = try db.cachedStatement(sql: "SELECT clock_skew_usec FROM issuer WHERE id = ?")
            guard let row = try Row.fetchOne(statement, arguments: [issuer.rawValue]) else { return nil }
            let microseconds: Int64? = row[0]
            return microseconds.map { .microseconds($0) }
        }
    }

    /// The clock's offset that was recorded last; nil if none was. If it differs from today's and the boot is the same, the wall
    /// clock was stepped while no daemon ran.
    package func clockOffset() throws(StoreError) -> ClockOffset? {
        try connection.read(Meta.clockOffset)
    }

    package func recordClockOffset(_ clock: ClockOffset) throws(StoreError) {
        try connection.write { db in try Meta.setClockOffset(clock, in: db) }
    }
}
