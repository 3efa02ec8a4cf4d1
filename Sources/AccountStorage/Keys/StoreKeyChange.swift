import Foundation
import GRDB
import RefreshCore

/// Changes the store's key while the store is in use.
///
/// The store needs both keys from `begin` on, and only the new one after the last `reseal`. If the process ends in
/// between, the store opens with both keys and continues where it was.
package struct StoreKeyChange {
    let connection: StoreConnection

    /// Identifies the key that everything new is sealed with (`StoreKey.identifier`).
    package var keyIdentifier: String { connection.keys.newest.identifier }

    /// Whether `reseal` has more to do.
    package var isBeingResealed: Bool { connection.keys.next != nil }

    /// Identifies the key that the last change replaced, and that has to be destroyed; nil after `forgetRetiredKey`.
    package func retiredKeyIdentifier() throws(StoreError) -> String? {
        try connection.read { db in try Meta.value(.retiredKeyID, in: db) }
    }

    /// Seals everything new with `key` from now on. The key must already be on disk.
    ///
    /// - Precondition: no change is under way, and `key` is not the current key.
    package func begin(to key: StoreKey) throws(StoreError) {
        precondition(!isBeingResealed, "one change of the key at a time")
        precondition(key != connection.keys.current, "the key does not change")
        try connection.write { db in try Meta.setNextKey(key, in: db) }
        connection.keys.next = key
    }

    /// Seals the secrets of the next accounts with the new key, in one transaction. After the last ones, the old key is
    /// retired.
    ///
    /// - Parameter limit: how many accounts; each takes about 20 µs.
    package func reseal(limit: Int) throws(StoreError) -> ResealedBatch {
        guard let next = connection.keys.next else { return ResealedBatch(accounts: 0, unreadable: 0, isLast: true) }
        let batch = try connection.write { db in
            let batch = try resealNext(limit, in: db)
            if batch.isLast { try Meta.adoptKey(next, retiring: connection.keys.current, in: db) }
            return batch
        }
        if batch.isLast {
            connection.keys = SealingKeys(current: next)
            // The log still has values that are sealed with the old key.
            connection.forgetLog()
            UpgradeCopy.remove(of: connection.path)
        }
        return batch
    }

    /// Where the retired key was before anything of it was destroyed; nil if that is not recorded.
    package func retiredKeyPlace() throws(StoreError) -> StoreKeyPlace? {
        let name: String? = try connection.read { db in try Meta.value(.retiredKeyPlace, in: db) }
        return name.flatMap(StoreKeyPlace.init)
    }

    /// Records where the retired key is, which can no longer be seen once it is destroyed.
    package func setRetiredKeyPlace(_ place: StoreKeyPlace) throws(StoreError) {
        try connection.write { db in try Meta.set(.retiredKeyPlace, place.rawValue, in: db) }
    }

    /// Records that the retired key was destroyed.
    package func forgetRetiredKey() throws(StoreError) {
        UpgradeCopy.remove(of: connection.path)
        try connection.write { db in try Meta.remove([.retiredKeyID, .retiredKeyPlace], in: db) }
    }

    /// The secrets in a row of `accountsToReseal`: the column of each, what it is, and the statement that writes it.
    private static let registrationSecrets: [(index: Int, column: SealedColumn, statement: StoreStatement)] = [
        (1, .clientSecret, .resealClientSecret), (2, .clientKey, .resealClientKey), (3, .dpopKey, .resealDPoPKey),
        (4, .registrationToken, .resealRegistrationToken),
    ]

    private func resealNext(_ limit: Int, in db: Database) throws -> ResealedBatch {
        let start: Int64 = try Meta.value(.resealCursor, in: db) ?? 0
        let accounts = try Row.fetchAll(
            db.cachedStatement(sql: StoreStatement.accountsToReseal.sql),
            arguments: [start, limit]
        )
        guard let last: Int64 = accounts.last?[0] else {
            return ResealedBatch(accounts: 0, unreadable: 0, isLast: true)
        }
        var unreadable = 0
        for row in accounts {
            for (index, column, statement) in Self.registrationSecrets {
                guard let sealed: Data = row[index] else { continue }
                let place = AccountColumns.place(column, of: AccountID(row[0]))
                try reseal(sealed, at: place, by: statement, row: row[0], &unreadable, in: db)
            }
        }
        let tokens = try Row.fetchAll(
            db.cachedStatement(sql: StoreStatement.tokensToReseal.sql),
            arguments: [start, last]
        )
        for row in tokens {
            guard let place = SealedPlace(tokenRow: row) else {
                unreadable += 1
                continue
            }
            try reseal(row[5], at: place, by: .resealToken, row: row[0], &unreadable, in: db)
        }
        try Meta.set(.resealCursor, last, in: db)
        return ResealedBatch(accounts: accounts.count, unreadable: unreadable, isLast: false)
    }

    /// Reseals one value. A value that neither key opens stays as it is, and is counted.
    private func reseal(
        _ sealed: Data,
        at place: SealedPlace,
        by statement: StoreStatement,
        row: Int64,
        _ unreadable: inout Int,
        in db: Database
    ) throws {
        do {
            guard let resealed = try connection.sealer.reseal(sealed, at: place) else { return }
            try db.cachedStatement(sql: statement.sql).execute(arguments: [resealed, row])
        } catch StoreError.sealBroken {
            unreadable += 1
        }
    }
}

/// The result of one step of changing the key.
package struct ResealedBatch: Hashable, Sendable {
    package var accounts: Int
    /// Secrets that neither key opens. They were damaged before, and are left as they are.
    package var unreadable: Int
    /// Whether nothing is sealed with the old key any more, except unreadable values.
    package var isLast: Bool
}

extension SealedPlace {
    /// The place of a row of `tokensToReseal`; nil if its kind is unknown.
    init?(tokenRow row: Row) {
        guard let column = SealedColumn(kind: row[2]) else { return nil }
        self.init(account: AccountID(row[1]), column: column, generation: Generation(row[4]), target: row[3])
    }
}
