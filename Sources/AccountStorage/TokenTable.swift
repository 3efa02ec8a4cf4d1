import Crypto
import Foundation
import GRDB
package import RefreshCore

/// The sealed tokens. Each is opened only when it is needed.
package struct TokenTable {
    let connection: StoreConnection

    /// The refresh token of this generation; nil if it is not stored.
    ///
    /// - Throws: `sealBroken`.
    package func refreshToken(of account: AccountID, generation: Generation) throws(StoreError) -> RefreshToken? {
        try refreshTokens(of: [(account, generation)])[0].get()
    }

    /// The refresh tokens of several accounts, each as from `refreshToken`, in one access to the database.
    package func refreshTokens(
        of leases: [(account: AccountID, generation: Generation)]
    ) throws(StoreError) -> [Result<RefreshToken?, StoreError>] {
        try connection.read { db in
            try leases.map { lease in
                let place = SealedPlace(account: lease.account, column: .refreshToken, generation: lease.generation)
                let sealed = try sealed(place, in: db)
                return Result { () throws(StoreError) in
                    try sealed.map { sealed throws(StoreError) in
                        RefreshToken(try connection.sealer.open(sealed, at: place))
                    }
                }
            }
        }
    }

    /// The last stored access token; nil if there is none. Whether the account still uses it is in the state.
    ///
    /// - Throws: `sealBroken`.
    package func accessToken(of account: AccountID) throws(StoreError) -> AccessToken? {
        try accessToken(of: account, target: "")
    }

    /// The last stored access token.
    ///
    /// - Parameter target: the text of a token set; empty for the account's default.
    func accessToken(of account: AccountID, target: String) throws(StoreError) -> AccessToken? {
        try connection.read { db in
            try latest(.accessToken, of: account, target: target, in: db)
                .map { AccessToken($0.secret, type: $0.type ?? "Bearer") }
        }
    }

    /// The last stored ID token (OpenID Connect Core §2); nil if there is none.
    ///
    /// - Throws: `sealBroken`.
    package func idToken(of account: AccountID) throws(StoreError) -> Secret? {
        try connection.read { db in try latest(.idToken, of: account, in: db)?.secret }
    }

    func sealed(_ place: SealedPlace, in db: Database) throws -> Data? {
        try db.bytes(
            .token,
            [
                .integer(place.account.rawValue), .text(place.column.kind), .text(place.target),
                .integer(place.generation.rawValue),
            ]
        )
    }

    /// Stores the refresh token of `tokens`, if there is one.
    func storeRefreshToken(
        of tokens: StoredTokens,
        of account: AccountID,
        generation: Generation,
        in db: Database
    ) throws {
        guard let refreshToken = tokens.refreshToken else { return }
        let place = SealedPlace(account: account, column: .refreshToken, generation: generation)
        try put(refreshToken.secret, type: nil, at: place, in: db)
    }

    /// Stores `tokens` under `generation` and replaces the old ones.
    ///
    /// - Parameter target: the text of the token set that the access token is for; empty for the account's default.
    func store(
        _ tokens: StoredTokens,
        of account: AccountID,
        generation: Generation,
        target: String = "",
        in db: Database
    ) throws {
        try storeRefreshToken(of: tokens, of: account, generation: generation, in: db)
        if let imported = tokens.imported {
            let isSpent = imported != tokens.refreshToken
            let own = isSpent ? Generation(generation.rawValue - 1) : generation
            try putCopied(imported, of: account, generation: own, in: db)
        }
        if let accessToken = tokens.accessToken {
            try replace(
                by: accessToken.secret,
                type: accessToken.type,
                at: SealedPlace(account: account, column: .accessToken, generation: generation, target: target),
                in: db
            )
        } else {
            try erase(.accessToken, of: account, target: target, in: db)
        }
        if let idToken = tokens.idToken {
            let place = SealedPlace(account: account, column: .idToken, generation: generation)
            try replace(by: idToken, at: place, in: db)
        }
    }

    // MARK: Copies that others have

    // A refresh token that was imported or exported may come back after it was spent. If the daemon sent it then, the
    // server would end the grant (RFC 9700 §4.14.2). So the store keeps digests of such tokens, each under the token's
    // generation, as long as the grant. All other tokens never leave the store.

    /// How many digests an account keeps. A grant is exported much less often.
    static let copiedMax = 100

    /// Whether `token` is a refresh token of the account's grant that was imported or exported. It may be spent.
    package func isCopied(_ token: RefreshToken, of account: AccountID) throws(StoreError) -> Bool {
        let digest = Self.digest(of: token)
        return try connection.read { db in
            let statement = try db.cachedStatement(sql: StoreStatement.copiedTokens.sql)
            return try Row.fetchAll(statement, arguments: [account.rawValue]).contains { row in
                let place = SealedPlace(account: account, column: .copiedToken, generation: Generation(row[0]))
                // A damaged digest protects nothing, and must not keep anybody from importing a grant.
                return (try? connection.sealer.open(row[1], at: place)) == digest
            }
        }
    }

    /// Records that the refresh token of this generation is exported.
    package func noteExport(
        of token: RefreshToken,
        of account: AccountID,
        generation: Generation
    ) throws(StoreError) {
        try connection.write { db in try putCopied(token, of: account, generation: generation, in: db) }
    }

    private func putCopied(
        _ token: RefreshToken,
        of account: AccountID,
        generation: Generation,
        in db: Database
    ) throws {
        let place = SealedPlace(account: account, column: .copiedToken, generation: generation)
        try put(Self.digest(of: token), type: nil, at: place, in: db)
        try db.run(.pruneCopiedTokens, [.integer(account.rawValue), .integer(Int64(Self.copiedMax))])
    }

    private static func digest(of token: RefreshToken) -> Secret {
        unsafe token.secret.withBytes { bytes in unsafe Secret(Array(SHA256.hash(data: bytes))) }
    }

    private func latest(
        _ column: SealedColumn,
        of account: AccountID,
        target: String = "",
        in db: Database
    ) throws -> (secret: Secret, type: String?)? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: StoreStatement.tokenGeneration.sql),
            arguments: [account.rawValue, column.kind, target]
        )
        guard let row else { return nil }
        let place = SealedPlace(account: account, column: column, generation: Generation(row[0]), target: target)
        let sealed: Data = row[1]
        return (try connection.sealer.open(sealed, at: place), row[2])
    }

    /// Stores a token of which an account has only one, in any generation.
    private func replace(
        by secret: Secret,
        type: String? = nil,
        at place: SealedPlace,
        in db: Database
    ) throws {
        let sealed = try connection.sealer.seal(secret, for: place)
        let changed = try db.run(
            .replaceToken,
            [
                .integer(place.generation.rawValue), SQLValue(type), .blob(sealed),
                .integer(place.account.rawValue), .text(place.column.kind), .text(place.target),
            ]
        )
        if changed == 0 { try put(sealed, type: type, at: place, in: db) }
    }

    func put(_ secret: Secret, type: String?, at place: SealedPlace, in db: Database) throws {
        try put(connection.sealer.seal(secret, for: place), type: type, at: place, in: db)
    }

    private func put(_ sealed: Data, type: String?, at place: SealedPlace, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO token (account_id, kind, target, generation, type, sealed) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET type = excluded.type, sealed = excluded.sealed
                """
        )
        try statement.run([
            .integer(place.account.rawValue), .text(place.column.kind), .text(place.target),
            .integer(place.generation.rawValue), SQLValue(type), .blob(sealed),
        ])
    }

    private func erase(_ column: SealedColumn, of account: AccountID, target: String = "", in db: Database) throws {
        try db.run(.eraseTokensOfKind, [.integer(account.rawValue), .text(column.kind), .text(target)])
    }
}
