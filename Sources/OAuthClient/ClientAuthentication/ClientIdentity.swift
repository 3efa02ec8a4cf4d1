import OAuthMessages
package import RefreshCore

/// The certificate with which a client authenticates in the TLS handshake (RFC 8705), and its key: the text of a PEM
/// file.
struct ClientIdentity: Hashable, Sendable {
    let pem: Secret

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

    /// Whether the text holds a certificate and a key that can be read without a passphrase.
    fileprivate var isUsable: Bool {
        let text = pem.reveal()
        return text.contains("-----BEGIN CERTIFICATE-----") && (try? PrivateKey(pem)) != nil
    }
}

extension ClientKeys {
    /// Whether `key` is a PEM text with a certificate and its key, which TLS takes.
    package static func isCertified(_ key: Secret) -> Bool {
        ClientIdentity(pem: key).isUsable
    }
}
