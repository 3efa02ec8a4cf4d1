import Foundation
import GRDB
import RefreshCore

/// The columns of an account's registration and policy, written and read in one order.
enum AccountColumns {
    /// Those that an owner may change; the issuer's columns are written by it, too.
    static let names = [
        "name", "provider", "client_id", "authentication", "client_secret", "scopes", "refresh_parameters",
        "basic_encoding", "lead_time_usec", "rotation_grace_usec", "refresh_token_lifetime_usec",
        "allowed_callers", "subject", "kept_fields", "client_key", "client_key_id", "team_id", "dpop_key",
        "registration_uri", "registration_token", "redirect_uri", "redirect_port", "redirect_scheme",
        "provider_variables", "service_grant", "grant_terms",
        "subject_account", "actor_account", "authorization_parameters", "authorization_details",
        "client_secret_expires_usec", "post_logout_uri", "provider_settings", "subject_id", "actor_id",
    ]

    /// Everything that makes a `Record`, in the order `record(from:)` reads.
    static let recordNames = ["id", "issuer_id", "created_usec"] + names + StateColumns.names
    static let recordColumns = recordNames.joined(separator: ", ")

    static func values(of account: Account, sealer: Sealer) throws -> ColumnValues {
        let registration = account.registration
        let seal = { (secret: Secret?, column: SealedColumn) in
            try secret.map { try sealer.seal($0, for: place(column, of: account.id)) }
        }
        return [
            SQLValue(account.name.text),
            SQLValue(account.provider),
            SQLValue(registration.clientID),
            SQLValue(registration.authentication?.rawValue),
            try SQLValue(seal(registration.clientSecret, .clientSecret)),
            // RFC 6749 §3.3: a scope token holds no white space, so a line each is unambiguous.
            SQLValue(registration.scopes.joined(separator: "\n")),
            try SQLValue(JSONColumn.text(ofMap: registration.refreshParameters)),
            SQLValue(account.basicCredentialEncoding?.rawValue),
            SQLValue(account.policy.leadTime?.microseconds),
            SQLValue(account.policy.rotationGrace?.microseconds),
            SQLValue(account.policy.refreshTokenLifetime?.microseconds),
            try SQLValue(account.allowedCallers.map { try JSONColumn.text(of: StoredCallers($0)) }),
            SQLValue(account.grantFacts.subject),
            try SQLValue(JSONColumn.text(ofMap: account.grantFacts.keptFields)),
            try SQLValue(seal(registration.clientKey, .clientKey)),
            SQLValue(registration.clientKeyID),
            SQLValue(registration.teamID),
            try SQLValue(seal(registration.dpopKey, .dpopKey)),
            SQLValue(registration.management?.uri),
            try SQLValue(seal(registration.management?.accessToken, .registrationToken)),
            SQLValue(registration.redirect.uri),
            SQLValue(registration.redirect.port),
            SQLValue(registration.redirect.scheme),
            try SQLValue(JSONColumn.text(ofMap: account.providerVariables)),
            SQLValue(registration.serviceGrant?.kind.rawValue),
            try SQLValue(StoredGrantTerms(registration.serviceGrant).map(JSONColumn.text)),
            SQLValue(registration.serviceGrant?.exchange?.subject.account.text),
            SQLValue(registration.serviceGrant?.exchange?.actor?.account.text),
            try SQLValue(JSONColumn.text(ofMap: registration.authorizationParameters)),
            SQLValue(registration.authorizationDetails),
            SQLValue(registration.clientSecretExpiresAt?.microseconds),
            SQLValue(registration.redirect.postLogoutURI),
            try SQLValue(JSONColumn.text(ofMap: account.providerSettings)),
            SQLValue(registration.serviceGrant?.exchange?.subject.id?.rawValue),
            SQLValue(registration.serviceGrant?.exchange?.actor?.id?.rawValue),
        ]
    }

    /// Where a secret of an account's registration stands; it belongs to no generation.
    static func place(_ column: SealedColumn, of account: AccountID) -> SealedPlace {
        SealedPlace(account: account, column: column, generation: Generation(0))
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
        let clientSecret = try secret(.clientSecret, of: id, from: &reader, sealer)
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
        let clientKey = try secret(.clientKey, of: id, from: &reader, sealer)
        let clientKeyID = reader.text()
        let teamID = reader.text()
        let dpopKey = try secret(.dpopKey, of: id, from: &reader, sealer)
        let managementURI = reader.text()
        let managementToken = try secret(.registrationToken, of: id, from: &reader, sealer)
        var redirect = RegisteredRedirect(uri: reader.text(), port: try reader.port(), scheme: reader.text())
        let variables = try reader.required(reader.text(), "provider_variables")
        let serviceGrant = try serviceGrant(from: &reader)
        let authorizationParameters = try reader.required(reader.text(), "authorization_parameters")
        let authorizationDetails = reader.text()
        let clientSecretExpiresAt = try reader.timestamp()
        redirect.postLogoutURI = reader.text()
        let settings = try reader.required(reader.text(), "provider_settings")
        let (subjectID, actorID) = (reader.integer(), reader.integer())
        var registration = ClientRegistration(
            clientID: clientID,
            authentication: authentication,
            clientSecret: clientSecret,
            clientSecretExpiresAt: clientSecretExpiresAt,
            clientKey: clientKey,
            clientKeyID: clientKeyID,
            teamID: teamID,
            dpopKey: dpopKey,
            serviceGrant: serviceGrant,
            scopes: scopes.split(separator: "\n").map(String.init),
            refreshParameters: try reader.required(JSONColumn.map(from: parameters), "refresh_parameters", .notJSON),
            authorizationParameters: try reader.required(
                JSONColumn.map(from: authorizationParameters),
                "authorization_parameters",
                .notJSON
            ),
            authorizationDetails: authorizationDetails,
            redirect: redirect,
            management: managementURI.flatMap { uri in
                managementToken.map { RegistrationManagement(uri: uri, accessToken: $0) }
            }
        )
        registration.serviceGrant?.exchange?.subject.id = subjectID.map(AccountID.init)
        registration.serviceGrant?.exchange?.actor?.id = actorID.map(AccountID.init)
        return Account(
            id: id,
            name: name,
            issuer: issuer,
            provider: provider,
            providerVariables: try reader.required(
                JSONColumn.map(from: variables),
                "provider_variables",
                .notJSON
            ),
            providerSettings: try reader.required(JSONColumn.map(from: settings), "provider_settings", .notJSON),
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

    /// Nil for an account of a person.
    private static func serviceGrant(from reader: inout ColumnReader) throws(StoreError) -> ServiceGrant? {
        let kind = try reader.choice(ServiceGrant.Kind.self)
        let text = reader.text()
        let subject = try reader.accountName()
        let actor = try reader.accountName()
        guard let kind else { return nil }
        let terms = text.flatMap { JSONColumn.value(StoredGrantTerms.self, from: $0) }
        switch kind {
        case .clientCredentials: return .clientCredentials
        case .jwtBearer: return .jwtBearer(try reader.required(terms, "grant_terms", .notJSON).assertion)
        case .tokenExchange:
            let subject = try reader.required(subject, "subject_account")
            let exchange = terms?.exchange(from: subject, actor)
            return .tokenExchange(try reader.required(exchange, "grant_terms", .notJSON))
        }
    }

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
