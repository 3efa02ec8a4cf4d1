import Crypto
import CryptoExtras
import FoundationEssentials
import RefreshCore
import Testing
import TextEncodings

@testable import OAuthMessages

@Suite struct PrivateKeyTests {
    /// A key of each kind as PKCS #8 text, and in the older format of its kind, if there is one.
    private static func texts() throws -> [(kind: String, pem: String)] {
        let rsa = try #require(Forge.rsa)
        return [
            ("RSA", rsa.pkcs8PEMRepresentation), ("RSA", rsa.pemRepresentation),
            ("P-256", P256.Signing.PrivateKey().pemRepresentation),
            ("P-384", P384.Signing.PrivateKey().pemRepresentation),
            ("P-521", P521.Signing.PrivateKey().pemRepresentation),
            ("Ed25519", Curve25519.Signing.PrivateKey().pemRepresentation), ("P-256", sec1()),
        ]
    }

    /// A key as `openssl ecparam -name prime256v1 -genkey` writes it: parameters first, then SEC 1 (RFC 5915).
    private static func sec1() -> String {
        let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        let number = Array(P256.Signing.PrivateKey().rawRepresentation)
        let key: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20] + number + [0xA0, 0x0A] + curve
        return [("EC PARAMETERS", curve), ("EC PRIVATE KEY", key)]
            .map { "-----BEGIN \($0)-----\n\(Data($1).base64EncodedString())\n-----END \($0)-----\n" }.joined()
    }

    @Test func `keys are read from PEM with any text around them`() throws {
        for (kind, pem) in try Self.texts() {
            for text in [pem, "Bag Attributes\n    friendlyName: x\n" + pem, pem.replacing("\n", with: "\r\n")] {
                let key = try PrivateKey(Secret(text))
                #expect(key.publicKeySet(keyID: nil).contains(kind), "\(kind)")
                #expect(key.keyID == nil)
            }
        }
    }

    /// A key file for a service account as Google issues it, with the members that matter and some that do not.
    private static func serviceAccount(pem: String) throws -> String {
        let fields = [
            "type": "service_account", "project_id": "p", "private_key_id": "k-1", "private_key": pem,
            "client_email": "robot@p.iam.gserviceaccount.com", "client_id": "123",
        ]
        return String(decoding: try JSONEncoder().encode(fields), as: UTF8.self)
    }

    @Test func `Google's key file is read unchanged, with its client`() throws {
        let rsa = try #require(Forge.rsa)
        let text = try Self.serviceAccount(pem: rsa.pkcs8PEMRepresentation)
        let key = try PrivateKey(Secret(text))
        #expect(key.keyID == "k-1" && key.clientID == "robot@p.iam.gserviceaccount.com")
        #expect(try key.signingAlgorithm(offered: nil) == .rs256)
        let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
        #expect(throws: JOSEError.keyIsEncrypted) { try PrivateKey(Secret(Self.serviceAccount(pem: locked))) }
        #expect(throws: JOSEError.keyMalformed) { try PrivateKey(Secret(Self.serviceAccount(pem: "AAAA"))) }
    }

    @Test func `a key that was read signs correctly`() throws {
        for (kind, pem) in try Self.texts() {
            let key = try PrivateKey(Secret(pem))
            let algorithm = try key.signingAlgorithm(offered: nil)
            let signature = try key.signature(of: [1, 2, 3], by: algorithm)
            #expect(key.material.publicKey.isValid(signature, of: [1, 2, 3], by: algorithm), "\(kind)")
            #expect(!key.material.publicKey.isValid(signature, of: [1, 2, 4], by: algorithm), "\(kind)")
        }
    }

    @Test(arguments: [
        "", "secret", "{}", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        #"{"kty":"EC","crv":"P-256"}"#,
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "-----BEGIN PRIVATE KEY-----\nMC4C",
        #"{"kty":"oct","k":"AAAA","d":"AAAA"}"#,
    ]) func `a text that is not a private key is refused`(text: String) {
        #expect(throws: JOSEError.keyMalformed) { try PrivateKey(Secret(text)) }
    }

    @Test func `a public key is not accepted as a private key`() throws {
        let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation
        #expect(throws: JOSEError.keyMalformed) { try PrivateKey(Secret(pem)) }
    }

    @Test(arguments: [
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
    ]) func `a key with a passphrase has its own error`(text: String) {
        #expect(throws: JOSEError.keyIsEncrypted) { try PrivateKey(Secret(text)) }
    }

    @Test func `a key file beyond the size limit is not read`() throws {
        let pem = P256.Signing.PrivateKey().pemRepresentation
        let padded = pem + String(repeating: "#", count: PrivateKey.sizeLimit - pem.utf8.count)
        _ = try PrivateKey(Secret(padded))
        #expect(throws: JOSEError.keyMalformed) { try PrivateKey(Secret(padded + "#")) }
    }

    // MARK: JWK

    private func jwk(_ rest: String = "") throws -> String {
        let key = P256.Signing.PrivateKey()
        let members = TokenValue.object(PublicKey.p256(key.publicKey).members).written.dropFirst().dropLast()
        return #"{\#(members),"d":"\#(Base64URL.encode(key.rawRepresentation))"\#(rest)}"#
    }

    @Test func `a JWK provides its key ID and its algorithm`() throws {
        let key = try PrivateKey(Secret(try jwk(#","kid":"k7","alg":"ES256""#)))
        #expect(key.keyID == "k7")
        #expect(try key.signingAlgorithm(offered: ["RS256"]) == .es256)
        #expect(key.publicKeySet(keyID: nil).contains(#""kid":"k7","use":"sig""#))
        #expect(!key.publicKeySet(keyID: nil).contains(#""d":"#))
    }

    @Test(arguments: [#","alg":"ES384""#, #","alg":"HS256""#, #","alg":"none""#, #","alg":5"#])
    func `a JWK with an algorithm of another kind is refused`(rest: String) throws {
        let text = try jwk(rest)
        #expect(throws: JOSEError.keyMalformed) { try PrivateKey(Secret(text)) }
    }

    @Test func `a JWK whose halves do not match is refused`() throws {
        let key = P256.Signing.PrivateKey()
        let other = try jwk().replacing(#/"d":"[^"]*"/#, with: #""d":"\#(Base64URL.encode(key.rawRepresentation))""#)
        #expect(throws: JOSEError.keyMalformed) { try PrivateKey(Secret(other)) }
    }

    // MARK: Algorithms

    @Test func `the algorithm is the first of the key's kind that the server offers`() throws {
        let rsa = try PrivateKey(Secret(try #require(Forge.rsa).pkcs8PEMRepresentation))
        #expect(try rsa.signingAlgorithm(offered: nil) == .rs256)
        #expect(try rsa.signingAlgorithm(offered: []) == .rs256)
        #expect(try rsa.signingAlgorithm(offered: ["PS256", "ES256"]) == .ps256)
        #expect(try rsa.signingAlgorithm(offered: ["PS256", "RS256"]) == .rs256)
        #expect(throws: JOSEError.keyDoesNotFit(.rs256)) {
            try rsa.signingAlgorithm(offered: ["ES256", "HS256", "none"])
        }
    }
}
