import Crypto
import CryptoExtras
import FoundationEssentials
import RefreshCore
import Testing
import TextEncodings

@testable import OAuthMessages

/// What an attacker or a broken server may send instead of an ID token.
@Suite struct IDTokenAttackTests {
    private func validate(
        _ token: Secret,
        keys: JWKSet,
        _ setUp: (inout IDTokenValidation) -> Void = { _ in }
    ) throws -> IDToken {
        var validation = try Forge.validation()
        setUp(&validation)
        return try validation.validate(token, keys: keys, now: Forge.now)
    }

    // MARK: Algorithms

    @Test(arguments: ["none", "None", "NONE", "nOnE"], ["", "AAAA"])
    func `a token without a signature is refused, whatever the client is registered for`(
        name: String,
        signature: String
    ) throws {
        let key = try Forge.key(.es256)
        let input = Base64URL.encode(#"{"alg":"\#(name)"}"#.utf8) + "." + Base64URL.encode(Forge.claims().utf8)
        let token = Secret(input + "." + signature)
        for algorithm in [nil, SigningAlgorithm.es256, .hs256] {
            #expect(throws: JOSEError.unsigned) {
                try validate(token, keys: Forge.keySet(key)) {
                    $0.registeredAlgorithm = algorithm
                    $0.clientSecret = Secret("")
                }
            }
        }
    }

    @Test func `a public key is never used as a shared one`() throws {
        let rsa = try #require(Forge.rsa)
        let key = try Forge.key(.rs256)
        let spellings = [
            Array(rsa.publicKey.pemRepresentation.utf8), Array(rsa.publicKey.derRepresentation),
            Array(try rsa.publicKey.getKeyPrimitives().modulus), Array("{\(key.jwk)}".utf8),
        ]
        for bytes in spellings {
            let token = Forge.token(header: Forge.header(.hs256), claims: Forge.claims()) {
                SharedKey(Secret(bytes)).signature(of: $0, by: .sha256)
            }
            #expect(throws: JOSEError.algorithmNotAllowed(.hs256)) { try validate(token, keys: Forge.keySet(key)) }
            #expect(throws: JOSEError.algorithmNotAllowed(.hs256)) {
                try validate(token, keys: Forge.keySet(key)) {
                    $0.registeredAlgorithm = .rs256
                    $0.clientSecret = Secret("secret")
                }
            }
            #expect(throws: JOSEError.signatureMismatch) {
                try validate(token, keys: Forge.keySet(key)) {
                    $0.registeredAlgorithm = .hs256
                    $0.clientSecret = Secret("secret")
                }
            }
        }
    }

    @Test(arguments: [SigningAlgorithm.hs256, .hs384, .hs512])
    func `a token signed with the client secret is accepted only if that is registered`(
        algorithm: SigningAlgorithm
    ) throws {
        let secret = Secret("a client secret")
        let token = Forge.token(header: Forge.header(algorithm, ""), claims: Forge.claims()) {
            SharedKey(secret).signature(of: $0, by: algorithm.hash)
        }
        let claims = try validate(token, keys: .empty) {
            $0.registeredAlgorithm = algorithm
            $0.clientSecret = secret
        }
        #expect(claims.subject == "u-1")
        #expect(throws: JOSEError.algorithmNotAllowed(algorithm)) { try validate(token, keys: .empty) }
        #expect(throws: JOSEError.algorithmNotAllowed(algorithm)) {
            try validate(token, keys: .empty) { $0.clientSecret = secret }
        }
        #expect(throws: JOSEError.algorithmNotAllowed(algorithm)) {
            try validate(token, keys: .empty) { $0.registeredAlgorithm = algorithm }
        }
    }

    @Test func `another algorithm than the registered one is refused, even if the key fits`() throws {
        let key = try Forge.key(.ps256)
        let token = try Forge.token(key)
        #expect(throws: JOSEError.algorithmNotAllowed(.ps256)) {
            try validate(token, keys: Forge.keySet(key)) { $0.registeredAlgorithm = .rs256 }
        }
    }

    @Test func `the header cannot choose another algorithm for a key than its own`() throws {
        let (ec, rsa) = (try Forge.key(.es256), try Forge.key(.rs256))
        // Each is signed properly, but under the name of an algorithm that does not belong to the key.
        for (key, claimed) in [(ec, SigningAlgorithm.es384), (ec, .rs256), (rsa, .es256), (rsa, .edDSA)] {
            let token = try Forge.token(key, header: Forge.header(claimed))
            #expect(throws: JOSEError.unknownKey("k1")) { try validate(token, keys: Forge.keySet(key)) }
        }
        // RS256 and PS256 use the same kind of key, but their signatures differ.
        let token = try Forge.token(rsa, header: Forge.header(.ps256))
        #expect(throws: JOSEError.signatureMismatch) { try validate(token, keys: Forge.keySet(rsa)) }
        #expect(throws: JOSEError.unknownKey("k1")) {
            try validate(token, keys: Forge.keySet(rsa, rest: #","kid":"k1","alg":"RS256""#))
        }
    }

    @Test(arguments: ["ES256K", "HS1", "rs256", "RSA-OAEP", "", "ML-DSA-65"])
    func `an unknown algorithm is refused`(name: String) throws {
        let key = try Forge.key(.es256)
        let token = try Forge.token(key, header: #"{"alg":"\#(name)","kid":"k1"}"#)
        #expect(throws: JOSEError.unknownAlgorithm(name)) { try validate(token, keys: Forge.keySet(key)) }
    }

    // MARK: Signatures

    @Test func `claims under another token's signature are refused`() throws {
        let key = try Forge.key(.es256)
        let one = try Forge.token(key).reveal().split(separator: ".")
        let other = try Forge.token(key, claims: Forge.claims(["sub": #""u-2""#])).reveal().split(separator: ".")
        let swapped = Secret([one[0], other[1], one[2]].joined(separator: "."))
        #expect(throws: JOSEError.signatureMismatch) { try validate(swapped, keys: Forge.keySet(key)) }
    }

    @Test(arguments: SigningAlgorithm.allCases.filter { !$0.isSymmetric })
    func `an empty, short, long or changed signature is refused`(algorithm: SigningAlgorithm) throws {
        let key = try Forge.key(algorithm)
        let keys = try Forge.keySet(key)
        let token = try Forge.token(key)
        let parts = token.reveal().split(separator: ".")
        let signature = try #require(Base64URL.decode(parts[2].utf8))
        var changed = signature
        changed[changed.count / 2] ^= 1
        let zeros = [UInt8](repeating: 0, count: signature.count)
        let bads: [[UInt8]] = [[], [0], Array(signature.dropLast()), signature + [0], changed, zeros]
        for bad in bads {
            let token = Secret("\(parts[0]).\(parts[1])." + Base64URL.encode(bad))
            #expect(throws: JOSEError.signatureMismatch) { try validate(token, keys: keys) }
        }
    }

    @Test func `a key inside the token is ignored`() throws {
        let (own, theirs) = (try Forge.key(.es256), try Forge.key(.es384))
        for lure in [
            #""jwk":{\#(theirs.jwk)}"#, #""jku":"https://evil.example/jwks""#, #""x5u":"https://evil.example/cert""#,
            #""x5c":["AAAA"]"#, #""x5t":"AAAA""#,
        ] {
            let forged = try Forge.token(theirs, header: #"{"alg":"ES384",\#(lure)}"#)
            #expect(throws: JOSEError.unknownKey(nil)) { try validate(forged, keys: Forge.keySet(own)) }
            // In a token with the server's own signature it does no harm.
            let honest = try Forge.token(own, header: #"{"alg":"ES256","kid":"k1",\#(lure)}"#)
            #expect(try validate(honest, keys: Forge.keySet(own)).subject == "u-1")
        }
    }

    @Test func `an unknown key has its own error, so that the key set is fetched again`() throws {
        let key = try Forge.key(.es256)
        let token = try Forge.token(key, header: #"{"alg":"ES256","kid":"k2"}"#)
        #expect(throws: JOSEError.unknownKey("k2")) { try validate(token, keys: Forge.keySet(key)) }
        #expect(JOSEError.unknownKey("k2").mayBeKeyRotation)
        #expect(JOSEError.signatureMismatch.mayBeKeyRotation)
        #expect(!JOSEError.wrongAudience.mayBeKeyRotation)
    }

    @Test func `a token that names no key is checked with each that fits`() throws {
        let (one, other) = (try Forge.key(.es384), try Forge.key(.es384))
        let token = try Forge.token(other, header: #"{"alg":"ES384"}"#)
        #expect(try validate(token, keys: Forge.keySet(one, other)).subject == "u-1")
        #expect(throws: JOSEError.signatureMismatch) { try validate(token, keys: Forge.keySet(one)) }
    }

    // MARK: Form

    @Test func `critical extensions are refused, known or not`() throws {
        let key = try Forge.key(.es256)
        for header in [
            #"{"alg":"ES256","kid":"k1","crit":["exp"],"exp":1}"#, #"{"alg":"ES256","kid":"k1","crit":[]}"#,
            #"{"alg":"ES256","kid":"k1","crit":null}"#, #"{"alg":"ES256","kid":"k1","b64":false,"crit":["b64"]}"#,
        ] {
            let token = try Forge.token(key, header: header)
            #expect(throws: JOSEError.criticalExtension) { try validate(token, keys: Forge.keySet(key)) }
        }
    }

    @Test(arguments: ["at+jwt", "logout+jwt", "dpop+jwt", "JOSE", "application/at+jwt", ""])
    func `another kind of token is refused`(type: String) throws {
        let key = try Forge.key(.es256)
        let token = try Forge.token(key, header: #"{"alg":"ES256","kid":"k1","typ":"\#(type)"}"#)
        #expect(throws: JOSEError.wrongType(type)) { try validate(token, keys: Forge.keySet(key)) }
    }

    @Test func `a repeated member is refused at any place`() throws {
        let key = try Forge.key(.es256)
        let claims = Forge.claims(["sub": #""u-1","sub":"admin""#])
        let deep = Forge.claims(["address": #"[{"a":{"country":"de","country":"fr"}}]"#])
        for (token, name) in [
            (try Forge.token(key, claims: claims), "sub"), (try Forge.token(key, claims: deep), "country"),
            (try Forge.token(key, header: #"{"alg":"ES256","kid":"k1","\u006bid":"k2"}"#), "kid"),
        ] {
            #expect(throws: JOSEError.duplicateMember(name)) { try validate(token, keys: Forge.keySet(key)) }
        }
    }

    @Test func `text around a token, or between its parts, is refused`() throws {
        let key = try Forge.key(.es256)
        let keys = try Forge.keySet(key)
        let token = try Forge.token(key).reveal()
        let parts = token.split(separator: ".").map(String.init)
        for text in [
            token + ".", "." + token, token + "\n", " " + token, token + "=", parts[0] + "." + parts[1],
            parts[0] + ".." + parts[1] + "." + parts[2], parts[0] + "." + parts[1] + ".." + parts[2],
            parts[0] + "=." + parts[1] + "." + parts[2], "", ".", "..", "...",
            parts[0].replacing("e", with: "+", maxReplacements: 1) + "." + parts[1] + "." + parts[2],
        ] {
            #expect(throws: JOSEError.malformed, "\(text)") { try validate(Secret(text), keys: keys) }
        }
        #expect(throws: JOSEError.encrypted) { try validate(Secret("a.b.c.d.e"), keys: keys) }
    }

    @Test func `parts that are not JSON objects of UTF-8 text are refused`() throws {
        let key = try Forge.key(.es256)
        let keys = try Forge.keySet(key)
        let nested = String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        for claims in ["", "[]", "1", "\"text\"", "{", Forge.claims() + "{}", Forge.claims(["x": nested])] {
            let token = try Forge.token(key, claims: claims)
            #expect(throws: JOSEError.malformed) { try validate(token, keys: keys) }
        }
        let latin = Array(Forge.claims(["x": #""X""#]).utf8.map { $0 == UInt8(ascii: "X") ? 0xFC : $0 })
        let input = Base64URL.encode(Forge.header(.es256).utf8) + "." + Base64URL.encode(latin)
        let token = Secret(input + "." + Base64URL.encode(try key.sign(Array(input.utf8))))
        #expect(throws: JOSEError.malformed) { try validate(token, keys: keys) }
        let inner = try Forge.token(key).reveal()
        let wrapped = Forge.token(header: #"{"alg":"ES256","kid":"k1","cty":"JWT"}"#, claims: inner) { $0 }
        #expect(throws: JOSEError.malformed) { try validate(wrapped, keys: keys) }
    }

    @Test func `a token at the size limit is read and one beyond it is not`() throws {
        let key = try Forge.key(.es256)
        let keys = try Forge.keySet(key)
        let bare = try Forge.token(key, claims: Forge.claims(["pad": #""""#])).count
        var padding = (CompactJWS.sizeLimit - bare) * 3 / 4
        while try Forge.token(key, claims: padded(padding)).count > CompactJWS.sizeLimit { padding -= 1 }
        #expect(try validate(Forge.token(key, claims: padded(padding)), keys: keys).subject == "u-1")
        #expect(throws: JOSEError.tooLarge) { try validate(Forge.token(key, claims: padded(padding + 4)), keys: keys) }
    }

    private func padded(_ count: Int) -> String {
        Forge.claims(["pad": "\"\(String(repeating: "p", count: count))\""])
    }
}
