package import RefreshCore

/// Keys as the store and the settings have them. What they are is known only here, so that others need no cryptography.
extension Secret {
    /// A new key for an account whose tokens are to be bound to it (RFC 9449).
    package static func newDPoPKey() -> Secret {
        DPoPKey().secret
    }

    /// The DPoP key in the text that `dpopText` made.
    ///
    /// - Throws: `keyMalformed`.
    package static func dpopKey(_ text: String) throws(JOSEError) -> Secret {
        try DPoPKey(text: text).secret
    }

    /// This DPoP key in base64url, for moving it to another machine.
    ///
    /// - Throws: `keyMalformed`.
    package func dpopText() throws(JOSEError) -> Secret {
        try DPoPKey(stored: self).text
    }

    /// The proof that a sender has this DPoP key; see `DPoPKey.proof`.
    ///
    /// - Throws: `keyMalformed`, `signingFailed`.
    package func dpopProof(
        method: String,
        url: Endpoint,
        nonce: String?,
        accessToken: Secret?,
        now: Timestamp
    ) throws(JOSEError) -> String {
        try DPoPKey(stored: self)
            .proof(method: method, url: url.url, nonce: nonce, accessToken: accessToken, now: now)
    }

    /// Reads this client's key.
    ///
    /// - Returns: the client that the key's file names, nil if it names none; and whether a certificate is with the key.
    /// - Throws: `keyMalformed` or `keyIsEncrypted`.
    package func clientKeyContents() throws(JOSEError) -> (clientID: String?, hasCertificate: Bool) {
        let key = try PrivateKey(self)
        return (key.clientID, key.certificate != nil)
    }

    /// The public half of this client's key as a key set (RFC 7517 §5), for registering it.
    ///
    /// - Throws: `keyMalformed` or `keyIsEncrypted`.
    package func publicKeySet(keyID: String?) throws(JOSEError) -> String {
        try PrivateKey(self).publicKeySet(keyID: keyID)
    }
}
