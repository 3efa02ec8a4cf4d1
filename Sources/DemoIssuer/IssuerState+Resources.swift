// Metadata, introspection, and the only protected resource.
extension IssuerState {
    private struct Metadata: Encodable {
        let issuer: String
        let tokenEndpoint: String
        let revocationEndpoint: String
        let introspectionEndpoint: String
        let userinfoEndpoint: String
        let authorizationEndpoint: String
        let deviceAuthorizationEndpoint: String
        let jwksUri: String
        let endSessionEndpoint: String
        let registrationEndpoint: String?
        let grantTypesSupported = [
            "authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code",
            IssuerState.jwtBearer, IssuerState.tokenExchange,
        ]
        let responseTypesSupported = IssuerState.responseTypes
        let responseModesSupported = ["query", "fragment", "form_post"]
        let codeChallengeMethodsSupported = ["S256"]
        let idTokenSigningAlgValuesSupported = ["ES256"]
        let subjectTypesSupported = ["public"]
        /// RFC 9207 §3.
        let authorizationResponseIssParameterSupported: Bool
        /// oidc-agent does not use a server that does not list its scopes.
        let scopesSupported = ["openid", "offline_access", "demo"]
        let tokenEndpointAuthMethodsSupported = ["none", "client_secret_basic", "client_secret_post"]
    }

    private struct Introspection: Encodable {
        let active: Bool
        var scope: String?
        var clientId: String?
        var sub: String?
        var aud: [String]?
        var exp: Int?
        var tokenType: String?
        var iss: String?
    }

    /// The server's metadata (RFC 8414 §3).
    func metadata() -> Answer {
        .json(
            Metadata(
                issuer: issuer,
                tokenEndpoint: issuer + "/token",
                revocationEndpoint: issuer + "/revoke",
                introspectionEndpoint: issuer + "/introspect",
                userinfoEndpoint: issuer + "/userinfo",
                authorizationEndpoint: issuer + "/authorize",
                deviceAuthorizationEndpoint: issuer + "/device_authorization",
                jwksUri: issuer + "/jwks",
                endSessionEndpoint: issuer + "/end_session",
                registrationEndpoint: ledger.policy.registration == .closed ? nil : issuer + "/register",
                authorizationResponseIssParameterSupported: ledger.policy.namesIssuer
            )
        )
    }

    /// The introspection endpoint (RFC 7662 §2).
    mutating func introspection(_ admission: Admission, at now: Duration) -> Answer {
        let (token, draft): (String, RequestLog.Draft)
        switch tokenInquiry(admission, at: now) {
        case .asked(let named, _, let noted): (token, draft) = (named, noted)
        case .refused(let answer): return answer
        }
        note(draft, .introspected, at: now)
        guard let live = ledger.liveToken(token, at: now) else { return .json(Introspection(active: false)) }
        return .json(
            Introspection(
                active: true,
                scope: live.scope,
                clientId: live.clientID,
                sub: live.subject,
                aud: live.audiences.isEmpty ? nil : live.audiences,
                exp: live.expiresAt?.wholeSeconds,
                tokenType: live.isRefreshToken ? nil : "Bearer",
                iss: issuer
            )
        )
    }

    /// A protected resource. It returns the subject of the access token, or refuses as described in RFC 6750 §3.
    mutating func userInfo(_ admission: Admission, at now: Duration) -> Answer {
        guard let token = admission.request.accessToken else {
            note(admission.draft, .accessRefused, at: now)
            // RFC 6750 §3.1: if the request has no credentials, the answer has no error code.
            return Answer(status: 401, headers: [("WWW-Authenticate", #"Bearer realm="demo""#)])
        }
        guard let live = ledger.liveToken(token, at: now), !live.isRefreshToken else {
            note(admission.draft, .accessRefused, at: now)
            let challenge = #"Bearer realm="demo", error="invalid_token", error_description="expired or revoked""#
            return Answer(status: 401, headers: [("WWW-Authenticate", challenge)])
        }
        note(admission.draft, .accessAccepted, at: now)
        var claims = ["sub": live.subject, "scope": live.scope]
        // OpenID Connect Core §5.4: the scopes decide which other claims are returned.
        if live.scope.split(separator: " ").contains("openid") { claims["email"] = live.subject + "@example.org" }
        return .json(claims.merging(live.actor.map { ["act": $0] } ?? [:]) { $1 })
    }
}
