internal import JOSE
package import RefreshCore

/// What one refresh needs (RFC 6749 §6).
package struct RefreshRequest: Sendable {
    package var client: RequestingClient
    package var refreshToken: RefreshToken
    /// What is asked for; nil for the account's default access token.
    package var target: TokenTarget?
    /// The whole scope of the grant, where the server has to be told it; nil names none. Only without a token target.
    package var scopes: [String]?
    /// What a resource server wants the token to say: a JSON object (OpenID Connect Core §5.5, Entra). Nil sends nothing.
    package var claims: String?
    /// Whether the server has answered this account with tokens before, with the same registration: to a refresh, or to a sign-in.
    ///
    /// A server that then answers `invalid_request` means the token, not the form of the request.
    package var hasWorkedBefore: Bool
    /// Whose grant it is, by the id_token of the sign-in: an id_token that comes with the refresh is compared with it. Nil if that is
    /// not known.
    package var subject: String?
    /// Whether the server may replace the refresh token: then a late answer is worth waiting for.
    package var mayRotate: Bool
    /// For how long the server still takes a refresh token that it has replaced; nil if that is not known.
    package var rotationGrace: Duration?

    package init(
        client: RequestingClient,
        refreshToken: RefreshToken,
        target: TokenTarget? = nil,
        hasWorkedBefore: Bool = false,
        subject: String? = nil,
        mayRotate: Bool = true,
        rotationGrace: Duration? = nil
    ) {
        self.client = client
        self.refreshToken = refreshToken
        self.target = target
        self.hasWorkedBefore = hasWorkedBefore
        self.subject = subject
        self.mayRotate = mayRotate
        self.rotationGrace = rotationGrace
    }
}

/// What came of one refresh.
package struct RefreshOutcome: Sendable {
    package let result: Result<TokenResponse, RefreshFailure>
    /// The server's clock (`Date`) when it answered; nil if it said nothing.
    package let serverDate: Timestamp?
    /// How Basic credentials have to be written for this server, if this refresh found it out: to be stored.
    package let basicCredentialEncoding: BasicCredentialEncoding?
    /// What is wrong with the id_token of the answer, which is left out of the result then; nil if nothing is. The tokens are good:
    /// the old ones may be spent, and whatever is wrong came from the server that issued these.
    package let idTokenFault: String?
    /// The claims that the server wants the person's sign-in to ask for, a JSON object (Entra's `claims`); nil if it wants none.
    package let demandedClaims: String?

    package init(
        result: Result<TokenResponse, RefreshFailure>,
        serverDate: Timestamp? = nil,
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        idTokenFault: String? = nil,
        demandedClaims: String? = nil
    ) {
        self.demandedClaims = demandedClaims
        self.idTokenFault = idTokenFault
        self.result = result
        self.serverDate = serverDate
        self.basicCredentialEncoding = basicCredentialEncoding
    }
}

extension RefreshOutcome {
    /// The same with `tokens`.
    func with(_ tokens: TokenResponse) -> RefreshOutcome {
        RefreshOutcome(
            result: .success(tokens),
            serverDate: serverDate,
            basicCredentialEncoding: basicCredentialEncoding,
            idTokenFault: idTokenFault,
            demandedClaims: demandedClaims
        )
    }
}

extension RefreshRequest {
    /// What is wrong with the id_token that came with the refresh (OpenID Connect Core §12.2); nil if nothing is, or if it is not known
    /// whose it should be.
    func fault(of token: Secret?) -> String? {
        guard let token, let subject else { return nil }
        var validation = IDTokenValidation(issuer: client.issuer, clientID: client.registration.clientID)
        validation.issuerTemplate = client.profile?.issuerTemplate
        validation.issuerAliases = client.profile?.issuerAliases ?? []
        validation.policy = client.profile?.policies.demand
        do throws(JOSEError) {
            _ = try validation.continued(token, subject: subject)
            return nil
        } catch {
            return error.summary
        }
    }
}

/// How a refresh is asked for, where that is not RFC 6749 §6's way.
package struct RefreshForm: Hashable, Sendable {
    /// What is given for a new access token.
    package enum Credential: String, Hashable, Sendable, CaseIterable {
        case refreshToken = "refresh_token"
        /// The access token before, as long as it lives: the provider has no refresh tokens (Facebook, Instagram).
        case accessToken = "access_token"
    }

    /// How the request goes out.
    package enum Method: String, Hashable, Sendable, CaseIterable {
        case post
        /// The fields stand in the query, credentials included (Instagram). RFC 6749 §2.3.1 forbids that to everybody else.
        case get
    }

    package var credential = Credential.refreshToken
    /// `grant_type`: `fb_exchange_token`.
    package var grantType = Self.standard
    /// The field that carries the credential: `fb_exchange_token`.
    package var parameter = Self.standard
    package var method = Method.post

    package init() {}

    /// What both are called by RFC 6749 §6.
    package static let standard = "refresh_token"
}

extension RefreshForm {
    enum Key: String, CaseIterable {
        case credential = "refresh_with"
        case grantType = "refresh_grant_type"
        case parameter = "refresh_token_parameter"
        case method = "refresh_method"
    }

    /// - Throws: `DecodingError` at the key whose value cannot be used.
    init(_ fields: StrictFields) throws {
        credential = try fields.choice(Key.credential.rawValue) ?? .refreshToken
        grantType = try fields.word(Key.grantType.rawValue) ?? Self.standard
        parameter = try fields.credentialParameter(Key.parameter.rawValue) ?? Self.standard
        method = try fields.choice(Key.method.rawValue) ?? .post
    }
}

/// How the access token that a sign-in brought is exchanged for another one at once, where a provider's code brings only one that
/// does not last (Instagram). Where that is asked is the profile's `exchange_endpoint`.
package struct ExchangeForm: Hashable, Sendable {
    /// `grant_type`: `ig_exchange_token`; nil sends none.
    package var grantType: String?
    /// The field that carries the token.
    package var parameter = Self.standard
    package var method = RefreshForm.Method.post

    package init() {}

    package static let standard = "access_token"
}

extension ExchangeForm {
    enum Key: String, CaseIterable {
        case grantType = "exchange_grant_type"
        case parameter = "exchange_token_parameter"
        case method = "exchange_method"
    }

    /// - Throws: `DecodingError` at the key whose value cannot be used.
    init(_ fields: StrictFields) throws {
        grantType = try fields.word(Key.grantType.rawValue)
        parameter = try fields.credentialParameter(Key.parameter.rawValue) ?? Self.standard
        method = try fields.choice(Key.method.rawValue) ?? .post
    }
}

extension StrictFields {
    /// Printable ASCII without spaces; nil if the key is absent.
    func word(_ name: String) throws -> String? {
        try converted(name, "is no word") { $0.isWord ? $0 : nil }
    }

    /// The name of the field that carries a token; nil if the key is absent.
    func credentialParameter(_ name: String) throws -> String? {
        let parameter = try word(name)
        guard let parameter, ["grant_type", "client_id", "client_secret"].contains(parameter) else { return parameter }
        throw error(name, "has a name that the request itself uses: \(parameter)")
    }
}
