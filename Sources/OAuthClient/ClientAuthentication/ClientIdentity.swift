internal import JOSE
import NIOSSL
package import RefreshCore

/// The certificate with which a client authenticates in the TLS handshake (RFC 8705), and its key: the text of a PEM
/// file.
struct ClientIdentity: Hashable, Sendable {
    private let pem: Secret

    /// Nil if `method` uses no certificate.
    init?(_ registration: ClientRegistration, _ method: ClientAuthentication) {
        guard method.means == .certificate, let key = registration.clientKey else { return nil }
        pem = key
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(pem.count)
    }

    /// Whether the text holds a certificate and a readable key.
    var isUsable: Bool {
        var tls = TLSConfiguration.makeClientConfiguration()
        return (try? add(to: &tls)) != nil
    }

    /// Makes connections present the certificate.
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
    /// The text holds no private key of a supported kind.
    case unreadable
    /// The key is encrypted with a passphrase.
    case encrypted
    /// The method needs a certificate, and the file holds only the key.
    case noCertificate
}

/// Reads the keys of clients, checks them and makes new ones.
package enum ClientKeys {
    /// The reason why `method` cannot use `key`; nil if it can.
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

    /// The client id that the key's file names; nil if it names none.
    package static func clientID(namedIn key: Secret) -> String? {
        try? PrivateKey(key).clientID
    }

    /// Makes a new key for an account whose tokens are to be bound to it (RFC 9449).
    package static func newDPoPKey() -> Secret {
        DPoPKey().secret
    }

    /// A stored DPoP key in base64url, for moving it to another machine; nil if the stored value is no such key.
    package static func text(ofDPoPKey key: Secret) -> Secret? {
        try? DPoPKey(stored: key).text
    }

    /// The DPoP key from the text that `text(ofDPoPKey:)` made; nil if the text is no such key.
    package static func dpopKey(_ text: String) -> Secret? {
        try? DPoPKey(text: text).secret
    }

    /// The public half of a client's key as a key set (RFC 7517 §5), for registering it; nil if the key cannot be read.
    package static func keySet(of key: Secret, keyID: String?) -> String? {
        guard let key = try? PrivateKey(key) else { return nil }
        return "{\"keys\":[\(key.publicJWK(keyID: keyID))]}"
    }
}

/// The client, its server and one attempt: what requests of all kinds need to know.
package struct RequestingClient: Sendable {
    package var issuer: Issuer
    /// The provider's profile; nil for a server whose metadata says everything.
    package var profile: ProviderProfile?
    package var registration: ClientRegistration
    /// The form of Basic credentials that an earlier exchange found out; nil if this exchange has to find it out.
    package var basicCredentialEncoding: BasicCredentialEncoding?
    /// The identifier of this attempt in journals. It is sent if the profile names a header for it.
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

    /// Returns `tokens`. Marks them if the access token is not bound to a key although this client accepts only bound
    /// ones.
    ///
    /// RFC 9449 §5: any `token_type` but `DPoP` says that the token is not bound. The type `N_A` (RFC 8693 §2.2.1)
    /// means that a token exchange gave a token that is not for an `Authorization` header.
    func judged(_ tokens: TokenResponse) -> TokenResponse {
        guard registration.dpopKey != nil, !registration.acceptsBearer else { return tokens }
        let type = tokens.accessToken.type.lowercased()
        let isForNoHeader = type == "n_a" && registration.serviceGrant?.exchange != nil
        var judged = tokens
        judged.issuance.isUnbound = type != "dpop" && !isForNoHeader
        return judged
    }

    /// The scopes to ask the person for: `asked`, or else the account's scopes, or else the profile's.
    package func scopes(_ asked: [String]?) -> [String] {
        asked ?? (registration.scopes.isEmpty ? profile?.signIn.scopes ?? [] : registration.scopes)
    }

    /// The scopes as above. If nobody names any and there is no profile: those that most sign-ins ask for, as far as
    /// the server offers them.
    func scopes(_ asked: [String]?, offeredBy metadata: AuthorizationServerMetadata) -> [String] {
        let named = scopes(asked)
        guard named.isEmpty, profile == nil else { return named }
        return Self.usualScopes.filter { metadata.scopes?.contains($0) ?? false }
    }

    /// Scopes for an ID token and for a grant that lasts longer than the browser's session (OpenID Connect Core
    /// §3.1.2.1, §11).
    static let usualScopes = ["openid", "offline_access"]

    /// The failure of a request that was not sent because a setting has to be corrected first.
    ///
    /// - Parameter detail: the setting or value concerned; may be a peer's text.
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

    /// The failure that a conclusion without success stands for.
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
    /// The access token that the request carries; nil if it carries none.
    let accessToken: Secret?
    /// The last nonce of the server; nil if it gave none.
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
    ///   - key: the account's key, as `ClientKeys.newDPoPKey()` returned it.
    ///   - now: the time by the server's clock, as far as it is known.
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

    /// Whether `text` is an HTTP method for which proofs are made: a word of letters (RFC 9110 §9.1).
    package static func isMethod(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xdf) || byte == UInt8(ascii: "-")
            }
    }

    /// Whether `text` can be a nonce: visible ASCII without quotation marks and backslashes (RFC 9449 §8.1).
    package static func isNonce(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }
}
