/// The keys that a server publishes at its `jwks_uri` (RFC 7517 §5), as far as they check signatures that we know.
package struct JWKSet: Sendable {
    /// Longest text read, in bytes. Entra's set, with a certificate in each of its ten keys, has 20 KiB.
    package static let sizeLimit = 256 << 10
    /// Most keys taken. Real sets have two to ten; a token without `kid` costs one check for each.
    package static let countLimit = 100

    let keys: [JSONWebKey]

    /// A set without keys: for tokens that are signed with the client secret.
    package static let empty = JWKSet(keys: [])

    private init(keys: [JSONWebKey]) {
        self.keys = keys
    }

    /// Reads a key set. Keys of unknown kinds, for other uses, or damaged, are left out (RFC 7517 §5): they are for others.
    ///
    /// - Throws: `keySetMalformed`, `keySetTooLarge`, or `duplicateMember`.
    package init(_ bytes: [UInt8]) throws(JOSEError) {
        guard bytes.count <= Self.sizeLimit else { throw .keySetTooLarge }
        let entries: [JSONObject]
        do throws(JOSEError) {
            guard let objects = try JSONObject(bytes).objects("keys") else { throw .keySetMalformed }
            entries = objects
        } catch .malformed {
            throw .keySetMalformed
        }
        guard entries.count <= Self.countLimit else { throw .keySetTooLarge }
        keys = entries.compactMap(JSONWebKey.init)
    }

    /// The keys that may have signed a token with this header; more than one only if it names none.
    func candidates(keyID: String?, algorithm: SigningAlgorithm) -> [JSONWebKey] {
        keys.filter { key in
            guard key.key.fits(algorithm), key.algorithm == nil || key.algorithm == algorithm else { return false }
            guard let keyID else { return true }
            return key.keyID?.isIdentical(to: keyID) ?? false
        }
    }
}

/// One published key (RFC 7517 §4).
struct JSONWebKey: Sendable {
    let key: PublicKey
    let keyID: String?
    /// `alg`: the only algorithm that the key is for; nil for all that its kind allows.
    let algorithm: SigningAlgorithm?
    /// Entra's addition: whose tokens the key signs, with `{tenantid}` for all tenants.
    let issuer: String?

    /// Nil for a key that does not check signatures that we know.
    init?(_ jwk: JSONObject) {
        guard let key = PublicKey(jwk: jwk), jwk.text("use") ?? "sig" == "sig" else { return nil }
        if let uses = jwk.texts("key_ops"), !uses.contains("verify") { return nil }
        if let name = jwk.text("alg") {
            guard let algorithm = SigningAlgorithm(rawValue: name), key.fits(algorithm) else { return nil }
            self.algorithm = algorithm
        } else {
            algorithm = nil
        }
        self.key = key
        keyID = jwk.text("kid")
        issuer = jwk.text("issuer")
    }
}
