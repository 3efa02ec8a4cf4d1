import NIOSSL
import OAuthMessages
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

    fileprivate init(pem: Secret) {
        self.pem = pem
    }

    /// Whether the text holds a certificate and a readable key.
    fileprivate var isUsable: Bool {
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

extension ClientKeys {
    /// Whether `key` is a PEM text with a certificate and its key, which TLS takes.
    package static func isCertified(_ key: Secret) -> Bool {
        ClientIdentity(pem: key).isUsable
    }
}
