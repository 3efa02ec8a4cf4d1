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
}

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

extension OAuthClient {
    /// What is sent for a `nonce` whose hash the ID token is to have: its SHA-256 in lower-case hexadecimal digits.
    package static func hashedNonce(_ nonce: Secret) -> Secret {
        let digest = unsafe nonce.withBytes { unsafe SHA256.hash(data: $0) }
        let digits = Array("0123456789abcdef".utf8)
        return Secret(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// `text` as it is sent in `authorization_details`, without white space; nil if it is no JSON array of objects that each have a
    /// `type` (RFC 9396 §2).
    package static func authorizationDetails(_ text: String) -> String? {
        // Read as the only member of an object: what brings members of its own is no value.
        let wrapped = JSONValue.object(in: Array(#"{"value":\#(text)}"#.utf8))
        guard let wrapped, wrapped.count == 1, case .array(let details)? = wrapped["value"], !details.isEmpty,
            details.allSatisfy({ $0.fields?["type"]?.text?.isEmpty == false })
        else { return nil }
        return String(decoding: JSONValue.array(details).bytes, as: UTF8.self)
    }
}

extension OAuthClient {
    /// An authorization request as one signed token (RFC 9101), for a server that takes nothing else.
    ///
    /// - Throws: `misconfigured` if the account has no key that can sign it.
    func requestObject(
        of parameters: [(name: String, value: String)],
        by client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) throws(RefreshFailure) -> Secret {
        guard let key = client.registration.clientKey else {
            throw client.misconfigured(
                "the server takes signed authorization requests only, and the account has no client key"
            )
        }
        do throws(JOSEError) {
            let signer = try TokenSigner(
                key: PrivateKey(key),
                keyID: client.registration.clientKeyID,
                offered: metadata.requestObjectSigningAlgorithms
            )
            return try RequestObject.make(
                parameters,
                clientID: client.registration.clientID,
                audience: metadata.issuer.url,
                signer: signer,
                now: configuration.now(),
                random: AuthenticatedPost.newIdentifier()
            )
        } catch {
            throw client.misconfigured("the authorization request cannot be signed: \(error.summary)")
        }
    }
}

extension OAuthClient {
    /// Where to send the person's browser: the server's authorization endpoint, with the request in its query or pushed to the
    /// server beforehand (RFC 9126).
    @concurrent package func authorizationURL(
        for request: AuthorizationRequest
    ) async -> Result<AuthorizationURL, RefreshFailure> {
        do throws(RefreshFailure) {
            var request = request
            let client = request.client
            if let name = ReservedParameter.first(
                in: client.registration.authorizationParameters,
                among: ReservedParameter.authorizationNames
            ) {
                throw client.misconfigured(ReservedParameter.summary, detail: name)
            }
            let metadata = try await metadata(for: client)
            guard let endpoint = metadata.endpoints.authorization else {
                throw client.misconfigured("the server has no authorization endpoint: it signs nobody in by a browser")
            }
            request.scopes = client.scopes(request.scopes, offeredBy: metadata)
            let offersChoice = metadata.promptValues?.contains(Self.choice) ?? true
            if request.choosesPerson, request.prompt == nil, offersChoice { request.prompt = Self.choice }
            var parameters = AuthorizationParameters(request: request).all
            let name = (name: "client_id", value: client.registration.clientID)
            // OpenID Connect Core §6.1 wants to see these two in the address as well, and so do some servers of a pushed request. Others
            // pass over what stands beside it (RFC 9101 §5).
            let frame = parameters.filter { ["response_type", "scope"].contains($0.name) }
            let isSigned = metadata.requiresSignedRequestObjects
            if isSigned {
                parameters = [name, ("request", try requestObject(of: parameters, by: client, metadata).reveal())]
            }
            let pushed = try await push(parameters, of: request, metadata)
            let sent = pushed.map { [name, ("request_uri", $0.uri)] + frame } ?? parameters + (isSigned ? frame : [])
            return .success(
                AuthorizationURL(
                    url: endpoint.url(adding: sent),
                    host: endpoint.host,
                    expiresIn: pushed?.expiresIn,
                    requiresIssuer: client.profile?.signIn.callbackIssuer.map { $0 == .required }
                        ?? metadata.namesIssuerInResponses,
                    issuer: client.issuer.url,
                    checksCodeChallenge: Self.checksCodeChallenge(client.profile, metadata)
                )
            )
        } catch {
            return .failure(error)
        }
    }

    /// The prompt by which people choose who signs in (OpenID Connect Core §3.1.2.1).
    private static let choice = "select_account"

    /// Whether the server checks code challenges (RFC 7636 §4.6), by what it publishes or by what its profile says.
    ///
    /// A server that publishes no methods, as Entra, may check them or ignore them (RFC 8414 §2).
    private static func checksCodeChallenge(_ profile: ProviderProfile?, _ metadata: AuthorizationServerMetadata)
        -> Bool
    {
        if let pkce = profile?.signIn.pkce { return pkce == .s256 }
        return metadata.codeChallengeMethods?.contains("S256") == true
    }

    /// What a server makes of a pushed request.
    private struct PushedRequest {
        let uri: String
        let expiresIn: Duration
    }

    /// Nil if the request goes into the query.
    private func push(
        _ parameters: [(name: String, value: String)],
        of request: AuthorizationRequest,
        _ metadata: AuthorizationServerMetadata
    ) async throws(RefreshFailure) -> PushedRequest? {
        let usage = request.client.profile?.signIn.pushedRequests ?? .usual
        guard usage != .never else { return nil }
        let isRequired = metadata.requiresPushedAuthorizationRequests || usage == .always
        guard let endpoint = metadata.endpoints.pushedAuthorizationRequest else {
            guard !isRequired else {
                throw request.client.misconfigured("the server takes pushed requests only, and says not where")
            }
            return nil
        }
        // A client that proves itself gains by pushing; for a public one it changes little.
        let method = authenticationMethod(
            of: request.client.registration,
            profile: request.client.profile,
            offered: metadata.tokenEndpointAuthenticationMethods
        )
        guard isRequired || method != .none else { return nil }
        let conclusion = await post(from: request.client, to: endpoint, metadata).run(parameters) { answer, body in
            (200...299).contains(answer.status) && Self.pushedRequest(in: body) != nil
        }
        if conclusion.row == nil, let body = conclusion.body { return Self.pushedRequest(in: body) }
        let secrets = [request.state, request.codeVerifier] + (request.nonce.map { [$0] } ?? [])
        let failure = request.client.failure(conclusion, hiding: secrets, now: configuration.now())
        // Some servers publish the endpoint and keep it for chosen clients. What is wrong with the request itself, the browser
        // will show; a client that is not known will not get tokens either.
        let isOwnFault = failure.detail.oauthError == "invalid_client"
        let isRefusal = failure.detail.httpStatus.map { (400...499).contains($0) && $0 != 429 } ?? false
        guard !isRequired, isRefusal, !isOwnFault else { throw failure }
        return nil
    }

    /// RFC 9126 §2.2.
    private static func pushedRequest(in body: AnswerBody) -> PushedRequest? {
        guard let uri = body.fields["request_uri"]?.text, uri.isWord, uri.utf8.count <= 2048 else { return nil }
        // §2.2 wants 5 to 600 s: a server that does not say gets what is shortest.
        let seconds = body.fields["expires_in"]?.seconds ?? 5
        return PushedRequest(uri: uri, expiresIn: .seconds(Int64(min(max(seconds, 1), 600))))
    }
}

extension Endpoint {
    /// The URL with `parameters` behind the query that it has (RFC 6749 §3.1).
    func url(adding parameters: [(name: String, value: String)]) -> String {
        let query = String(decoding: FormEncoding.body(parameters), as: UTF8.self)
        guard let mark = url.firstIndex(of: "?") else { return url + "?" + query }
        let isOpen = url.index(after: mark) == url.endIndex || url.hasSuffix("&")
        return url + (isOpen ? "" : "&") + query
    }
}
