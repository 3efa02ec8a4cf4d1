import FoundationEssentials
import Testing
import TextEncodings

@testable import OAuthMessages

@Suite struct JWKSetTests {
    private func set(_ keys: String...) throws(JOSEError) -> JWKSet {
        try JWKSet(Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
    }

    @Test func `keys of unknown kinds, for other uses, or damaged, are left out`() throws {
        let good = try Forge.key(.es256).jwk
        let rsa = try Forge.key(.rs256).jwk
        for other in [
            #"{"kty":"oct","k":"AAAA"}"#, #"{"kty":"AKP","alg":"ML-DSA-44","pub":"AAAA"}"#, "{}", "1", "null",
            "\"key\"", "[]",
            #"{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"}"#, #"{"kty":"EC","crv":"P-256"}"#,
            #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"{"kty":"OKP","crv":"X25519","x":"AAAA"}"#,
            #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"RSA","n":"A+A=","e":"AQAB"}"#, #"{"kty":5}"#,
            #"{"kty":"EC","crv":"P-256","x":"\#(String(repeating: "A", count: 43))","y":"\#(String(repeating: "A", count: 43))"}"#,
            "{\(good),\"use\":\"enc\"}", "{\(good),\"key_ops\":[\"sign\"]}", "{\(good),\"alg\":\"ECDH-ES\"}",
            "{\(good),\"alg\":\"RS256\"}", "{\(rsa),\"alg\":\"RSA-OAEP\"}",
        ] {
            #expect(try set(other).keys.isEmpty, "\(other)")
            #expect(try set(other, "{\(good)}").keys.count == 1, "\(other)")
        }
    }

    @Test func `a key's stated use is respected`() throws {
        let key = try Forge.key(.es256).jwk
        for rest in [
            #""use":"sig""#, #""key_ops":["verify"]"#, #""alg":"ES256""#, #""x5c":["AAAA"],"future":{"a":[1]}"#,
        ] {
            #expect(try set("{\(key),\(rest)}").keys.count == 1)
        }
    }

    @Test func `keys are chosen by name, algorithm and kind`() throws {
        let (ec, rsa) = (try Forge.key(.es256).jwk, try Forge.key(.rs256).jwk)
        let keys = try set(
            "{\(ec),\"kid\":\"a\"}",
            "{\(rsa),\"kid\":\"a\"}",
            "{\(rsa),\"kid\":\"b\",\"alg\":\"PS256\"}",
            "{\(rsa)}"
        )
        #expect(keys.candidates(keyID: "a", algorithm: .es256).count == 1)
        #expect(keys.candidates(keyID: "a", algorithm: .rs256).count == 1)
        #expect(keys.candidates(keyID: "b", algorithm: .rs256).isEmpty)
        #expect(keys.candidates(keyID: "b", algorithm: .ps256).count == 1)
        #expect(keys.candidates(keyID: "c", algorithm: .rs256).isEmpty)
        #expect(keys.candidates(keyID: nil, algorithm: .rs256).count == 2)
        #expect(keys.candidates(keyID: nil, algorithm: .ps512).count == 2)
        #expect(keys.candidates(keyID: "A", algorithm: .rs256).isEmpty)
    }

    @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":null}"#, "<html>", #"{"keys":[}"#])
    func `an invalid key set is refused`(text: String) {
        #expect(throws: JOSEError.keySetMalformed) { try JWKSet(Array(text.utf8)) }
    }

    @Test func `a repeated member is refused`() {
        #expect(throws: JOSEError.duplicateMember("kty")) { try set(#"{"kty":"RSA","kty":"EC"}"#) }
    }

    @Test func `a key set at its limits is read and one beyond them is not`() throws {
        let key = "{\(try Forge.key(.es256).jwk)}"
        let most = Array(repeating: key, count: JWKSet.countLimit).joined(separator: ",")
        #expect(try set(most).keys.count == JWKSet.countLimit)
        #expect(throws: JOSEError.keySetTooLarge) { try set(most, key) }
        let padding = JWKSet.sizeLimit - #"{"keys":[],"p":""}"#.utf8.count
        let text = { (count: Int) in Array((#"{"keys":[],"p":"\#(String(repeating: "p", count: count))"}"#).utf8) }
        #expect(try JWKSet(text(padding)).keys.isEmpty)
        #expect(throws: JOSEError.keySetTooLarge) { try JWKSet(text(padding + 1)) }
    }

    @Test func `an RSA key beyond 8192 bits is left out, because verifying takes too long`() throws {
        let modulus = { (bytes: Int) in Base64URL.encode([UInt8](repeating: 0xFF, count: bytes)) }
        #expect(try set(#"{"kty":"RSA","n":"\#(modulus(1024))","e":"AQAB"}"#).keys.count == 1)
        #expect(try set(#"{"kty":"RSA","n":"\#(modulus(1025))","e":"AQAB"}"#).keys.isEmpty)
        #expect(try set(#"{"kty":"RSA","n":"\#(modulus(255))","e":"AQAB"}"#).keys.isEmpty)
        #expect(try set(#"{"kty":"RSA","n":"\#(modulus(256))","e":"\#(modulus(5))"}"#).keys.isEmpty)
    }
}
