internal import TextEncodings

// Metadata, introspection, and the only protected resource.
extension IssuerState {
    /// The server's metadata (RFC 8414 §3).
    func metadata() -> Answer {
        let grantTypes = [
            "authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code",
            Self.jwtBearer, Self.tokenExchange,
        ]
        let isOpen = ledger.policy.registration != .closed
        return .json([
            ("issuer", JSONText.quote(issuer)),
            ("token_endpoint", JSONText.quote(issuer + "/token")),
            ("revocation_endpoint", JSONText.quote(issuer + "/revoke")),
            ("introspection_endpoint", JSONText.quote(issuer + "/introspect")),
            ("userinfo_endpoint", JSONText.quote(issuer + "/userinfo")),
            ("authorization_endpoint", JSONText.quote(issuer + "/authorize")),
            ("device_authorization_endpoint", JSONText.quote(issuer + "/device_authorization")),
            ("jwks_uri", JSONText.quote(issuer + "/jwks")),
            ("end_session_endpoint", JSONText.quote(issuer + "/end_session")),
            ("registration_endpoint", isOpen ? JSONText.quote(issuer + "/register") : nil),
            ("grant_types_supported", JSONText.array(grantTypes)),
            ("response_types_supported", JSONText.array(Self.responseTypes)),
            ("response_modes_supported", JSONText.array(["query", "fragment", "form_post"])),
            ("code_challenge_methods_supported", JSONText.array(["S256"])),
            ("id_token_signing_alg_values_supported", JSONText.array(["ES256"])),
            ("subject_types_supported", JSONText.array(["public"])),
            // RFC 9207 §3.
            ("authorization_response_iss_parameter_supported", "\(ledger.policy.namesIssuer)"),
            // oidc-agent does not use a server that does not list its scopes.
            ("scopes_supported", JSONText.array(["openid", "offline_access", "demo"])),
            (
                "token_endpoint_auth_methods_supported",
                JSONText.array(["none", "client_secret_basic", "client_secret_post"])
            ),
        ])
    }

    /// The introspection endpoint (RFC 7662 §2).
    mutating func introspection(_ admission: Admission, at now: Duration) -> Answer {
        inquiry(admission, at: now) { state, token, _, draft in
            state.note(draft, .introspected, at: now)
            guard let live = state.ledger.liveToken(token, at: now) else { return .json([("active", "false")]) }
            return .json([
                ("active", "true"),
                ("scope", JSONText.quote(live.scope)),
                ("client_id", JSONText.quote(live.clientID)),
                ("sub", JSONText.quote(live.subject)),
                ("aud", live.audiences.isEmpty ? nil : JSONText.array(live.audiences)),
                ("exp", live.expiresAt.map { "\($0.wholeSeconds)" }),
                ("token_type", live.isRefreshToken ? nil : JSONText.quote("Bearer")),
                ("iss", JSONText.quote(state.issuer)),
            ])
        }
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
        // OpenID Connect Core §5.4: the scopes decide which other claims are returned.
        let tellsAddress = live.scope.split(separator: " ").contains("openid")
        return .json([
            ("sub", JSONText.quote(live.subject)),
            ("scope", JSONText.quote(live.scope)),
            ("email", tellsAddress ? JSONText.quote(live.subject + "@example.org") : nil),
            ("act", live.actor.map(JSONText.quote)),
        ])
    }
}
