import Foundation
import GRDB
import RefreshCore

/// The values that belong to the whole store.
enum Meta {
    enum Key: String {
        case keyID = "key_id"
        case keyCheck = "key_check"
        case nextKeyID = "next_key_id"
        case nextKeyCheck = "next_key_check"
        /// The last account whose secrets are sealed with the new key; 0 before the first.
        case resealCursor = "reseal_cursor"
        /// The replaced key that still has to be destroyed. Missing: there is none.
        case retiredKeyID = "retired_key_id"
        case retiredKeyPlace = "retired_key_place"
        /// The offset of the schedule's clock in µs. Missing: the wall clock was never stepped.
        case scheduleOffset = "schedule_offset_usec"
        /// Counts probes. If an update changed nothing, SQLite would not write the page.
        case probes
        /// The machine that used the store last. Missing: none with a lasting identifier.
        case machine
        case clockBootID = "clock_boot_id"
        case clockOffset = "clock_wall_minus_boot_usec"
        case crashes
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

/// The keys that a store is sealed with: one, or two while the key is being changed.
struct SealingKeys: Sendable {
    var current: StoreKey
    /// The new key, with which everything new is sealed; nil unless the key is being changed.
    var next: StoreKey?

    var sealer: Sealer {
        next.map { Sealer($0, previous: current) } ?? Sealer(current)
    }

    /// The keys that open the store and its copies.
    var all: [StoreKey] { [current, next].compactMap(\.self) }

    /// The key that everything new is sealed with.
    var newest: StoreKey { next ?? current }
}

/// What the store records about its keys: their identifiers, and a check value for each.
extension Meta {
    /// The content of a key's check value. Only whether it opens matters.
    private static var checkValue: Secret { Secret("authrefresh") }
    private static let checkPlace = SealedPlace(account: AccountID(0), column: .keyCheck, generation: Generation(0))

    /// Finds this store's keys among `keys`; a store without accounts takes the first.
    ///
    /// - Parameter keys: at least one.
    /// - Throws: `wrongKey` with the missing key; `corrupt` if the check value is damaged.
    static func findKeys(among keys: [StoreKey], path: String, in db: Database) throws -> SealingKeys {
        guard let check: Data = try value(.keyCheck, in: db) else {
            let isInUse = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM account)") ?? false
            guard !isInUse, let first = keys.first else { throw StoreError.corrupt(path: path) }
            try set(.keyID, first.identifier, in: db)
            try set(.keyCheck, Sealer(first).seal(checkValue, for: checkPlace), in: db)
            return SealingKeys(current: first)
        }
        let current = try find(check, named: value(.keyID, in: db), among: keys, path: path)
        guard let nextCheck: Data = try value(.nextKeyCheck, in: db) else { return SealingKeys(current: current) }
        let next = try find(nextCheck, named: value(.nextKeyID, in: db), among: keys, path: path)
        return SealingKeys(current: current, next: next)
    }

    private static func find(
        _ check: Data,
        named name: String?,
        among keys: [StoreKey],
        path: String
    ) throws -> StoreKey {
        if let key = keys.first(where: { (try? Sealer($0).open(check, at: checkPlace)) == checkValue }) { return key }
        let given = keys.map(\.identifier)
        let expected = name ?? "unknown"
        throw given.contains(expected)
            ? StoreError.corrupt(path: path)
            : StoreError.wrongKey(path: path, expected: expected, given: given.joined(separator: ", "))
    }

    /// Records that everything new is sealed with `key`.
    static func setNextKey(_ key: StoreKey, in db: Database) throws {
        try set(.nextKeyID, key.identifier, in: db)
        try set(.nextKeyCheck, Sealer(key).seal(checkValue, for: checkPlace), in: db)
        try set(.resealCursor, Int64(0), in: db)
    }

    /// Records that nothing is sealed with the old key any more.
    static func adoptKey(_ key: StoreKey, retiring old: StoreKey, in db: Database) throws {
        try set(.keyID, key.identifier, in: db)
        try set(.keyCheck, Sealer(key).seal(checkValue, for: checkPlace), in: db)
        try set(.retiredKeyID, old.identifier, in: db)
        try remove([.nextKeyID, .nextKeyCheck, .resealCursor, .retiredKeyPlace], in: db)
    }
}
