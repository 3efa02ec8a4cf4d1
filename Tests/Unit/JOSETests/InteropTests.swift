import Crypto
import CryptoExtras
import Foundation
import JWTKit
import RefreshCore
import Testing
import TextEncodings

@testable import OAuthMessages

/// JWTKit, an independent implementation, must accept what we sign, and we must accept what it signs.
@Suite struct InteropTests {
    private struct Claims: JWTPayload {
        var iss = Forge.issuer
        var sub = "u-1"
        var aud = Forge.clientID
        var exp = Forge.now.microseconds / 1_000_000 + 600
        var iat = Forge.now.microseconds / 1_000_000
        var nonce = "n-1"

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private struct AnyClaims: JWTPayload {
        var iss: String?
        var sub: String?
        var aud: String?

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// A key of `algorithm` for JWTKit, and its PEM text for our code.
    private func collection(
        _ algorithm: SigningAlgorithm
    ) async throws -> (keys: JWTKeyCollection, pem: String) {
        let keys = JWTKeyCollection()
        let pem: String
        switch algorithm.family {
        case .p256:
            let key = ES256PrivateKey()
            pem = key.pemRepresentation
            await keys.add(ecdsa: key, kid: "k1")
        case .p384:
            let key = ES384PrivateKey()
            pem = key.pemRepresentation
            await keys.add(ecdsa: key, kid: "k1")
        case .p521:
            let key = ES512PrivateKey()
            pem = key.pemRepresentation
            await keys.add(ecdsa: key, kid: "k1")
        case .ed25519:
            let key = Curve25519.Signing.PrivateKey()
            pem = key.pemRepresentation
            await keys.add(eddsa: EdDSA.PrivateKey(backing: key), kid: "k1")
        case .rsaPKCS1, .rsaPSS:
            pem = try #require(Forge.rsa).pkcs8PEMRepresentation
            let key = try Insecure.RSA.PrivateKey(pem: pem)
            let digest: DigestAlgorithm =
                switch algorithm.hash {
                case .sha256: .sha256
                case .sha384: .sha384
                case .sha512: .sha512
                }
            if algorithm.family == .rsaPSS {
                await keys.add(pss: key, digestAlgorithm: digest, kid: "k1")
            } else {
                await keys.add(rsa: key, digestAlgorithm: digest, kid: "k1")
            }
        case .shared:
            throw Forge.Fault.noPublicKey
        }
        return (keys, pem)
    }

    /// JWTKit does not know the name from RFC 9864.
    private static let algorithms = SigningAlgorithm.allCases.filter { !$0.isSymmetric && $0 != .ed25519 }

    @Test(arguments: algorithms) func `a token that JWTKit signs is valid`(algorithm: SigningAlgorithm) async throws {
        let (signer, pem) = try await collection(algorithm)
        let key = try OAuthMessages.PrivateKey(Secret(pem))
        let keys = try JWKSet(Array(key.publicKeySet(keyID: "k1").utf8))
        let token = Secret(try await signer.sign(Claims(), kid: "k1"))
        #expect(try CompactJWS(token).algorithm == algorithm)
        let claims = try Forge.validation().validate(token, keys: keys, now: Forge.now)
        #expect(claims.subject == "u-1")
    }

    @Test(arguments: algorithms) func `a client assertion that we sign is valid for JWTKit`(
        algorithm: SigningAlgorithm
    ) async throws {
        let (verifier, pem) = try await collection(algorithm)
        let signer = try TokenSigner(
            key: OAuthMessages.PrivateKey(Secret(pem)),
            keyID: "k1",
            offered: [algorithm.rawValue]
        )
        let token = try signer.assertion(
            issuer: "mail",
            subject: "mail",
            audience: Forge.issuer,
            now: Forge.now,
            random: Array(0..<16)
        )
        let claims = try await verifier.verify(token.reveal(), as: AnyClaims.self)
        #expect(claims.iss == "mail" && claims.sub == "mail" && claims.aud == Forge.issuer)
        var parts = token.reveal().split(separator: ".").map(String.init)
        parts[1] = Base64URL.encode(Array(#"{"iss":"mail","sub":"other"}"#.utf8))
        await #expect(throws: JWTError.self) {
            try await verifier.verify(parts.joined(separator: "."), as: AnyClaims.self)
        }
    }

    @Test func `a client assertion by the client secret is valid for JWTKit`() async throws {
        let secret = "a client secret of at least 32 bytes"
        let token = try TokenSigner(secret: Secret(secret)).assertion(
            issuer: "mail",
            subject: "mail",
            audience: Forge.issuer,
            now: Forge.now,
            random: Array(0..<16)
        )
        let verifier = await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        #expect(try await verifier.verify(token.reveal(), as: AnyClaims.self).sub == "mail")
    }
}
