internal import Crypto
internal import NIOHTTP1
internal import TextEncodings

// The authorization endpoint and the exchange of its codes.
extension IssuerState {
    /// The authorization endpoint (RFC 6749 §3.1): returns a page that asks the person.
    mutating func authorization(_ admission: Admission, at now: Duration) -> Answer {
        guard let form = FormFields(admission.request.query.utf8), let client = form["client_id"].flatMap(client),
            let redirectURI = form["redirect_uri"],
            client.takes(redirectURI: redirectURI, wholly: ledger.policy.comparesWholeRedirectURIs)
        else {
            // RFC 6749 §4.1.2.1: do not send errors to an address that may be anybody's.
            note(admission.draft, .malformed, at: now)
            return DemoPages.refusal("The client or its redirect URI is unknown here.")
        }
        var draft = admission.draft
        draft.clientID = client.id
        var request = SignInDesk.Request(
            clientID: client.id,
            redirectURI: redirectURI,
            state: form["state"],
            scope: form["scope"] ?? "demo",
            challenge: form["code_challenge"],
            nonce: form["nonce"],
            responseType: form["response_type"] ?? "",
            isFormPost: form["response_mode"] == "form_post",
            loginHint: form["login_hint"],
            policy: form["p"]
        )
        if let details = form["authorization_details"] {
            guard let types = Self.detailTypes(in: details) else {
                note(draft, .malformed, at: now)
                return sendBack(request, [("error", "invalid_authorization_details")])
            }
            request.detailTypes = types
        }
        guard Self.responseTypes.contains(request.responseType) else {
            note(draft, .malformed, at: now)
            return sendBack(request, [("error", "unsupported_response_type")])
        }
        let isS256 = form["code_challenge_method"] == "S256" && request.challenge != nil
        let needsProofKey = ledger.policy.requiresProofKey && request.givesCode
        guard isS256 || request.challenge == nil && !needsProofKey else {
            note(draft, .malformed, at: now)
            return sendBack(request, [("error", "invalid_request"), ("error_description", "PKCE with S256 is wanted")])
        }
        let asksForConsent = form["prompt"]?.split(separator: " ").contains("consent") ?? false
        guard !asksForConsent || !ledger.policy.refusesConsentPrompt else {
            note(draft, .malformed, at: now)
            return sendBack(request, [("error", "invalid_request"), ("error_description", "prompt is not known here")])
        }
        let id = randomText("demo-ask-")
        desk.requests[id] = request
        note(draft, .asked, at: now)
        return DemoPages.consent(request, id: id)
    }

    /// Handles the person's decision on the page.
    mutating func decision(_ admission: Admission, at now: Duration) -> Answer {
        guard let form = admission.form, let id = form["request"], let request = desk.requests[id] else {
            note(admission.draft, .malformed, at: now)
            return DemoPages.refusal("This page was answered before, or is too old.")
        }
        desk.requests[id] = nil
        var draft = admission.draft
        draft.clientID = request.clientID
        guard form["decision"] == "allow" else {
            note(draft, .denied, at: now)
            let policyReason = request.policy.flatMap { _ in form["decision"].flatMap { Self.policyReasons[$0] } }
            let reason = policyReason ?? "The person said no."
            return sendBack(request, [("error", "access_denied"), ("error_description", reason)])
        }
        let subject = form["subject"] ?? "alice"
        var answer: [(String, String)] = []
        if request.givesCode {
            let code = randomText("demo-code-")
            desk.codes[code] = SignInDesk.IssuedCode(request: request, subject: subject, issuedAt: now)
            answer.append(("code", code))
        }
        if request.givesIDToken, let client = client(request.clientID) {
            // OpenID Connect Core §3.3.2.11: the hash of the code that comes with it.
            let code = ledger.policy.misbindsCodes ? "another" : answer.first?.1
            let token = idToken(for: subject, client, nonce: request.nonce, code: code, at: now)
            answer += token.map { [("id_token", $0)] } ?? []
        }
        note(draft, .approved, at: now)
        return sendBack(request, answer)
    }

    /// What a person can do on a policy's pages other than consent or refuse, as Azure AD B2C reports it.
    private static let policyReasons = [
        "forgotten": "AADB2C90118: The user has forgotten their password.",
        "cancel": "AADB2C90091: The user has cancelled entering self-asserted information.",
    ]

    /// The supported response types (OAuth 2.0 Multiple Response Type Encoding Practices §3, §5).
    static let responseTypes = ["code", "id_token", "code id_token"]

    /// Ends a person's session (OpenID Connect RP-Initiated Logout §2). It requires one of our tokens, because nothing
    /// else says whose session it is.
    mutating func sessionEnd(_ admission: Admission, at now: Duration) -> Answer {
        let form = FormFields(admission.request.query.utf8)
        var draft = admission.draft
        draft.clientID = form?["client_id"].flatMap(client)?.id
        let audience = form?["id_token_hint"].flatMap { signer.claims(of: $0)?["aud"]?.string }
        guard let audience, audience == draft.clientID else {
            note(draft, .malformed, at: now)
            return DemoPages.refusal("This server does not know whose session that is.")
        }
        note(draft, .sessionEnded, at: now)
        return DemoPages.notice("You are signed out")
    }

    /// Exchanges a code (RFC 6749 §4.1.3).
    ///
    /// - Parameter policy: the policy in the token endpoint's address; nil if it names none.
    mutating func exchange(
        _ form: FormFields,
        policy: String?,
        _ client: DemoClient,
        _ draft: RequestLog.Draft,
        at now: Duration
    ) -> Answer {
        guard let code = form["code"], let issued = desk.codes[code], issued.request.clientID == client.id else {
            note(draft, .unknownCode, at: now)
            return .oauthError("invalid_grant", "the code is unknown, or another client's")
        }
        if let family = issued.family {
            // RFC 6749 §4.1.2: the code was used twice, so its tokens may be in the wrong hands.
            _ = ledger.revokeGrant(family)
            note(draft, .spentCodeUsed, at: now)
            return .oauthError("invalid_grant", "the code was used before; the grant is revoked")
        }
        let isBound = issued.request.challenge.map { $0 == Self.challenge(of: form["code_verifier"] ?? "") } ?? true
        guard isBound, form["redirect_uri"] == issued.request.redirectURI,
            now < issued.issuedAt + SignInDesk.codeLifetime
        else {
            note(draft, .unknownCode, at: now)
            return .oauthError("invalid_grant", "the code has ended, or does not belong to this request")
        }
        guard policy?.lowercased() == issued.request.policy?.lowercased() else {
            note(draft, .unknownCode, at: now)
            let reason = "AADB2C90088: The provided grant has not been issued for this endpoint."
            return .oauthError("invalid_grant", reason)
        }
        let tokens = openGrant(clientID: client.id, subject: issued.subject, scope: issued.request.scope, at: now)
        desk.codes[code]?.family = tokens.position.family
        note(draft, .opened, at: now)
        return answer(
            with: tokens,
            subject: issued.subject,
            nonce: issued.request.nonce,
            policy: issued.request.policy.map { ledger.policy.claimedPolicy ?? $0 },
            detailTypes: issued.request.detailTypes,
            to: client,
            at: now
        )
    }

    /// The first tokens of a grant, with an ID token if `openid` was granted.
    func answer(
        with tokens: IssuedTokens,
        subject: String,
        nonce: String?,
        policy: String? = nil,
        detailTypes: [String] = [],
        to client: DemoClient,
        at now: Duration
    ) -> Answer {
        let isOpenID = ledger.policy.issuesIDTokensUnasked || tokens.scope.split(separator: " ").contains("openid")
        let idToken = isOpenID ? idToken(for: subject, client, nonce: nonce, policy: policy, at: now) : nil
        return tokenAnswer(tokens, idToken: idToken, detailTypes: detailTypes, at: now)
    }

    /// Sends the browser back with the answer, including the issuer (RFC 9207 §2).
    private func sendBack(_ request: SignInDesk.Request, _ answer: [(String, String)]) -> Answer {
        var fields = answer + (request.state.map { [("state", $0)] } ?? [])
        if ledger.policy.namesIssuer { fields.append(("iss", issuer)) }
        if request.isFormPost { return DemoPages.formPost(to: request.redirectURI, fields) }
        let query = fields.map { "\(FormEncoding.encode($0.0))=\(FormEncoding.encode($0.1))" }.joined(separator: "&")
        // RFC 9207 §3: an answer with a token goes after the "#", unless another mode was requested.
        let mark = request.givesIDToken ? "#" : request.redirectURI.contains("?") ? "&" : "?"
        return Answer(status: 303, headers: [("Location", request.redirectURI + mark + query)])
    }

    /// The types in an array of objects; nil if it is not such an array, or if an object has no type.
    private static func detailTypes(in text: String) -> [String]? {
        guard let details = JSONValue(text)?.elements else { return nil }
        let types = details.compactMap { $0["type"]?.string }
        return types.count == details.count ? types : nil
    }

    /// The challenge for a verifier (RFC 7636 §4.6).
    private static func challenge(of verifier: String) -> String {
        Base64URL.encode(SHA256.hash(data: Array(verifier.utf8)))
    }

    /// A random name that nobody can guess.
    func randomText(_ prefix: String) -> String {
        (0..<2).reduce(prefix) { text, _ in text + OpaqueToken.hexadecimal(.random(in: 0...UInt64.max)) }
    }
}
