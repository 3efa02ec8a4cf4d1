import Crypto
import FoundationEssentials
import RefreshCore
import Testing
import TextEncodings

@testable import OAuthMessages

@Suite struct DPoPTests {
    private static let random = [UInt8](repeating: 7, count: 16)

    @Test func `a proof names its request, and is signed by the key that it contains`() throws {
        let key = DPoPKey()
        let proof = try key.proof(
            method: "POST",
            url: "https://OP.example.org:443/token?x=1#y",
            nonce: "n-1",
            accessToken: Secret("token-1"),
            now: Forge.now,
            random: Self.random
        )
        let jws = try CompactJWS(Secret(proof))
        #expect(jws.header.text("typ") == "dpop+jwt")
        #expect(jws.header.text("alg") == "ES256")
        #expect(jws.payload.text("htm") == "POST")
        #expect(jws.payload.text("htu") == "https://op.example.org/token")
        #expect(jws.payload.text("nonce") == "n-1")
        #expect(jws.payload.text("jti") == "BwcHBwcHBwcHBwcHBwcHBw")
        #expect(jws.payload.date("iat") == Forge.now)
        #expect(jws.payload.text("ath") == Base64URL.encode(SHA256.hash(data: Array("token-1".utf8))))
        let shown = try #require(jws.header.object("jwk"))
        #expect(!shown.has("d"))
        let published = try #require(PublicKey(jwk: shown))
        #expect(published.thumbprint == key.thumbprint)
        #expect(published.isValid(jws.signature, of: jws.signingInput, by: .es256))
    }

    @Test func `a proof for the token endpoint has no token hash, and no nonce unless one was given`() throws {
        let proof = try DPoPKey().proof(method: "POST", url: "https://a/t", now: Forge.now, random: Self.random)
        let payload = try CompactJWS(Secret(proof)).payload
        #expect(!payload.has("ath") && !payload.has("nonce"))
    }

    @Test func `a stored key is the same key`() throws {
        let key = DPoPKey()
        #expect(key.secret.count == 32)
        #expect(try DPoPKey(stored: key.secret).thumbprint == key.thumbprint)
        #expect(DPoPKey().thumbprint != key.thumbprint)
    }

    @Test(arguments: [0, 31, 33]) func `bytes that are not a key are refused`(count: Int) {
        #expect(throws: JOSEError.keyMalformed) { try DPoPKey(stored: Secret([UInt8](repeating: 1, count: count))) }
        #expect(throws: JOSEError.keyMalformed) { try DPoPKey(stored: Secret([UInt8](repeating: 0, count: 32))) }
    }

    @Test(arguments: [
        ("https://a.example", "https://a.example/"), ("HTTPS://A.example/B", "https://a.example/B"),
        ("https://a.example:443/b", "https://a.example/b"), ("https://a.example:8443/b", "https://a.example:8443/b"),
        ("http://127.0.0.1:80/b", "http://127.0.0.1/b"), ("http://[::1]:8080/b", "http://[::1]:8080/b"),
        ("https://a.example:/b", "https://a.example/b"), ("https://a.example?q=/x", "https://a.example/"),
        ("https://a.example/b#f?q", "https://a.example/b"), ("https://a.example:80/", "https://a.example:80/"),
        ("https://a.example/%7Eb//c", "https://a.example/%7Eb//c"),
    ]) func `the target is the URL in its normal form, without query and fragment`(url: String, target: String) {
        #expect(DPoPKey.target(url) == target)
    }
}
