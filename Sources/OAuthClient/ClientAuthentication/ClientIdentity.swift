internal import JOSE
import NIOSSL
package import RefreshCore

/// The certificate by which a client proves itself in the TLS handshake (RFC 8705), with its key: the text of a PEM file.
struct ClientIdentity: Hashable, Sendable {
    private let pem: Secret

    /// Nil unless `method` is done with a certificate.
    init?(_ registration: ClientRegistration, _ method: ClientAuthentication) {
        guard method.means == .certificate, let key = registration.clientKey else { return nil }
        pem = key
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(pem.count)
    }

    /// Whether the text holds what it has to.
    var isUsable: Bool {
        var tls = TLSConfiguration.makeClientConfiguration()
        return (try? add(to: &tls)) != nil
    }

    /// Has connections present the certificate.
    ///
    /// - Throws: `clientCertificate` if the text holds no certificate, or no key without a passphrase.
    func add(to tls: inout TLSConfiguration) throws(TransportFailure) {
        let bytes = unsafe pem.withBytes { unsafe Array($0) }
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(bytes), !chain.isEmpty,
            let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem)
        else { throw TransportFailure(cause: .clientCertificate, wasSent: false) }
        tls.certificateChain = chain.map { .certificate($0) }
        tls.privateKey = .privateKey(key)
    }
}

/// Why a client's key cannot be used.
package enum ClientKeyFlaw: Hashable, Sendable {
    /// No private key of a kind known here.
    case unreadable
    /// Locked by a passphrase.
    case encrypted
    /// The method needs a certificate, and there is none beside the key.
    case noCertificate
}

/// What can be told of the keys of a client, and made of them.
package enum ClientKeys {
    /// What keeps `key` from being used by `method`; nil if nothing does.
    package static func flaw(in key: Secret, usedBy method: ClientAuthentication) -> ClientKeyFlaw? {
        do throws(JOSEError) {
            _ = try PrivateKey(key)
        } catch {
            return error == .keyIsEncrypted ? .encrypted : .unreadable
        }
        let registration = ClientRegistration(clientID: "", clientKey: key)
        guard let identity = ClientIdentity(registration, method) else { return nil }
        return identity.isUsable ? nil : .noCertificate
    }

    /// The client that a key belongs to, where its file says so; nil otherwise.
    package static func clientID(namedIn key: Secret) -> String? {
        try? PrivateKey(key).clientID
    }

    /// A new key for an account whose tokens are to be bound (RFC 9449).
    package static func newDPoPKey() -> Secret {
        DPoPKey().secret
    }

    /// A stored DPoP key in base64url, to be moved to another machine; nil if it is none.
    package static func text(ofDPoPKey key: Secret) -> Secret? {
        try? DPoPKey(stored: key).text
    }

    /// The DPoP key that `text(ofDPoPKey:)` wrote; nil if it is none.
    package static func dpopKey(_ text: String) -> Secret? {
        try? DPoPKey(text: text).secret
    }

    /// The public half of a client's key as a key set (RFC 7517 §5), to be registered; nil if it cannot be read.
    package static func keySet(of key: Secret, keyID: String?) -> String? {
        guard let key = try? PrivateKey(key) else { return nil }
        return "{\"keys\":[\(key.publicJWK(keyID: keyID))]}"
    }
}

/// One client of one server, and one attempt at something: what requests of all kinds need.
package struct RequestingClient: Sendable {
    package var issuer: Issuer
    /// Nil for a server whose metadata says it all.
    package var profile: ProviderProfile?
    package var registration: ClientRegistration
    /// What an earlier exchange found out; nil lets this one find out.
    package var basicCredentialEncoding: BasicCredentialEncoding?
    /// Names the attempt in journals; sent where the profile says how.
    package var correlationID: String

    package init(
        issuer: Issuer,
        profile: ProviderProfile? = nil,
        registration: ClientRegistration,
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        correlationID: String
    ) {
        self.issuer = issuer
        self.profile = profile
        self.registration = registration
        self.basicCredentialEncoding = basicCredentialEncoding
        self.correlationID = correlationID
    }

    /// `tokens`, with a mark if their access token is bound to no key and this client takes none such.
    ///
    /// RFC 9449 §5: any `token_type` but `DPoP` says that the token is bound to none. What is exchanged for a token that stands in no
    /// header has the type `N_A` (RFC 8693 §2.2.1).
    func judged(_ tokens: TokenResponse) -> TokenResponse {
        guard registration.dpopKey != nil, !registration.acceptsBearer else { return tokens }
        let type = tokens.accessToken.type.lowercased()
        let isForNoHeader = type == "n_a" && registration.serviceGrant?.exchange != nil
        var judged = tokens
        judged.issuance.isUnbound = type != "dpop" && !isForNoHeader
        return judged
    }

    /// What the person is asked to grant: `asked`, or else the account's scopes, or else the profile's.
    package func scopes(_ asked: [String]?) -> [String] {
        asked ?? (registration.scopes.isEmpty ? profile?.signIn.scopes ?? [] : registration.scopes)
    }

    /// The same; where nobody names any and there is no profile, what most sign-ins ask for, as far as the server offers it.
    func scopes(_ asked: [String]?, offeredBy metadata: AuthorizationServerMetadata) -> [String] {
        let named = scopes(asked)
        guard named.isEmpty, profile == nil else { return named }
        return Self.usualScopes.filter { metadata.scopes?.contains($0) ?? false }
    }

    /// An ID token, and a grant that outlives the browser's session (OpenID Connect Core §3.1.2.1, §11).
    static let usualScopes = ["openid", "offline_access"]

    /// Why nothing was sent: a setting has to be mended first.
    ///
    /// - Parameter detail: what it concerns; may be a peer's text.
    func misconfigured(
        _ summary: String,
        detail: String? = nil,
        finding: FailureDetail.Finding? = nil
    ) -> RefreshFailure {
        RefreshFailure(
            .misconfigured,
            detail: FailureDetail(
                summary: summary,
                oauthErrorDescription: FailureText.clean(detail, hiding: []),
                correlationID: correlationID,
                finding: finding
            )
        )
    }

    /// What an exchange that did not succeed means.
    func failure(
        _ conclusion: AuthenticatedPost.Conclusion,
        hiding secrets: [Secret],
        now: Timestamp
    ) -> RefreshFailure {
        let all = secrets + (registration.clientSecret.map { [$0] } ?? [])
        return RefreshFailure(conclusion, hiding: all, correlationID: correlationID, now: now)
    }
}

/// A request to a resource server that needs a DPoP proof (RFC 9449 §7).
package struct PossessionRequest: Sendable {
    let method: String
    let url: Endpoint
    /// The token that goes with the request; nil if none does.
    let accessToken: Secret?
    /// The server's last; nil if it gave none.
    let nonce: String?

    package init(method: String, url: Endpoint, accessToken: Secret?, nonce: String?) {
        self.method = method
        self.url = url
        self.accessToken = accessToken
        self.nonce = nonce
    }

    /// The value of the request's `DPoP` header; nil if `key` cannot be used.
    ///
    /// - Parameters:
    ///   - key: the account's, as `ClientKeys.newDPoPKey()` gave it.
    ///   - now: by the server's clock, as far as it is known.
    package func proof(by key: Secret, now: Timestamp) -> String? {
        try? DPoPKey(stored: key).proof(
            method: method,
            url: url.url,
            nonce: nonce,
            accessToken: accessToken,
            now: now,
            random: AuthenticatedPost.newIdentifier()
        )
    }

    /// Whether `text` is a method that proofs are made for: a word of letters (RFC 9110 §9.1).
    package static func isMethod(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xdf) || byte == UInt8(ascii: "-")
            }
    }

    /// RFC 9449 §8.1: visible ASCII without quotation marks and backslashes.
    package static func isNonce(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }
}
