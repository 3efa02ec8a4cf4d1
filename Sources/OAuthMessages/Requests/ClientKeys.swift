internal import JOSE
package import RefreshCore

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
    ///
    /// - Parameter isCertified: whether a PEM text holds a certificate and its key; asked only if `method` needs them. TLS has to say.
    package static func flaw(
        in key: Secret,
        usedBy method: ClientAuthentication,
        isCertified: (Secret) -> Bool
    ) -> ClientKeyFlaw? {
        do throws(JOSEError) {
            _ = try PrivateKey(key)
        } catch {
            return error == .keyIsEncrypted ? .encrypted : .unreadable
        }
        return method.means == .certificate && !isCertified(key) ? .noCertificate : nil
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
