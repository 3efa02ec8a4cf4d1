internal import TextEncodings

// The token and revocation endpoints.
extension IssuerState {
    /// The token endpoint (RFC 6749 §3.2): codes (§4.1.3), client credentials (§4.4.2), refresh tokens (§6) and
    /// device codes (RFC 8628 §3.4).
    mutating func token(_ admission: Admission, at now: Duration) -> Answer {
        var draft = admission.draft
        tokenType = admission.request.holdsProof && ledger.policy.bindsTokens ? "DPoP" : "Bearer"
        guard let form = admission.form, let grantType = form["grant_type"] else {
            note(draft, .malformed, at: now)
            return .oauthError("invalid_request", "grant_type is missing, or a parameter is doubled or badly encoded")
        }
        // RFC 7521 §4.1: the assertion identifies the client.
        if grantType == Self.jwtBearer { return assertedToken(form, draft, at: now) }
        guard let client = ClientCredentials(admission.request, form).flatMap({ authenticate($0, at: now) }) else {
            note(draft, .clientRefused, at: now)
            return Self.clientRefused
        }
        draft.clientID = client.id
        if ledger.policy.bindsGrantTypes, client.registeredMetadata?.grantTypes?.contains(grantType) == false {
            note(draft, .clientRefused, at: now)
            return .oauthError("unauthorized_client", "the client has not registered for this grant")
        }
        switch grantType {
        case "refresh_token": return refresh(form, client, draft, at: now)
        case "authorization_code":
            let policy = FormFields(admission.request.query.utf8)?["p"]
            return exchange(form, policy: policy, client, draft, at: now)
        case "urn:ietf:params:oauth:grant-type:device_code": return pollDevice(form, client, draft, at: now)
        case "client_credentials": return serviceToken(form, client, draft, at: now)
        case Self.tokenExchange: return exchangedToken(form, client, draft, at: now)
        default:
            note(draft, .malformed, at: now)
            return .oauthError(
                "unsupported_grant_type",
                "this server knows codes, device codes, refresh tokens, assertions, exchanged tokens and client credentials"
            )
        }
    }

    private mutating func refresh(
        _ form: FormFields,
        _ client: DemoClient,
        _ draft: RequestLog.Draft,
        at now: Duration
    ) -> Answer {
        guard let refreshToken = form["refresh_token"] else {
            note(draft, .malformed, at: now)
            return .oauthError("invalid_request", "refresh_token is missing")
        }
        let decision = ledger.refresh(refreshToken, clientID: client.id, asking: form.asked, at: now)
        note(draft, decision.outcome, at: now)
        return answer(decision, to: client, at: now)
    }

    private mutating func serviceToken(
        _ form: FormFields,
        _ client: DemoClient,
        _ draft: RequestLog.Draft,
        at now: Duration
    ) -> Answer {
        // RFC 6749 §4.4: only for confidential clients.
        guard let scope = client.serviceScope, client.authentication != .none else {
            note(draft, .clientRefused, at: now)
            return .oauthError("unauthorized_client", "the client may do nothing for itself")
        }
        let decision = ledger.issueServiceToken(clientID: client.id, scope: scope, asking: form.asked, at: now)
        note(draft, decision.outcome, at: now)
        return answer(decision, at: now)
    }

    /// Answers a client's question about a token, at the introspection or the revocation endpoint.
    mutating func inquiry(
        _ admission: Admission,
        at now: Duration,
        answer: (inout IssuerState, _ token: String, DemoClient, RequestLog.Draft) -> Answer
    ) -> Answer {
        var draft = admission.draft
        guard let form = admission.form, let token = form["token"] else {
            note(draft, .malformed, at: now)
            return .oauthError("invalid_request", "token is missing")
        }
        guard let client = ClientCredentials(admission.request, form).flatMap({ authenticate($0, at: now) }) else {
            note(draft, .clientRefused, at: now)
            return Self.clientRefused
        }
        draft.clientID = client.id
        draft.position = ledger.position(ofRefreshToken: token)
        return answer(&self, token, client, draft)
    }

    /// The revocation endpoint (RFC 7009 §2).
    mutating func revocation(_ admission: Admission, at now: Duration) -> Answer {
        inquiry(admission, at: now) { state, token, client, draft in
            let outcome = state.ledger.revoke(token, clientID: client.id)
            state.note(draft, outcome, at: now)
            // RFC 7009 §2.2: an unknown token is not an error, because the client's purpose is already met.
            guard outcome == .wrongClient else { return Answer(status: 200) }
            return .oauthError("unauthorized_client", "the token was issued to another client")
        }
    }

    /// RFC 6749 §5.2: 401 with the scheme to use.
    static var clientRefused: Answer {
        .oauthError(
            "invalid_client",
            "the client is unknown, or did not prove itself the way it is registered for",
            status: 401,
            headers: [("WWW-Authenticate", #"Basic realm="demo", charset="UTF-8""#)]
        )
    }

    /// An answer with tokens.
    ///
    /// - Parameters:
    ///   - issuedType: the type of an exchanged token (RFC 8693 §2.2.1).
    ///   - jwt: a requested ID token, which replaces the access token and must not be used in a header.
    func tokenAnswer(
        _ tokens: IssuedTokens,
        idToken: String? = nil,
        issuedType: String? = nil,
        jwt: String? = nil,
        detailTypes: [String] = [],
        at now: Duration
    ) -> Answer {
        let details = detailTypes.map { JSONText.object([("type", JSONText.quote($0))]) }
        return .json(
            [
                ("access_token", JSONText.quote(jwt ?? tokens.accessToken)),
                ("issued_token_type", issuedType.map(JSONText.quote)),
                ("token_type", JSONText.quote(jwt == nil ? tokenType : "N_A")),
                ("expires_in", "\((tokens.accessTokenExpiresAt - now).wholeSeconds)"),
                ("refresh_token", tokens.refreshToken.map(JSONText.quote)),
                ("scope", ledger.policy.statesScope ? JSONText.quote(tokens.scope) : nil),
                ("id_token", idToken.map(JSONText.quote)),
                ("authorization_details", details.isEmpty ? nil : "[\(details.joined(separator: ","))]"),
            ],
            // RFC 6749 §5.1 requires both.
            headers: [("Cache-Control", "no-store"), ("Pragma", "no-cache")]
        )
    }

    /// An ID token.
    ///
    /// - Parameter code: the code that comes with it from the authorization endpoint; nil if there is none.
    func idToken(
        for subject: String,
        _ client: DemoClient,
        nonce: String? = nil,
        code: String? = nil,
        policy: String? = nil,
        at now: Duration
    ) -> String? {
        signer.idToken(
            issuer,
            subject,
            client.id,
            nonce: nonce,
            code: code,
            policy: policy,
            lifetime: ledger.policy.idTokenLifetime,
            at: now
        )
    }

    /// The ID token for a refresh; nil if the answer has none.
    private func idToken(with tokens: IssuedTokens, for client: DemoClient?, at now: Duration) -> String? {
        guard let client, ledger.policy.refreshesIDTokens, tokens.scope.split(separator: " ").contains("openid") else {
            return nil
        }
        return ledger.liveToken(tokens.accessToken, at: now).flatMap { idToken(for: $0.subject, client, at: now) }
    }

    /// The answer for a decision.
    ///
    /// - Parameter client: the client whose grant was refreshed; nil if no refresh token was spent.
    func answer(_ decision: RefreshDecision, to client: DemoClient? = nil, at now: Duration) -> Answer {
        switch decision {
        case .issued(let tokens), .rotated(let tokens), .graceRepeat(let tokens):
            return tokenAnswer(tokens, idToken: idToken(with: tokens, for: client, at: now), at: now)
        case .refused(_, let code, let reason):
            return .oauthError(code, reason)
        }
    }
}
