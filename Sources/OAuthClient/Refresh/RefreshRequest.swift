internal import JOSE
package import RefreshCore

/// The input of one refresh (RFC 6749 §6).
package struct RefreshRequest: Sendable {
    package var client: RequestingClient
    package var refreshToken: RefreshToken
    /// The token to ask for; nil for the account's default access token.
    package var target: TokenTarget?
    /// The whole scope of the grant, for a server that requires it in the request; nil to name none. Only without a
    /// token target.
    package var scopes: [String]?
    /// The claims that a resource server wants in the token: a JSON object (OpenID Connect Core §5.5, Entra). Nil sends
    /// none.
    package var claims: String?
    /// Whether the server has answered a refresh or sign-in of this account with tokens before, with the same
    /// registration.
    ///
    /// If it has, and now answers `invalid_request`, it means the token, not the form of the request.
    package var hasWorkedBefore: Bool
    /// The subject of the grant, from the id_token of the sign-in. An id_token in the answer is compared with it. Nil
    /// if it is not known.
    package var subject: String?
    /// Whether the server may replace the refresh token. A late answer is then worth waiting for.
    package var mayRotate: Bool
    /// How long the server still accepts a refresh token that it has replaced; nil if that is not known.
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

/// The result of one refresh.
package struct RefreshOutcome: Sendable {
    package let result: Result<TokenResponse, RefreshFailure>
    /// The server's clock (`Date`) at the time of the answer; nil if the answer has none.
    package let serverDate: Timestamp?
    /// The form in which this server accepts Basic credentials, if this refresh found it out. To be stored.
    package let basicCredentialEncoding: BasicCredentialEncoding?
    /// What is wrong with the id_token of the answer; nil if nothing is. A wrong id_token is left out of the result.
    /// The tokens are kept all the same: the old ones may be spent, and the server that issued these also issued the
    /// wrong id_token.
    package let idTokenFault: String?
    /// The claims that the next sign-in of the person should ask for, a JSON object (Entra's `claims`); nil if the
    /// server wants none.
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
    /// This outcome with `tokens` in its result.
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
    /// What is wrong with the id_token that came with the refresh (OpenID Connect Core §12.2); nil if nothing is, or if
    /// the subject of the grant is not known.
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

/// The form of a provider's refresh requests, if it is not that of RFC 6749 §6.
package struct RefreshForm: Hashable, Sendable {
    /// The token that is sent to get a new access token.
    package enum Credential: String, Hashable, Sendable, CaseIterable {
        case refreshToken = "refresh_token"
        /// The previous access token, while it is valid: the provider has no refresh tokens (Facebook, Instagram).
        case accessToken = "access_token"
    }

    /// The HTTP method of the request.
    package enum Method: String, Hashable, Sendable, CaseIterable {
        case post
        /// GET with the fields in the query, including credentials (Instagram). RFC 6749 §2.3.1 forbids this.
        case get
    }

    package var credential = Credential.refreshToken
    /// The value of `grant_type`: `fb_exchange_token`.
    package var grantType = Self.standard
    /// The name of the field with the token: `fb_exchange_token`.
    package var parameter = Self.standard
    package var method = Method.post

    package init() {}

    /// The name of the field and the value of `grant_type` in RFC 6749 §6.
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

/// How to exchange the access token of a sign-in for another one at once, at a provider whose code brings only a token
/// that does not last (Instagram). The address is the profile's `exchange_endpoint`.
package struct ExchangeForm: Hashable, Sendable {
    /// The value of `grant_type`: `ig_exchange_token`; nil sends none.
    package var grantType: String?
    /// The name of the field with the token.
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
    /// A word of printable ASCII without spaces; nil if the key is absent.
    func word(_ name: String) throws -> String? {
        try converted(name, "is no word") { $0.isWord ? $0 : nil }
    }

    /// The name of the field with a token; nil if the key is absent.
    func credentialParameter(_ name: String) throws -> String? {
        let parameter = try word(name)
        guard let parameter, ["grant_type", "client_id", "client_secret"].contains(parameter) else { return parameter }
        throw error(name, "has a name that the request itself uses: \(parameter)")
    }
}
