import Foundation
import GRDB
import RefreshCore

/// Takes newer grants over from the store that a backup replaces.
///
/// A server that rotates refresh tokens ends the grant if the daemon sends an old one again. So the backup's accounts get
/// the grants that the replaced store has received since, as far as they are for the same client and person. An account
/// that was parked since stays parked, because another machine uses its grant.
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
    private func tokens(of id: AccountID) throws(StoreError) -> [(place: TokenPlace, type: String?, secret: Secret)] {
        try old.connection.read { db in
            let statement = try db.cachedStatement(
                sql: "SELECT kind, generation, type, sealed FROM token WHERE account_id = ? AND target = ''"
            )
            return try Row.fetchAll(statement, arguments: [id.rawValue]).compactMap { row in
                guard let kind = TokenKind(rawValue: row[0]) else { return nil }
                let place = TokenPlace(account: id, kind: kind, generation: Generation(row[1]))
                return (place, row[2], try old.connection.sealer.open(row[3], at: place.sealedPlace))
            }
        }
    }

    /// What shows, without reading a whole account, which of two grants is newer.
    private struct Candidate {
        let id: Int64
        private let createdAt: Int64
        private let generation: Int64
        private let phase: String

        private init(_ row: Row) {
            (id, createdAt, generation, phase) = (row[0], row[1], row[2], row[3])
        }

        private static let columns = "id, created_usec, generation, phase"

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

        /// Whether it is the same account with a newer grant, or with one that was parked since.
        func isNewer(than backup: Candidate?) -> Bool {
            guard let backup, backup.createdAt == createdAt, phase != "signedOut" else { return false }
            return generation > backup.generation
                || generation == backup.generation && phase == "parked" && backup.phase != "parked"
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
