import Crypto
import CryptoExtras
import FoundationEssentials
package import RefreshCore

/// The key of a client, for `private_key_jwt`, Apple's client secret, request objects and assertion grants.
package struct PrivateKey: Sendable {
    enum Material: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521(P521.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    let material: Material
    /// `kid` of a JWK, or what Google's file calls the key; nil for a PEM file, which has no place for it.
    package let keyID: String?
    /// The client that the key belongs to, as Google's key file of a service account says it; nil for all others.
    package let clientID: String?
    /// `alg` of a JWK: the only algorithm that the key is for.
    let algorithm: SigningAlgorithm?
    /// The certificate beside the key in a PEM file, in DER: Entra finds the key by its thumbprint.
    let certificate: [UInt8]?

    /// Longest key file read, in bytes. An RSA key of 8192 bits has 6.5 KiB as PEM; a chain of certificates may stand beside it.
    package static let sizeLimit = 64 << 10

    /// Reads the text of a key file: PEM (PKCS #8, PKCS #1 or SEC 1; Apple's .p8 is the first), a JWK (RFC 7517), or what Google
    /// gives out for a service account, which is JSON with a PEM text in it.
    ///
    /// - Throws: `keyMalformed` or `keyIsEncrypted`.
    package init(_ text: Secret) throws(JOSEError) {
        guard text.count <= Self.sizeLimit else { throw .keyMalformed }
        // A PEM text within JSON has its line ends escaped: it is none yet.
        guard let object = try? JSONObject(unsafe text.withBytes { unsafe Array($0) }) else {
            try self.init(pem: PEMText(text.reveal()), keyID: nil, clientID: nil)
            return
        }
        if object.text("type") == "service_account", let pem = object.text("private_key") {
            let (name, client) = (object.text("private_key_id"), object.text("client_email"))
            try self.init(pem: PEMText(pem), keyID: name, clientID: client)
        } else {
            try self.init(jwk: object)
        }
    }

    private init(pem: PEMText, keyID: String?, clientID: String?) throws(JOSEError) {
        guard !pem.isEncrypted else { throw .keyIsEncrypted }
        guard let material = pem.privateKey.flatMap(Material.init(pem:)) else { throw .keyMalformed }
        self.material = material
        self.keyID = keyID
        self.clientID = clientID
        algorithm = nil
        certificate = pem.certificate
    }

    private init(jwk: JSONObject) throws(JOSEError) {
        guard let material = Material(jwk: jwk) else { throw .keyMalformed }
        algorithm = jwk.text("alg").flatMap(SigningAlgorithm.init)
        guard algorithm.map(material.publicKey.fits) ?? !jwk.has("alg") else { throw .keyMalformed }
        self.material = material
        keyID = jwk.text("kid")
        clientID = nil
        certificate = nil
    }

    /// The algorithm to sign with: the key's own, else the first that its kind has and the server offers.
    ///
    /// RS256 goes before PS256: it is what a server expects of a client registered without a word about it.
    ///
    /// - Parameter offered: `…_signing_alg_values_supported` of the server's metadata; nil if it does not say.
    /// - Throws: `keyDoesNotFit` if the server offers none.
    package func signingAlgorithm(offered: [String]?) throws(JOSEError) -> SigningAlgorithm {
        if let algorithm { return algorithm }
        let own: [SigningAlgorithm] =
            switch material {
            case .rsa: [.rs256, .ps256, .rs384, .ps384, .rs512, .ps512]
            case .p256: [.es256]
            case .p384: [.es384]
            case .p521: [.es512]
            case .ed25519: [.edDSA, .ed25519]
            }
        guard let offered, !offered.isEmpty else { return own[0] }
        guard let algorithm = own.first(where: { offered.contains($0.rawValue) }) else { throw .keyDoesNotFit(own[0]) }
        return algorithm
    }

    /// - Throws: `keyDoesNotFit` or `signingFailed`.
    func signature(of input: [UInt8], by algorithm: SigningAlgorithm) throws(JOSEError) -> [UInt8] {
        guard material.publicKey.fits(algorithm) else { throw .keyDoesNotFit(algorithm) }
        guard let signature = try? material.signature(of: input, by: algorithm) else { throw .signingFailed }
        return signature
    }

    /// The public half as a JWK text, for the server that the client is registered at.
    package func publicJWK(keyID: String?) -> String {
        let name = (keyID ?? self.keyID).map { [(name: "kid", value: JSONText.text($0))] } ?? []
        return JSONText.object(material.publicKey.members + name + [("use", .text("sig"))]).written
    }
}
