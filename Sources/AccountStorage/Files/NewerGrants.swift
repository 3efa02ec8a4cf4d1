import Foundation
import GRDB
import RefreshCore

/// Takes newer grants over from the store that a backup replaces.
///
/// A server that rotates refresh tokens ends the grant if the daemon sends an old one again. So the backup's accounts get
/// the grants that the replaced store has received since, as far as they are for the same client and person. A grant that
/// was parked since stays parked, because another machine uses it, and one that may be spent stays so. An account that was
/// removed since is parked.
struct NewerGrants {
    /// The replaced store, or a copy of it.
    let old: AccountStore
    /// The backup.
    let new: AccountStore

    private static let batch = 256

    /// Takes them over.
    ///
    /// - Returns: how many accounts have got a newer grant, and how many could not get theirs because it cannot be read.
    func take() throws(StoreError) -> (taken: Int, unreadable: Int) {
        var (taken, unreadable) = (0, 0)
        var last: Int64 = 0
        while true {
            let accounts = try old.connection.read { db in try Candidate.batch(after: last, in: db) }
            guard let end = accounts.last?.id else { return (taken, unreadable) }
            last = end
            let outdated = try new.connection.read { db in
                try accounts.filter { try $0.isNewer(than: .find($0.id, in: db)) }
            }
            for account in outdated {
                do throws(StoreError) {
                    if try take(AccountID(account.id)) { taken += 1 }
                } catch {
                    guard error.damagedAccount != nil else { throw error }
                    unreadable += 1
                }
            }
        }
    }

    /// Parks the accounts of the backup that were removed since, because whoever exported a grant to move it removes its
    /// account, and another machine may use it.
    ///
    /// - Returns: how many were parked.
    func parkRemoved() throws(StoreError) -> Int {
        // Numbers are never given twice. An account with a higher number was never in the old store: it may be a new one,
        // made after the former store was lost.
        let highest = try old.connection.read { db in
            try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'account'")
        }
        var (parked, last) = (0, Int64(0))
        while true {
            let accounts = try new.connection.read { db in try Candidate.batch(after: last, in: db) }
            guard let end = accounts.last?.id, let highest, last < highest else { return parked }
            last = end
            let removed = try old.connection.read { db in
                try accounts.map(\.id).filter { try $0 <= highest && Candidate.find($0, in: db) == nil }
            }
            guard !removed.isEmpty else { continue }
            parked += try new.connection.write { db in
                try removed.reduce(0) { try $0 + AccountStore.park($1...$1, .moved, in: db) }
            }
        }
    }

    /// Takes over one account's grant.
    ///
    /// - Returns: false if it is the grant of another client.
    private func take(_ id: AccountID) throws(StoreError) -> Bool {
        guard let newer = try old.record(id), let backup = try new.record(id),
            newer.account.holdsGrant(like: backup.account)
        else { return false }
        let tokens = try tokens(of: id)
        var account = backup.account
        account.grantFacts = newer.account.grantFacts
        if let management = newer.account.registration.management {
            // The server may have issued a new secret to the client that it has registered.
            account.registration.management = management
            account.registration.clientSecret = newer.account.registration.clientSecret
            account.registration.clientSecretExpiresAt = newer.account.registration.clientSecretExpiresAt
        }
        try new.connection.write { db in
            try new.update(account, in: db)
            try db.execute(sql: "DELETE FROM token_set WHERE account_id = ?", arguments: [id.rawValue])
            try db.execute(sql: "DELETE FROM token WHERE account_id = ?", arguments: [id.rawValue])
            for token in tokens { try new.tokens.put(token.secret, type: token.type, at: token.place, in: db) }
            let values = try StateColumns.values(of: newer.state, offset: new.connection.scheduleOffset)
            let columns = StateColumns.names.map { "\($0) = ?" }.joined(separator: ", ")
            let statement = try db.cachedStatement(sql: "UPDATE account SET \(columns) WHERE id = ?")
            _ = try statement.run(values + [.integer(id.rawValue)])
        }
        return true
    }

    /// The account's tokens in the old store, without those of token sets.
    private func tokens(of id: AccountID) throws(StoreError) -> [(place: SealedPlace, type: String?, secret: Secret)] {
        try old.connection.read { db in
            let statement = try db.cachedStatement(
                sql: "SELECT kind, generation, type, sealed FROM token WHERE account_id = ? AND target = ''"
            )
            return try Row.fetchAll(statement, arguments: [id.rawValue]).compactMap { row in
                guard let column = SealedColumn(kind: row[0]) else { return nil }
                let place = SealedPlace(account: id, column: column, generation: Generation(row[1]))
                return (place, row[2], try old.connection.sealer.open(row[3], at: place))
            }
        }
    }

    /// What shows, without reading a whole account, which of two grants is newer.
    private struct Candidate {
        let id: Int64
        private let createdAt: Int64
        private let generation: Int64
        /// What tells how far the generation was used.
        private let use: Use

        private struct Use: Equatable {
            let phase: String
            let reason: String?
            let isOutcomeUnknown: Bool
            let isRotating: Bool?
        }

        private init(_ row: Row) {
            (id, createdAt, generation) = (row[0], row[1], row[2])
            use = Use(phase: row[3], reason: row[4], isOutcomeUnknown: row[5], isRotating: row[6])
        }

        private static let columns =
            "id, created_usec, generation, phase, coalesce(interaction_reason, park_reason), outcome_unknown, is_rotating"

        static func batch(after last: Int64, in db: Database) throws -> [Candidate] {
            let statement = try db.cachedStatement(
                sql: "SELECT \(columns) FROM account WHERE id > ? ORDER BY id LIMIT \(NewerGrants.batch)"
            )
            return try Row.fetchAll(statement, arguments: [last]).map(Candidate.init)
        }

        static func find(_ id: Int64, in db: Database) throws -> Candidate? {
            let statement = try db.cachedStatement(sql: "SELECT \(columns) FROM account WHERE id = ?")
            return try Row.fetchOne(statement, arguments: [id]).map(Candidate.init)
        }

        /// Whether it is the same account with a newer grant, or with one that was used, refused or parked since. A request
        /// that was under way may have spent the refresh token.
        ///
        /// A grant that was parked when the backup was made stays parked, unless there is a newer one.
        func isNewer(than backup: Candidate?) -> Bool {
            guard let backup, backup.createdAt == createdAt, use.phase != "signedOut" else { return false }
            guard generation == backup.generation else { return generation > backup.generation }
            return use != backup.use && (use.phase == "parked" || backup.use.phase != "parked")
        }
    }
}

extension Account {
    /// Whether a grant of the one account can be used with the settings of the other.
    fileprivate func holdsGrant(like other: Account) -> Bool {
        issuer == other.issuer && provider == other.provider && providerVariables == other.providerVariables
            && registration.clientID == other.registration.clientID
            && registration.dpopKey == other.registration.dpopKey
            && registration.serviceGrant == nil && other.registration.serviceGrant == nil
    }
}
