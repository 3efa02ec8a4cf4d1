internal import Crypto
internal import JOSE
internal import RefreshCore
internal import TextEncodings

/// The parameters of an authorization request, in the order in which they are sent.
struct AuthorizationParameters {
    let request: AuthorizationRequest

    /// Request parameters with a value of their own in `request` go before those of the account, these before the profile's; words of
    /// `prompt` are joined.
    var all: [(name: String, value: String)] {
        let own = required + asked
        let extra = usual.filter { name, _ in !own.contains { $0.name == name } }
        return own + extra.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// What the person is asked to grant: the request's scopes, the account's, or the profile's.
    var scopes: [String] { request.client.scopes(request.scopes) }

    /// What the account and the profile ask for at every sign-in.
    private var usual: [String: String] {
        signIn.authorizationParameters
            .merging(request.client.registration.authorizationParameters) { _, account in account }
    }

    /// OpenID Connect Core §3.1.2.1: a list of words. Those that are asked for at every sign-in stay: Google gives a refresh token only
    /// with `consent`. `none` stands alone.
    private var prompt: String? {
        guard let asked = request.prompt, asked != "none" else { return request.prompt }
        let words = [usual["prompt"] ?? "", asked].flatMap { $0.split(separator: " ") }.filter { $0 != "none" }
        return words.reduce(into: [Substring]()) { if !$0.contains($1) { $0.append($1) } }.joined(separator: " ")
    }

    private var signIn: SignInProfile { request.client.profile?.signIn ?? SignInProfile() }

    private var required: [(name: String, value: String)] {
        var fields = [
            (name: "response_type", value: "code"), ("client_id", request.client.registration.clientID),
            ("redirect_uri", request.redirectURI), ("state", request.state.reveal()),
        ]
        if let mode = signIn.responseMode { fields.append(("response_mode", mode.rawValue)) }
        switch signIn.pkce {
        case .s256:
            fields += [("code_challenge", Self.challenge(of: request.codeVerifier)), ("code_challenge_method", "S256")]
        case .none:
            break
        }
        // RFC 9449 §10: the code is good for the holder of the key alone.
        if let key = request.client.registration.dpopKey, let thumbprint = try? DPoPKey(stored: key).thumbprint {
            fields.append(("dpop_jkt", thumbprint))
        }
        if !scopes.isEmpty {
            let separator = request.client.profile?.scopeSeparator ?? " "
            fields.append((signIn.scopeParameter ?? "scope", scopes.joined(separator: separator)))
        }
        return fields
    }

    private var asked: [(name: String, value: String)] {
        let fields: [(name: String, value: String?)] = [
            ("nonce", request.nonce?.reveal()),
            ("prompt", prompt),
            ("login_hint", request.loginHint),
            ("acr_values", request.acrValues.isEmpty ? nil : request.acrValues.joined(separator: " ")),
            ("max_age", request.maxAge.map { String($0.components.seconds) }),
            ("claims", request.claims),
            // RFC 9396 §2: what is pushed, signed or put into the address is the same.
            ("authorization_details", request.client.registration.authorizationDetails),
        ]
        return fields.compactMap { field in field.value.map { (field.name, $0) } }
            + request.resources.map { ("resource", $0) }
    }

    /// RFC 7636 §4.2.
    static func challenge(of verifier: Secret) -> String {
        unsafe Base64URL.encode(verifier.withBytes { unsafe SHA256.hash(data: $0) })
    }
}
