import Crypto
import CryptoExtras
import FoundationEssentials
import RefreshCore
import TextEncodings

@testable import OAuthMessages

/// Makes tokens like an authorization server or an attacker. The test chooses header and claims freely.
enum Forge {
    static let now = Timestamp(microseconds: 1_800_000_000_000_000)
    static let issuer = "https://op.example.org"
    static let clientID = "mail"

    /// A server's key with the name `k1`.
    struct Key: Sendable {
        let algorithm: SigningAlgorithm
        let sign: @Sendable ([UInt8]) throws -> [UInt8]
        /// The members of its public JWK, without braces.
        let jwk: String
    }

    static let rsa = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
    static let ec256 = P256.Signing.PrivateKey()

    /// A new key for `algorithm`. The RSA key is made only once, because that takes long.
    static func key(_ algorithm: SigningAlgorithm) throws -> Key {
        switch algorithm.family {
        case .shared: throw Fault.noPublicKey
        case .rsaPKCS1, .rsaPSS: return try rsaKey(algorithm)
        case .p256:
            let key = ec256
            return Key(algorithm: algorithm, sign: { try Array(key.signature(for: $0).rawRepresentation) }) {
                curve("P-256", Array(key.publicKey.x963Representation))
            }
        case .p384:
            let key = P384.Signing.PrivateKey()
            return Key(algorithm: algorithm, sign: { try Array(key.signature(for: $0).rawRepresentation) }) {
                curve("P-384", Array(key.publicKey.x963Representation))
            }
        case .p521:
            let key = P521.Signing.PrivateKey()
            return Key(algorithm: algorithm, sign: { try Array(key.signature(for: $0).rawRepresentation) }) {
                curve("P-521", Array(key.publicKey.x963Representation))
            }
        case .ed25519:
            let key = Curve25519.Signing.PrivateKey()
            return Key(algorithm: algorithm, sign: { try Array(key.signature(for: $0)) }) {
                #""kty":"OKP","crv":"Ed25519","x":"\#(Base64URL.encode(key.publicKey.rawRepresentation))""#
            }
        }
    }

    enum Fault: Error { case noPublicKey, noKey }

    private static func rsaKey(_ algorithm: SigningAlgorithm) throws -> Key {
        guard let rsa else { throw Fault.noKey }
        let padding: _RSA.Signing.Padding = algorithm.family == .rsaPSS ? .PSS : .insecurePKCS1v1_5
        let primitives = try rsa.publicKey.getKeyPrimitives()
        let sign = { @Sendable (input: [UInt8]) -> [UInt8] in
            switch algorithm.hash {
            case .sha256: try Array(rsa.signature(for: SHA256.hash(data: input), padding: padding).rawRepresentation)
            case .sha384: try Array(rsa.signature(for: SHA384.hash(data: input), padding: padding).rawRepresentation)
            case .sha512: try Array(rsa.signature(for: SHA512.hash(data: input), padding: padding).rawRepresentation)
            }
        }
        return Key(algorithm: algorithm, sign: sign) {
            let (n, e) = (Base64URL.encode(primitives.modulus), Base64URL.encode(primitives.publicExponent))
            return #""kty":"RSA","n":"\#(n)","e":"\#(e)""#
        }
    }

    private static func curve(_ name: String, _ point: [UInt8]) -> String {
        let length = (point.count - 1) / 2
        let (x, y) = (Base64URL.encode(point[1...length]), Base64URL.encode(point[(length + 1)...]))
        return #""kty":"EC","crv":"\#(name)","x":"\#(x)","y":"\#(y)""#
    }

    /// Valid claims. `changes` replaces some of them by other JSON, or leaves them out (nil).
    static func claims(_ changes: [String: String?] = [:]) -> String {
        let seconds = now.microseconds / 1_000_000
        var claims: [String: String] = [
            "iss": "\"\(issuer)\"", "sub": "\"u-1\"", "aud": "\"\(clientID)\"",
            "exp": "\(seconds + 600)", "iat": "\(seconds)", "nonce": "\"n-1\"",
        ]
        for (name, value) in changes { claims[name] = value }
        return "{" + claims.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    static func header(_ algorithm: SigningAlgorithm, _ rest: String = #","kid":"k1","typ":"JWT""#) -> String {
        #"{"alg":"\#(algorithm.rawValue)"\#(rest)}"#
    }

    static func token(header: String, claims: String, sign: ([UInt8]) throws -> [UInt8]) rethrows -> Secret {
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        return Secret(input + "." + Base64URL.encode(try sign(Array(input.utf8))))
    }

    static func token(_ key: Key, header: String? = nil, claims: String = claims()) throws -> Secret {
        try token(header: header ?? Self.header(key.algorithm), claims: claims, sign: key.sign)
    }

    static func keySet(_ keys: Key..., rest: String = #","kid":"k1""#) throws -> JWKSet {
        try JWKSet(Array(#"{"keys":[\#(keys.map { "{\($0.jwk)\(rest)}" }.joined(separator: ","))]}"#.utf8))
    }

    /// The expectations of a client that sent `nonce` and knows nothing else.
    static func validation() throws -> IDTokenValidation {
        var validation = IDTokenValidation(issuer: try Issuer(url: issuer), clientID: clientID)
        validation.nonce = Secret("n-1")
        return validation
    }
}

extension Forge.Key {
    fileprivate init(
        algorithm: SigningAlgorithm,
        sign: @escaping @Sendable ([UInt8]) throws -> [UInt8],
        jwk: () -> String
    ) {
        self.init(algorithm: algorithm, sign: sign, jwk: jwk())
    }
}
