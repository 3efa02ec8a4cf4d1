import Foundation
import GRDB
import RefreshCore

/// The few values that belong to the whole store.
enum Meta {
    private enum Key: String {
        case keyID = "key_id"
        case keyCheck = "key_check"
        case scheduleOffset = "schedule_offset_usec"
        case probes
        case clockBootID = "clock_boot_id"
        case clockOffset = "clock_wall_minus_boot_usec"
    }

    /// What is sealed as the key's check; its contents do not matter, only that it opens.
    private static var checkValue: Secret { Secret("authrefresh") }
    private static let checkPlace = SealedPlace(account: AccountID(0), column: .keyCheck, generation: Generation(0))

    /// Finds out whether `key` is the one that this store was sealed with; a store without accounts takes any.
    static func checkKey(_ key: StoreKey, path: String, in db: Database) throws {
        let sealer = Sealer(key)
        guard let sealed: Data = try value(.keyCheck, in: db) else {
            let isInUse = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM account)") ?? false
            guard !isInUse else { throw StoreError.corrupt(path: path) }
            try set(.keyID, key.identifier, in: db)
            try set(.keyCheck, sealer.seal(checkValue, for: checkPlace), in: db)
            return
        }
        let expected: String = try value(.keyID, in: db) ?? "unknown"
        guard (try? sealer.open(sealed, at: checkPlace)) == checkValue else {
            throw expected == key.identifier
                ? StoreError.corrupt(path: path)
                : StoreError.wrongKey(path: path, expected: expected, given: key.identifier)
        }
    }

    /// In µs; 0 until the clock has been stepped.
    static func scheduleOffset(in db: Database) throws -> Int64 {
        try value(.scheduleOffset, in: db) ?? 0
    }

    static func setScheduleOffset(_ microseconds: Int64, in db: Database) throws {
        try set(.scheduleOffset, microseconds, in: db)
    }

    static func clockOffset(in db: Database) throws -> ClockOffset? {
        let bootID: Int64? = try value(.clockBootID, in: db)
        let offset: Int64? = try value(.clockOffset, in: db)
        guard let bootID, let offset else { return nil }
        return ClockOffset(bootID: bootID, wallMinusBoot: .microseconds(offset))
    }

    static func setClockOffset(_ clock: ClockOffset, in db: Database) throws {
        try set(.clockBootID, clock.bootID, in: db)
        try set(.clockOffset, clock.wallMinusBoot.microseconds, in: db)
    }

    /// Counts a probe: SQLite leaves a page alone whose contents an update would not change.
    static func countProbe(in db: Database) throws {
        let count: Int64? = try value(.probes, in: db)
        try set(.probes, (count ?? 0) &+ 1, in: db)
    }

    private static func value<Value: DatabaseValueConvertible>(_ key: Key, in db: Database) throws -> Value? {
        try Value.fetchOne(db.cachedStatement(sql: StoreStatement.meta.sql), arguments: [key.rawValue])
    }

    private static func set(_ key: Key, _ value: some DatabaseValueConvertible, in db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"
        ).execute(arguments: [key.rawValue, value])
    }
}
