import JOSE
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

extension OAuthClient {
    /// What keeps `key` from being used by `method`; nil if nothing does.
    package static func flaw(inClientKey key: Secret, usedBy method: ClientAuthentication) -> ClientKeyFlaw? {
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
    package static func clientID(namedInClientKey key: Secret) -> String? {
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
    package static func keySet(ofClientKey key: Secret, keyID: String?) -> String? {
        guard let key = try? PrivateKey(key) else { return nil }
        return "{\"keys\":[\(key.publicJWK(keyID: keyID))]}"
    }
}
