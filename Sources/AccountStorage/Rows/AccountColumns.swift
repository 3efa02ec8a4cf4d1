import AuthRefreshInterface
import Foundation
import GRDB
import RefreshCore

/// The columns of an account besides its state, written and read in one order.
enum AccountColumns {
    /// The columns that an owner may change, and what an exchange or a sign-in found out. The issuer's column is
    /// written with them.
    static let names = [
        "name", "settings", "subject_account", "subject_id", "actor_account", "actor_id", "deriver", "allowed_callers",
        "client_secret", "client_secret_expires_usec", "client_key", "dpop_key", "registration_uri",
        "registration_token", "basic_encoding", "subject", "kept_fields", "grant_facts",
    ]

    /// All columns of a `Record`, in the order in which `record(from:)` reads them.
    static let recordNames = ["id", "issuer_id", "created_usec"] + names + StateColumns.names
    static let recordColumns = recordNames.joined(separator: ", ")

    private static let inserted = ["id", "issuer_id", "needs_route", "created_usec"] + names + StateColumns.names

    static let insert = """
        INSERT INTO account (\(inserted.joined(separator: ", ")))
        VALUES (\(inserted.map { _ in "?" }.joined(separator: ", ")))
        """

    static let update = """
        UPDATE account SET \(names.map { "\($0) = ?" }.joined(separator: ", ")), issuer_id = ?, needs_route = ?
        WHERE id = ?
        """

    static func values(of account: Account, sealer: Sealer) throws -> ColumnValues {
        let registration = account.registration
        let exchange = registration.serviceGrant?.exchange
        let seal = { (secret: Secret?, column: SealedColumn) in
            try SQLValue(secret.map { try sealer.seal($0, for: place(column, of: account.id)) })
        }
        return [
            SQLValue(account.name.text),
            SQLValue(try JSONColumn.text(of: StoredSettings(AccountSettings(account)))),
            SQLValue(exchange?.subject.account.text),
            SQLValue(exchange?.subject.id?.rawValue),
            SQLValue(exchange?.actor?.account.text),
            SQLValue(exchange?.actor?.id?.rawValue),
            try SQLValue(exchange?.deriver.map { try JSONColumn.text(of: $0) }),
            try SQLValue(account.allowedCallers.map { try JSONColumn.text(of: $0) }),
            try seal(registration.clientSecret, .clientSecret),
            SQLValue(registration.clientSecretExpiresAt?.microseconds),
            try seal(registration.clientKey, .clientKey),
            try seal(registration.dpopKey, .dpopKey),
            SQLValue(registration.management?.uri),
            try seal(registration.management?.accessToken, .registrationToken),
            SQLValue(account.basicCredentialEncoding?.rawValue),
            SQLValue(account.grantFacts.subject),
            try SQLValue(JSONColumn.text(ofMap: account.grantFacts.keptFields)),
            try SQLValue(JSONColumn.text(ofFacts: account.grantFacts)),
        ]
    }

    /// The place of a secret in an account's registration. It belongs to no generation.
    static func place(_ column: SealedColumn, of account: AccountID) -> SealedPlace {
        SealedPlace(account: account, column: column, generation: Generation(0))
    }

    static func account(
        _ id: AccountID,
        issuer: Issuer,
        from reader: inout ColumnReader,
        sealer: Sealer,
        readSettings: (String) -> StoredSettings?
    ) throws(StoreError) -> Account {
        let name = try reader.required(reader.text().flatMap(AccountName.init), "name", .malformed)
        let text = try reader.required(reader.text(), "settings")
        let stored = try reader.required(readSettings(text), "settings", .notJSON)
        if let unknown = stored.unknown { throw .damagedRow(id, column: "settings.\(unknown)", .unknownWord) }
        var settings = stored.settings
        let (subject, subjectID) = (try reader.accountName(), reader.integer().map(AccountID.init))
        let (actor, actorID) = (try reader.accountName(), reader.integer().map(AccountID.init))
        let deriver = try value(SeenProgram.self, "deriver", from: &reader)
        (settings.subjectAccount, settings.actorAccount) = (subject?.text, actor?.text)
        guard settings.clientId != nil else { throw .damagedRow(id, column: "settings.clientId", .missing) }
        if let setting = settings.outOfBounds { throw .damagedRow(id, column: "settings.\(setting.name)", .outOfRange) }
        var finding: SettingFinding?
        var account = Account(name: name, issuer: issuer, settings: settings, finding: &finding)
        if let finding { throw .damagedRow(id, column: "settings.\(finding.setting)", finding.flaw) }
        account.id = id
        account.registration.serviceGrant?.exchange?.subject.id = subjectID
        account.registration.serviceGrant?.exchange?.actor?.id = actorID
        account.registration.serviceGrant?.exchange?.deriver = deriver
        account.allowedCallers = try value(AllowedCallers.self, "allowed_callers", from: &reader)
        account.registration.clientSecret = try secret(.clientSecret, of: id, from: &reader, sealer)
        account.registration.clientSecretExpiresAt = try reader.timestamp()
        account.registration.clientKey = try secret(.clientKey, of: id, from: &reader, sealer)
        account.registration.dpopKey = try secret(.dpopKey, of: id, from: &reader, sealer)
        let managementURI = reader.text()
        if let token = try secret(.registrationToken, of: id, from: &reader, sealer), let managementURI {
            account.registration.management = RegistrationManagement(uri: managementURI, accessToken: token)
        }
        account.basicCredentialEncoding = try reader.choice(BasicCredentialEncoding.self)
        let person = reader.text()
        let keptFields = try reader.required(reader.text(), "kept_fields")
        account.grantFacts = try value(GrantFacts.self, "grant_facts", from: &reader) ?? GrantFacts()
        account.grantFacts.subject = person
        account.grantFacts.keptFields =
            try reader.required(JSONColumn.map(from: keptFields), "kept_fields", .notJSON)
        return account
    }

    /// The value of a JSON column; nil if it is NULL.
    private static func value<Value: Decodable>(
        _ type: Value.Type,
        _ column: String,
        from reader: inout ColumnReader
    ) throws(StoreError) -> Value? {
        guard let text = reader.text() else { return nil }
        return try reader.required(JSONColumn.value(type, from: text), column, .notJSON)
    }

    /// Opens the secret in a column; nil if it is NULL.
    ///
    /// - Throws: `sealBroken`.
    private static func secret(
        _ column: SealedColumn,
        of account: AccountID,
        from reader: inout ColumnReader,
        _ sealer: Sealer
    ) throws(StoreError) -> Secret? {
        guard let sealed = reader.bytes() else { return nil }
        return try sealer.open(sealed, at: place(column, of: account))
    }
}
