import Crypto
import CryptoExtras
import FoundationEssentials
import TextEncodings

extension PublicKey {
    /// The members that make the key, and no others, in the order of their names: what RFC 7638 §3.2 hashes.
    var members: [(name: String, value: JSONText)] {
        switch self {
        case .rsa(let key):
            // Fails for no key that could be read.
            guard let numbers = try? key.getKeyPrimitives() else { return [] }
            let (e, n) = (Self.number(numbers.publicExponent), Self.number(numbers.modulus))
            return [("e", .text(e)), ("kty", .text("RSA")), ("n", .text(n))]
        case .p256(let key): return Self.point("P-256", Array(key.x963Representation))
        case .p384(let key): return Self.point("P-384", Array(key.x963Representation))
        case .p521(let key): return Self.point("P-521", Array(key.x963Representation))
        case .ed25519(let key):
            let x = Base64URL.encode(key.rawRepresentation)
            return [("crv", .text("Ed25519")), ("kty", .text("OKP")), ("x", .text(x))]
        }
    }

    /// RFC 7638, with SHA-256.
    var thumbprint: String {
        Base64URL.encode(SHA256.hash(data: Array(JSONText.object(members).written.utf8)))
    }

    /// Without leading zeros (RFC 7518 §2, Base64urlUInt).
    private static func number(_ bytes: Data) -> String {
        Base64URL.encode(bytes.drop { $0 == 0 })
    }

    private static func point(_ curve: String, _ point: [UInt8]) -> [(name: String, value: JSONText)] {
        // 0x04, then both coordinates at the curve's full length.
        let length = (point.count - 1) / 2
        let (x, y) = (Base64URL.encode(point.dropFirst().prefix(length)), Base64URL.encode(point.suffix(length)))
        return [("crv", .text(curve)), ("kty", .text("EC")), ("x", .text(x)), ("y", .text(y))]
    }
}
