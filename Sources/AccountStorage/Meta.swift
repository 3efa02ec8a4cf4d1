import Foundation
import GRDB
import RefreshCore

/// The few values that belong to the whole store.
enum Meta {
    enum Key: String {
        case keyID = "key_id"
        case keyCheck = "key_check"
        case nextKeyID = "next_key_id"
        case nextKeyCheck = "next_key_check"
        case resealCursor = "reseal_cursor"
        case retiredKeyID = "retired_key_id"
        case scheduleOffset = "schedule_offset_usec"
        case probes
        case clockBootID = "clock_boot_id"
        case clockOffset = "clock_wall_minus_boot_usec"
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

    static func value<Value: DatabaseValueConvertible>(_ key: Key, in db: Database) throws -> Value? {
        try Value.fetchOne(db.cachedStatement(sql: StoreStatement.meta.sql), arguments: [key.rawValue])
    }

    static func set(_ key: Key, _ value: some DatabaseValueConvertible, in db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"
        ).execute(arguments: [key.rawValue, value])
    }

    static func remove(_ keys: [Key], in db: Database) throws {
        for key in keys {
            try db.cachedStatement(sql: "DELETE FROM meta WHERE key = ?").execute(arguments: [key.rawValue])
        }
    }
}
