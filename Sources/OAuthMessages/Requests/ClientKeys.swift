package import RefreshCore

/// Why a client's key cannot be used.
package enum ClientKeyFinding: Hashable, Sendable {
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
    ///
    /// - Parameter isCertified: whether a PEM text holds a certificate and its key, as TLS judges it. It is called only
    ///   if `method` needs them.
    package static func flaw(
        in key: Secret,
        usedBy method: ClientAuthentication,
        isCertified: (Secret) -> Bool
    ) -> ClientKeyFinding? {
        do throws(JOSEError) {
            _ = try PrivateKey(key)
        } catch {
            return error == .keyIsEncrypted ? .encrypted : .unreadable
        }
        return method.means == .certificate && !isCertified(key) ? .noCertificate : nil
    }

    /// The client id that the key's file names; nil if it names none.
    package static func clientID(namedIn key: Secret) -> String? {
        try? PrivateKey(key).clientID
    }

    /// Makes a new key for an account whose tokens are to be bound to it (RFC 9449).
    package static func newDPoPKey() -> Secret {
        DPoPKey().secret
    }

    /// A stored DPoP key in base64url, for moving it to another machine; nil if the stored value is not a DPoP key.
    package static func text(ofDPoPKey key: Secret) -> Secret? {
        try? DPoPKey(stored: key).text
    }

    /// The DPoP key from the text that `text(ofDPoPKey:)` made; nil if the text is not a DPoP key.
    package static func dpopKey(_ text: String) -> Secret? {
        try? DPoPKey(text: text).secret
    }

    /// The public half of a client's key as a key set (RFC 7517 §5), for registering it; nil if the key cannot be read.
    package static func keySet(of key: Secret, keyID: String?) -> String? {
        guard let key = try? PrivateKey(key) else { return nil }
        return "{\"keys\":[\(key.publicJWK(keyID: keyID))]}"
    }
}
