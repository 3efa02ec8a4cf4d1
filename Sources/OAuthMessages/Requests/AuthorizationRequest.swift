internal import Crypto
package import RefreshCore
internal import TextEncodings

/// The input for sending a person's browser to an authorization server (RFC 6749 §4.1.1).
package struct AuthorizationRequest: Sendable {
    package var client: RequestingClient
    package var redirectURI: String
    package var responseType = ResponseType.code
    /// A random value that comes back with the answer and binds it to this request (RFC 9700 §2.1).
    package var state: Secret
    /// Whether a program listens at `redirectURI`. If not, the person copies the address.
    package var isListening = false
    /// A random value that comes back in the ID token; nil sends none.
    package var nonce: Secret?
    /// The code verifier to which the code is bound (RFC 7636 §4.1). Only its hash is sent.
    package var codeVerifier: Secret
    /// The scopes to ask for; nil for the account's scopes, or else the profile's.
    package var scopes: [String]?
    package var prompt: String?
    /// Whether the server is known to need no consent for a refresh token, or not to know `prompt=consent`.
    package var needsNoConsent = false
    /// Whether to let the person choose who signs in, unless the server says that it has no such choice.
    package var choosesPerson = false
    package var loginHint: String?
    /// The wanted authentication contexts, the best first (OpenID Connect Core §3.1.2.1).
    package var acrValues: [String] = []
    /// How long ago the person may have signed in at the server. Sent in whole seconds.
    package var maxAge: Duration?
    /// The claims to ask for, a JSON object (OpenID Connect Core §5.5).
    package var claims: String?

    package init(
        client: RequestingClient,
        redirectURI: String,
        state: Secret,
        nonce: Secret? = nil,
        codeVerifier: Secret
    ) {
        self.client = client
        self.redirectURI = redirectURI
        self.state = state
        self.nonce = nonce
        self.codeVerifier = codeVerifier
    }
}

extension AuthorizationRequest {
    /// All parameters, in the order in which they are sent. A property of the request takes precedence over the account's
    /// parameter, and the account's over the profile's. The words of `prompt` are joined.
    package var parameters: [(name: String, value: String)] {
        let own = required + asked
        let extra = usual.filter { name, _ in !own.contains { $0.name == name } }
        let all = own + extra.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return client.registration.claimingCapabilities(in: all)
    }

    /// The scopes to ask the person for: the request's, or else the account's, or else the profile's.
    private var askedScopes: [String] { client.scopes(scopes) }

    /// Whether the person is asked for consent.
    package var asksForConsent: Bool {
        let words = parameters.first { $0.name == "prompt" }?.value.split(separator: " ") ?? []
        return words.contains { $0 == RequestingClient.consent }
    }

    private var usual: [String: String] { client.usualParameters }

    /// The words of `prompt` (OpenID Connect Core §3.1.2.1), unless they are only those that are sent at each sign-in.
    /// Those stay, because Google gives a refresh token only with `consent`. `none` is sent alone.
    private var joinedPrompt: String? {
        let asked = prompt
        guard asked != "none" else { return asked }
        let owed = owesConsent ? RequestingClient.consent : nil
        guard asked != nil || owed != nil else { return nil }
        let words = [usual["prompt"], asked, owed].compactMap(\.self).flatMap { $0.split(separator: " ") }
            .filter { $0 != "none" }
        return words.reduce(into: [Substring]()) { if !$0.contains($1) { $0.append($1) } }.joined(separator: " ")
    }

    private var owesConsent: Bool {
        responseType.hasCode
            && client.asksForConsent(askedScopes, isUnneeded: needsNoConsent)
    }

    private var signIn: SignInProfile { client.profile?.signIn ?? SignInProfile() }

    private var required: [(name: String, value: String)] {
        var fields = [
            (name: "response_type", value: responseType.rawValue),
            ("client_id", client.registration.clientID),
            ("redirect_uri", redirectURI), ("state", state.reveal()),
        ]
        if let mode = responseMode { fields.append(("response_mode", mode.rawValue)) }
        if signIn.sendsCodeChallenge, responseType.hasCode {
            fields += [("code_challenge", Self.challenge(of: codeVerifier)), ("code_challenge_method", "S256")]
        }
        // RFC 9449 §10: the code can then be used only with the account's key.
        if let key = client.registration.dpopKey, let thumbprint = try? DPoPKey(stored: key).thumbprint {
            fields.append(("dpop_jkt", thumbprint))
        }
        if !askedScopes.isEmpty {
            let separator = client.profile?.scopeSeparator ?? " "
            fields.append((signIn.scopeParameter ?? "scope", askedScopes.joined(separator: separator)))
        }
        return fields
    }

    /// The response mode. By default, an ID token comes after the "#" of the address (OAuth 2.0 Multiple Response Type
    /// Encoding Practices §3), and browsers do not send that part to a listener.
    private var responseMode: ResponseMode? {
        guard responseType.hasIDToken else { return signIn.responseMode }
        return signIn.responseMode
            ?? (redirectURI.hasPrefix("http://") && isListening ? .formPost : nil)
    }

    private var asked: [(name: String, value: String)] {
        let fields: [(name: String, value: String?)] = [
            ("nonce", nonce?.reveal()),
            ("prompt", joinedPrompt),
            ("login_hint", loginHint),
            ("acr_values", acrValues.isEmpty ? nil : acrValues.joined(separator: " ")),
            ("max_age", maxAge.map { String($0.components.seconds) }),
            ("claims", claims),
            // RFC 9396 §2: the value is the same whether it is pushed, signed or put into the address.
            ("authorization_details", client.registration.authorizationDetails),
        ]
        return fields.compactMap { field in field.value.map { (field.name, $0) } }
    }

    /// The code challenge for a verifier (RFC 7636 §4.2).
    static func challenge(of verifier: Secret) -> String {
        unsafe Base64URL.encode(verifier.withBytes { unsafe SHA256.hash(data: $0) })
    }
}

extension AuthorizationRequest {
    /// The `nonce` to send if the ID token must contain the hash of `nonce`: its SHA-256 in lower-case hexadecimal
    /// digits.
    package static func hashedNonce(_ nonce: Secret) -> Secret {
        let digest = unsafe nonce.withBytes { unsafe SHA256.hash(data: $0) }
        let digits = Array("0123456789abcdef".utf8)
        return Secret(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// `text` as it is sent in `authorization_details`, without white space; nil if it is not a JSON array of objects
    /// that each have a `type` (RFC 9396 §2).
    package static func details(_ text: String) -> String? {
        // The text is read as the only member of an object. A text that adds members of its own is refused.
        let wrapped = JSONTree.object(in: Array(#"{"value":\#(text)}"#.utf8))
        guard let wrapped, wrapped.count == 1, case .array(let details)? = wrapped["value"], !details.isEmpty,
            details.allSatisfy({ $0.fields?["type"]?.text?.isEmpty == false })
        else { return nil }
        return String(decoding: JSONTree.array(details).bytes, as: UTF8.self)
    }
}

extension Endpoint {
    /// The URL with `parameters` added to its query, for a browser. Its own query stays, and no parameter is sent twice
    /// (RFC 6749 §3.1).
    ///
    /// A space is written as `%20`, which readers of forms and of URLs both understand. `+` is a space only in forms:
    /// Apple's own dialog in Safari then ignores the scopes, and a hop that encodes the address again makes it `%2B`.
    package func url(adding parameters: [(name: String, value: String)]) -> String {
        let mark = url.firstIndex(of: "?")
        let own = mark.flatMap { FormEncoding.parse(url[url.index(after: $0)...]) } ?? [:]
        let added = parameters.filter { own[$0.name] == nil }
        let query = String(decoding: FormEncoding.body(added), as: UTF8.self).replacing("+", with: "%20")
        guard let mark else { return url + "?" + query }
        let isOpen = url.index(after: mark) == url.endIndex || url.hasSuffix("&")
        return url + (isOpen ? "" : "&") + query
    }
}
