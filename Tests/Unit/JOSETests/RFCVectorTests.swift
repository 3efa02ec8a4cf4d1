import Crypto
import Foundation
import RefreshCore
import Testing
import TextEncodings

@testable import OAuthMessages

/// The examples of the specifications, calculated again.
@Suite struct RFCVectorTests {
    private struct File: Decodable {
        let vectors: [Vector]
    }

    private struct Vector: Decodable {
        let id: String
        let input: Input
        let expect: Expectation
    }

    private struct Input: Decodable {
        var jwt: String?
        var key_b64url: String?
        var access_token: String?
        var code: String?
        var alg: String?
        var octets: [UInt8]?
        var jwk: [String: String]?
    }

    private struct Expectation: Decodable {
        var jkt: String?
        var thumbprint: String?
        var ath: String?
        var claims: ProofClaims?
        var at_hash: String?
        var c_hash: String?
        var base64url: String?
        var code_verifier: String?
    }

    private struct ProofClaims: Decodable {
        var htm: String?
        var htu: String?
        var jti: String?
        var ath: String?
    }

    private static func vector(_ id: String) throws -> Vector {
        let folder = try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures")
        let text = try Data(contentsOf: folder.appendingPathComponent("rfc-vectors.json"))
        let file = try JSONDecoder().decode(File.self, from: text)
        return try #require(file.vectors.first { $0.id == id })
    }

    @Test(arguments: ["pkce-octets", "b64url-notes"]) func `base64url`(id: String) throws {
        let vector = try Self.vector(id)
        let octets = try #require(vector.input.octets)
        let text = try #require(vector.expect.base64url ?? vector.expect.code_verifier)
        #expect(Base64URL.encode(octets) == text)
        #expect(Base64URL.decode(text.utf8) == octets)
    }

    @Test func `RFC 7515 A1 - a signature by a shared key`() throws {
        let vector = try Self.vector("jws-hs256")
        let jws = try CompactJWS(Secret(vector.input.jwt ?? ""))
        let key = try #require(vector.input.key_b64url.flatMap { Base64URL.decode($0.utf8) })
        #expect(jws.algorithm == .hs256)
        #expect(SharedKey(Secret(key)).isValid(jws.signature, of: jws.signingInput, by: .sha256))
        #expect(!SharedKey(Secret(key.dropLast())).isValid(jws.signature, of: jws.signingInput, by: .sha256))
        #expect(jws.payload.text("iss") == "joe")
    }

    @Test func `OpenID Connect Core A3 - at_hash and c_hash`() throws {
        let token = try Self.vector("at_hash")
        #expect(
            SigningAlgorithm.rs256.halfHash(of: try #require(token.input.access_token).utf8) == token.expect.at_hash
        )
        let code = try Self.vector("c_hash")
        #expect(code.input.code.map { SigningAlgorithm.rs256.halfHash(of: $0.utf8) } == code.expect.c_hash)
        #expect(token.expect.at_hash != nil && code.expect.c_hash != nil)
    }

    @Test func `RFC 7638 3.1 - the thumbprint of a key`() throws {
        let vector = try Self.vector("jwk-thumbprint")
        let jwk = try #require(vector.input.jwk)
        let key = try #require(PublicKey(jwk: JSONObject(JSONEncoder().encode(jwk).map { $0 })))
        #expect(key.thumbprint == vector.expect.thumbprint)
    }

    @Test(arguments: ["dpop-token-proof", "dpop-resource-proof"]) func `RFC 9449 - the examples of proofs`(
        id: String
    ) throws {
        let vector = try Self.vector(id)
        let jws = try CompactJWS(Secret(vector.input.jwt ?? ""))
        let key = try #require(jws.header.object("jwk").flatMap(PublicKey.init(jwk:)))
        #expect(key.isValid(jws.signature, of: jws.signingInput, by: jws.algorithm))
        #expect(key.thumbprint == vector.expect.jkt)
        let claims = try #require(vector.expect.claims)
        #expect(jws.payload.text("htm") == claims.htm)
        #expect(DPoPKey.target(claims.htu ?? "") == jws.payload.text("htu"))
        #expect(jws.payload.text("jti") == claims.jti)
        #expect(jws.payload.text("ath") == claims.ath)
    }

    @Test func `RFC 9449 7.1 - the hash of an access token`() throws {
        let vector = try Self.vector("dpop-ath")
        let token = try #require(vector.input.access_token)
        let proof = try DPoPKey().proof(
            method: "GET",
            url: "https://resource.example.org/protectedresource",
            accessToken: Secret(token),
            now: Forge.now,
            random: [1]
        )
        #expect(try CompactJWS(Secret(proof)).payload.text("ath") == vector.expect.ath)
    }
}
