internal import Crypto
internal import JOSE
package import RefreshCore
internal import TextEncodings

/// What has to be known to send a person's browser to an authorization server (RFC 6749 §4.1.1).
package struct AuthorizationRequest: Sendable {
    package var client: RequestingClient
    package var redirectURI: String
    package var responseType = ResponseType.code
    /// Comes back with the answer and binds it to this request (RFC 9700 §2.1).
    package var state: Secret
    /// Whether somebody listens at `redirectURI`, as opposed to a person who copies the address.
    package var isListening = false
    /// Comes back in the id_token; nil sends none.
    package var nonce: Secret?
    /// What the code is bound to (RFC 7636 §4.1); only its hash is sent.
    package var codeVerifier: Secret
    /// Nil asks for the account's, else for the profile's.
    package var scopes: [String]?
    package var prompt: String?
    /// Whether the person is to choose who signs in, if the server does not say that it cannot have them choose.
    package var choosesPerson = false
    package var loginHint: String?
    /// The best first (OpenID Connect Core §3.1.2.1).
    package var acrValues: [String] = []
    /// How long ago the person may have signed in at the server; whole seconds are sent.
    package var maxAge: Duration?
    /// A JSON object (OpenID Connect Core §5.5).
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

/// Where a person's browser has to go, and what the answer has to look like.
package struct AuthorizationURL: Sendable {
    /// Holds `state`: to be shown to the account's owner only.
    package let url: String
    /// The host that the browser will show: the authorization endpoint's.
    package let host: String
    /// How long the server keeps a pushed request; nil if it was not pushed.
    package let expiresIn: Duration?
    /// The answer must name its issuer (RFC 9207 §2.4).
    package let requiresIssuer: Bool
    /// What `iss` in the answer must be, byte for byte, if it is there.
    package let issuer: String
    /// Whether a code of another request is certain to be refused: a code challenge is sent, and the server checks it.
    package let checksCodeChallenge: Bool

    package init(
        url: String,
        host: String,
        expiresIn: Duration?,
        requiresIssuer: Bool,
        issuer: String,
        checksCodeChallenge: Bool
    ) {
        self.url = url
        self.host = host
        self.expiresIn = expiresIn
        self.requiresIssuer = requiresIssuer
        self.issuer = issuer
        self.checksCodeChallenge = checksCodeChallenge
    }
}

/// The parameters of an authorization request, in the order in which they are sent.
package struct AuthorizationParameters {
    let request: AuthorizationRequest

    package init(request: AuthorizationRequest) {
        self.request = request
    }

    /// Request parameters with a value of their own in `request` go before those of the account, these before the profile's; words of
    /// `prompt` are joined.
    package var all: [(name: String, value: String)] {
        let own = required + asked
        let extra = usual.filter { name, _ in !own.contains { $0.name == name } }
        return own + extra.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// What the person is asked to grant: the request's scopes, the account's, or the profile's.
    var scopes: [String] { request.client.scopes(request.scopes) }

    /// What the account and the profile ask for at every sign-in.
    private var usual: [String: String] {
        signIn.authorizationParameters
            .merging(request.client.registration.target) { _, target in target }
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
            (name: "response_type", value: request.responseType.rawValue),
            ("client_id", request.client.registration.clientID),
            ("redirect_uri", request.redirectURI), ("state", request.state.reveal()),
        ]
        if let mode = responseMode { fields.append(("response_mode", mode.rawValue)) }
        if signIn.sendsCodeChallenge, request.responseType.hasCode {
            fields += [("code_challenge", Self.challenge(of: request.codeVerifier)), ("code_challenge_method", "S256")]
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

    /// An ID token comes behind the "#" of the address unless something else is said (OAuth 2.0 Multiple Response Type Encoding
    /// Practices §3), and browsers send that to no listener.
    private var responseMode: ResponseMode? {
        guard request.responseType.hasIDToken else { return signIn.responseMode }
        return signIn.responseMode
            ?? (request.redirectURI.hasPrefix("http://") && request.isListening ? .formPost : nil)
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
    }

    /// RFC 7636 §4.2.
    static func challenge(of verifier: Secret) -> String {
        unsafe Base64URL.encode(verifier.withBytes { unsafe SHA256.hash(data: $0) })
    }
}

extension AuthorizationRequest {
    /// What is sent for a `nonce` whose hash the ID token is to have: its SHA-256 in lower-case hexadecimal digits.
    package static func hashedNonce(_ nonce: Secret) -> Secret {
        let digest = unsafe nonce.withBytes { unsafe SHA256.hash(data: $0) }
        let digits = Array("0123456789abcdef".utf8)
        return Secret(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// `text` as it is sent in `authorization_details`, without white space; nil if it is no JSON array of objects that each have a
    /// `type` (RFC 9396 §2).
    package static func details(_ text: String) -> String? {
        // Read as the only member of an object: what brings members of its own is no value.
        let wrapped = JSONValue.object(in: Array(#"{"value":\#(text)}"#.utf8))
        guard let wrapped, wrapped.count == 1, case .array(let details)? = wrapped["value"], !details.isEmpty,
            details.allSatisfy({ $0.fields?["type"]?.text?.isEmpty == false })
        else { return nil }
        return String(decoding: JSONValue.array(details).bytes, as: UTF8.self)
    }
}

extension Endpoint {
    /// The URL with `parameters` behind the query that it has (RFC 6749 §3.1).
    package func url(adding parameters: [(name: String, value: String)]) -> String {
        let query = String(decoding: FormEncoding.body(parameters), as: UTF8.self)
        guard let mark = url.firstIndex(of: "?") else { return url + "?" + query }
        let isOpen = url.index(after: mark) == url.endIndex || url.hasSuffix("&")
        return url + (isOpen ? "" : "&") + query
    }
}
