import Foundation
import GRDB
import RefreshCore

/// The columns of an account's registration and policy, written and read in one order.
enum AccountColumns {
    /// Those that an owner may change; the issuer's columns are written by it, too.
    static let names = [
        "name", "provider", "client_id", "authentication", "client_secret", "scopes", "refresh_parameters",
        "basic_encoding", "lead_time_usec", "rotation_grace_usec", "refresh_token_lifetime_usec",
        "allowed_callers", "subject", "kept_fields",
    ]

    /// Everything that makes a `Record`, in the order `record(from:)` reads.
    static let recordNames = ["id", "issuer_id", "created_usec"] + names + StateColumns.names
    static let recordColumns = recordNames.joined(separator: ", ")

    static func values(of account: Account, sealer: Sealer) throws -> ColumnValues {
        let registration = account.registration
        return [
            account.name.text,
            account.provider,
            registration.clientID,
            registration.authentication?.rawValue,
            try registration.clientSecret.map { try sealer.seal($0, for: clientSecretPlace(account.id)) },
            // RFC 6749 §3.3: a scope token holds no white space, so a line each is unambiguous.
            registration.scopes.joined(separator: "\n"),
            try JSONColumn.text(ofMap: registration.refreshParameters),
            account.basicCredentialEncoding?.rawValue,
            account.policy.leadTime?.microseconds,
            account.policy.rotationGrace?.microseconds,
            account.policy.refreshTokenLifetime?.microseconds,
            try account.allowedCallers.map { try JSONColumn.text(of: StoredCallers($0)) },
            account.grantFacts.subject,
            try JSONColumn.text(ofMap: account.grantFacts.keptFields),
        ]
    }

    /// Where the client secret of an account stands; it belongs to no generation.
    static func clientSecretPlace(_ account: AccountID) -> SealedPlace {
        SealedPlace(account: account, column: .clientSecret, generation: Generation(0))
    }

    static func account(
        _ id: AccountID,
        issuer: Issuer,
        from reader: inout ColumnReader,
        sealer: Sealer
    ) throws(StoreError) -> Account {
        let name = try reader.required(reader.text().flatMap(AccountName.init), "name", .malformed)
        let provider = reader.text()
        let clientID = try reader.required(reader.text(), "client_id")
        let authentication = try reader.choice(ClientAuthentication.self)
        var clientSecret: Secret?
        if let sealed = reader.bytes() { clientSecret = try sealer.open(sealed, at: clientSecretPlace(id)) }
        let scopes = try reader.required(reader.text(), "scopes")
        let parameters = try reader.required(reader.text(), "refresh_parameters")
        let encoding = try reader.choice(BasicCredentialEncoding.self)
        let policy = RefreshPolicy(
            leadTime: try reader.duration(),
            rotationGrace: try reader.duration(),
            refreshTokenLifetime: try reader.duration()
        )
        var allowedCallers: AllowedCallers?
        if let text = reader.text() {
            // What cannot be read is not taken for "everybody".
            let stored = JSONColumn.value(StoredCallers.self, from: text)?.callers
            allowedCallers = try reader.required(stored, "allowed_callers", .notJSON)
        }
        let subject = reader.text()
        let keptFields = try reader.required(reader.text(), "kept_fields")
        let registration = ClientRegistration(
            clientID: clientID,
            authentication: authentication,
            clientSecret: clientSecret,
            scopes: scopes.split(separator: "\n").map(String.init),
            refreshParameters: try reader.required(JSONColumn.map(from: parameters), "refresh_parameters", .notJSON)
        )
        return Account(
            id: id,
            name: name,
            issuer: issuer,
            provider: provider,
            registration: registration,
            policy: policy,
            basicCredentialEncoding: encoding,
            allowedCallers: allowedCallers,
            grantFacts: GrantFacts(
                subject: subject,
                keptFields: try reader.required(JSONColumn.map(from: keptFields), "kept_fields", .notJSON)
            )
        )
    }
}
