import Crypto
package import RefreshCore
internal import TextEncodings

/// What a client signs its tokens with.
package struct TokenSigner: Sendable {
    private enum Means: Sendable {
        case secret(Secret)
        case key(PrivateKey, keyID: String?)
    }

    private let means: Means
    let algorithm: SigningAlgorithm

    /// Signs with the client secret, by HS256: what servers expect if nothing else was registered (OpenID Connect Core §9).
    package init(secret: Secret) {
        means = .secret(secret)
        algorithm = .hs256
    }

    /// - Parameters:
    ///   - keyID: the name under which the server knows the key; nil takes the key's own, if it has one.
    ///   - offered: the algorithms that the server takes; nil if it does not say.
    /// - Throws: `keyDoesNotFit` if the server takes none that the key can do.
    package init(key: PrivateKey, keyID: String?, offered: [String]?) throws(JOSEError) {
        means = .key(key, keyID: keyID ?? key.keyID)
        algorithm = try key.signingAlgorithm(offered: offered)
    }

    /// The signed token in its compact form, for a request body.
    ///
    /// - Parameter header: members beside `alg`, `kid` and the certificate's thumbprints.
    /// - Throws: `signingFailed`.
    func sign(
        header: [(name: String, value: JSONText)] = [],
        _ claims: [(name: String, value: JSONText)]
    ) throws(JOSEError) -> Secret {
        let header = JSONText.object([("alg", .text(algorithm.rawValue))] + identification + header).written
        let payload = JSONText.object(claims).written
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8)
        let signature: [UInt8]
        switch means {
        case .secret(let secret): signature = SharedKey(secret).signature(of: Array(input.utf8), by: algorithm.hash)
        case .key(let key, _): signature = try key.signature(of: Array(input.utf8), by: algorithm)
        }
        return Secret(input + "." + Base64URL.encode(signature))
    }

    /// How the server finds the key: by its name, or by its certificate (RFC 7515 §4.1.7, §4.1.8; Entra looks at nothing else).
    private var identification: [(name: String, value: JSONText)] {
        guard case .key(let key, let keyID) = means else { return [] }
        let name = keyID.map { [(name: "kid", value: JSONText.text($0))] } ?? []
        guard let certificate = key.certificate else { return name }
        return name + [
            ("x5t", .text(Base64URL.encode(Insecure.SHA1.hash(data: certificate)))),
            ("x5t#S256", .text(Base64URL.encode(SHA256.hash(data: certificate)))),
        ]
    }
}
