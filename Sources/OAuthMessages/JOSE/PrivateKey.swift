import Crypto
import CryptoExtras
import FoundationEssentials
package import RefreshCore
import TextEncodings

/// A client's private key, for `private_key_jwt`, Apple's client secret, request objects and assertion grants.
package struct PrivateKey: Sendable {
    enum Material: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521(P521.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    let material: Material
    /// `kid` of a JWK, or the key ID in Google's file; nil for a PEM file, which cannot contain one.
    package let keyID: String?
    /// The client that the key belongs to, from Google's key file of a service account; nil for all other files.
    package let clientID: String?
    /// `alg` of a JWK: the only algorithm that the key may be used with.
    let algorithm: SigningAlgorithm?
    /// The certificate next to the key in a PEM file, in DER. Entra finds the key by the certificate's thumbprint.
    let certificate: [UInt8]?

    /// The longest key file that is read, in bytes. An RSA key of 8192 bits has 6.5 KiB as PEM, and a chain of
    /// certificates may follow.
    package static let sizeLimit = 64 << 10

    /// Reads a key file: PEM (PKCS #8 as in Apple's .p8, PKCS #1 or SEC 1), a JWK (RFC 7517), or Google's file for a
    /// service account, which is JSON with a PEM text inside.
    ///
    /// - Throws: `keyMalformed` or `keyIsEncrypted`.
    package init(_ text: Secret) throws(JOSEError) {
        guard text.count <= Self.sizeLimit else { throw .keyMalformed }
        // PEM text inside JSON has escaped line ends, so it is not recognized as PEM before decoding.
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

    /// The algorithm to sign with: the key's own, or else the first one for its kind that the server offers.
    ///
    /// RS256 comes before PS256, because servers expect it of a client whose registration names no algorithm.
    ///
    /// - Parameter offered: `…_signing_alg_values_supported` in the server's metadata; nil if it is missing.
    /// - Throws: `keyDoesNotFit` if the server offers none of the key's algorithms.
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

    /// Signs `input`.
    ///
    /// - Throws: `keyDoesNotFit` or `signingFailed`.
    func signature(of input: [UInt8], by algorithm: SigningAlgorithm) throws(JOSEError) -> [UInt8] {
        guard material.publicKey.fits(algorithm) else { throw .keyDoesNotFit(algorithm) }
        guard let signature = try? material.signature(of: input, by: algorithm) else { throw .signingFailed }
        return signature
    }

    /// The public half as a key set (RFC 7517 §5), for the client's registration at the server.
    package func publicKeySet(keyID: String?) -> String {
        let name = (keyID ?? self.keyID).map { [(name: "kid", value: TokenValue.text($0))] } ?? []
        let key = TokenValue.object(material.publicKey.members + name + [("use", .text("sig"))]).written
        return "{\"keys\":[\(key)]}"
    }
}

extension PrivateKey.Material {
    /// Reads one PEM block; nil if it is not a private key of a known kind. The reader of each kind refuses the other
    /// kinds.
    init?(pem: String) {
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
            self = .p256(key)
        } else if let key = try? P384.Signing.PrivateKey(pemRepresentation: pem) {
            self = .p384(key)
        } else if let key = try? P521.Signing.PrivateKey(pemRepresentation: pem) {
            self = .p521(key)
        } else if let key = try? Curve25519.Signing.PrivateKey(pemRepresentation: pem) {
            self = .ed25519(key)
        } else if let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) {
            self = .rsa(key)
        } else {
            return nil
        }
    }

    /// Reads a JWK; nil if it has no private half (RFC 7518 §6.2.2, §6.3.2; RFC 8037 §2), or if its halves do not
    /// match.
    init?(jwk: JSONObject) {
        let number = { (name: String) in jwk.text(name).flatMap { Base64URL.decode($0.utf8) } }
        guard let secret = number("d") else { return nil }
        switch (jwk.text("kty"), jwk.text("crv")) {
        case ("EC", "P-256"?):
            guard let key = try? P256.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
            self = .p256(key)
        case ("EC", "P-384"?):
            guard let key = try? P384.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
            self = .p384(key)
        case ("EC", "P-521"?):
            guard let key = try? P521.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
            self = .p521(key)
        case ("OKP", "Ed25519"?):
            guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
            self = .ed25519(key)
        case ("RSA", _):
            guard let modulus = number("n"), let exponent = number("e"), let p = number("p"), let q = number("q"),
                let key = try? _RSA.Signing.PrivateKey(n: modulus, e: exponent, d: secret, p: p, q: q)
            else { return nil }
            self = .rsa(key)
        default:
            return nil
        }
        // A wrong public half would be published, and the server would then refuse every signature.
        guard let published = PublicKey(jwk: jwk), published.thumbprint == publicKey.thumbprint else { return nil }
    }

    var publicKey: PublicKey {
        switch self {
        case .rsa(let key): .rsa(key.publicKey)
        case .p256(let key): .p256(key.publicKey)
        case .p384(let key): .p384(key.publicKey)
        case .p521(let key): .p521(key.publicKey)
        case .ed25519(let key): .ed25519(key.publicKey)
        }
    }

    /// Signs `input`. The caller has checked that the key fits the algorithm.
    func signature(of input: [UInt8], by algorithm: SigningAlgorithm) throws -> [UInt8] {
        switch self {
        case .rsa(let key):
            let padding: _RSA.Signing.Padding = algorithm.family == .rsaPSS ? .PSS : .insecurePKCS1v1_5
            let signature =
                switch algorithm.hash {
                case .sha256: try key.signature(for: SHA256.hash(data: input), padding: padding)
                case .sha384: try key.signature(for: SHA384.hash(data: input), padding: padding)
                case .sha512: try key.signature(for: SHA512.hash(data: input), padding: padding)
                }
            return Array(signature.rawRepresentation)
        case .p256(let key): return Array(try key.signature(for: SHA256.hash(data: input)).rawRepresentation)
        case .p384(let key): return Array(try key.signature(for: SHA384.hash(data: input)).rawRepresentation)
        case .p521(let key): return Array(try key.signature(for: SHA512.hash(data: input)).rawRepresentation)
        case .ed25519(let key): return Array(try key.signature(for: input))
        }
    }
}

/// The blocks of a PEM file (RFC 7468) by label. Text between them is skipped.
struct PEMText {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    /// Whether a private key needs a passphrase: PKCS #8's encrypted form, or OpenSSL's old header (RFC 1421).
    var isEncrypted: Bool {
        text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED")
    }

    /// The first block with a private key, including boundaries, in lines of 64 characters. The library accepts no
    /// others, and some tools write a single line. `openssl ecparam -genkey` writes a block of parameters before the
    /// key.
    var privateKey: String? {
        block { $0.hasSuffix("PRIVATE KEY") }.map { block in
            var lines: [Substring] = []
            var rest = block.body.filter { !$0.isWhitespace }[...]
            while !rest.isEmpty {
                lines.append(rest.prefix(64))
                rest = rest.dropFirst(64)
            }
            return "-----BEGIN \(block.label)-----\n" + lines.joined(separator: "\n")
                + "\n-----END \(block.label)-----\n"
        }
    }

    /// The first certificate, in DER.
    var certificate: [UInt8]? {
        block { $0 == "CERTIFICATE" }.flatMap { Data(base64Encoded: $0.body, options: .ignoreUnknownCharacters) }
            .map(Array.init)
    }

    private func block(_ isWanted: (Substring) -> Bool) -> (label: Substring, body: String)? {
        var label: Substring?
        var body = ""
        for padded in text.split(whereSeparator: \.isNewline) {
            // OpenSSL takes lines that end with blanks, too.
            let line = padded[...(padded.lastIndex { !$0.isWhitespace } ?? padded.startIndex)]
            if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
                let found = line.dropFirst(11).dropLast(5)
                label = isWanted(found) ? found : nil
            } else if let label, line.hasPrefix("-----END ") {
                return (label, body)
            } else if label != nil {
                body += line + "\n"
            }
        }
        return nil
    }
}
