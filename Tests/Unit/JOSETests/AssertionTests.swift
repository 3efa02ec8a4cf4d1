import Crypto
import FoundationEssentials
import RefreshCore
import Testing
import TextEncodings

@testable import OAuthMessages

/// The tokens that we sign, byte for byte where the specification is exact.
@Suite struct AssertionTests {
    private static let random = [UInt8](repeating: 7, count: 16)
    private static let seconds = Forge.now.microseconds / 1_000_000

    private func signer(keyID: String? = nil) throws -> TokenSigner {
        try TokenSigner(key: PrivateKey(Secret(Forge.ec256.pemRepresentation)), keyID: keyID, offered: nil)
    }

    @Test func `a client assertion names the client twice and lives two minutes`() throws {
        let signer = try signer(keyID: "k9")
        let token = try signer.assertion(
            issuer: "mail",
            subject: "mail",
            audience: "https://op.example.org/token",
            now: Forge.now,
            random: Self.random
        )
        let jws = try CompactJWS(token)
        #expect(jws.header.text("alg") == "ES256")
        #expect(jws.header.text("kid") == "k9")
        #expect(jws.header.text("typ") == "JWT")
        #expect(jws.payload.text("iss") == "mail")
        #expect(jws.payload.text("sub") == "mail")
        #expect(jws.payload.text("aud") == "https://op.example.org/token")
        #expect(jws.payload.text("jti") == "BwcHBwcHBwcHBwcHBwcHBw")
        #expect(jws.payload.date("iat") == Forge.now)
        #expect(jws.payload.date("exp") == Forge.now + .seconds(120))
        #expect(jws.payload.count == 6)
    }

    @Test func `Apple's client secret has the claims that Apple requires`() throws {
        let token = try signer(keyID: "KEY1234567")
            .appleSecret(clientID: "org.example.mail", teamID: "ABCDE12345", now: Forge.now)
        let parts = token.reveal().split(separator: ".")
        let text = { (part: Substring) in String(decoding: Base64URL.decode(part.utf8) ?? [], as: UTF8.self) }
        #expect(text(parts[0]) == #"{"alg":"ES256","kid":"KEY1234567"}"#)
        let (from, to) = (Self.seconds, Self.seconds + 120)
        #expect(
            text(parts[1])
                == #"{"iss":"ABCDE12345","iat":\#(from),"exp":\#(to),"aud":"https://appleid.apple.com","sub":"org.example.mail"}"#
        )
        let jws = try CompactJWS(token)
        #expect(PublicKey.p256(Forge.ec256.publicKey).isValid(jws.signature, of: jws.signingInput, by: .es256))
    }

    @Test func `an assertion grant carries its subject and the claims that the server wants`() throws {
        let token = try TokenSigner(secret: Secret("s")).assertion(
            issuer: "robot@example.org",
            subject: "ann@example.org",
            audience: "https://op.example.org/token",
            claims: ["scope": "mail calendar"],
            now: Forge.now,
            random: Self.random
        )
        let jws = try CompactJWS(token)
        #expect(jws.algorithm == .hs256)
        #expect(jws.payload.text("iss") == "robot@example.org")
        #expect(jws.payload.text("sub") == "ann@example.org")
        #expect(jws.payload.text("scope") == "mail calendar")
    }

    @Test func `a key with a certificate is named by the certificate's thumbprints`() throws {
        let der = Array("any bytes do: they are only hashed".utf8)
        let pem =
            Forge.ec256.pemRepresentation
            + "\n-----BEGIN CERTIFICATE-----\n\(Data(der).base64EncodedString())\n-----END CERTIFICATE-----\n"
        let signer = try TokenSigner(key: PrivateKey(Secret(pem)), keyID: nil, offered: nil)
        let jws = try CompactJWS(signer.sign([]))
        #expect(jws.header.text("x5t#S256") == Base64URL.encode(SHA256.hash(data: der)))
        #expect(jws.header.text("x5t") == Base64URL.encode(Insecure.SHA1.hash(data: der)))
        #expect(!jws.header.has("kid"))
    }

    @Test func `text in claims is escaped`() throws {
        let odd = "a\"b\\c\u{0}\n\u{7f}é😀"
        let jws = try CompactJWS(try signer().sign([(odd, .text(odd)), ("list", .texts([odd, ""]))]))
        #expect(jws.payload.text(odd) == odd)
        #expect(jws.payload.texts("list") == [odd, ""])
    }

    // MARK: Request objects

    private func requestObject(_ parameters: [(name: String, value: String)]) throws -> CompactJWS {
        try CompactJWS(
            signer().requestObject(
                parameters,
                clientID: "mail",
                audience: Forge.issuer,
                now: Forge.now,
                random: Self.random
            )
        )
    }

    @Test func `a request object contains the request, its client and its audience`() throws {
        let jws = try requestObject([
            ("response_type", "code"), ("client_id", "mail"), ("scope", "openid mail"), ("state", "s"),
            ("max_age", "300"), ("resource", "https://a.example"), ("resource", "https://b.example"),
            ("claims", #"{"id_token":{"acr":{"essential":true}}}"#),
            ("authorization_details", #"[{"type":"payment"}]"#), ("request_uri", "urn:x"), ("request", "y"),
        ])
        #expect(jws.header.text("typ") == "oauth-authz-req+jwt")
        #expect(jws.payload.text("iss") == "mail")
        #expect(jws.payload.text("aud") == Forge.issuer)
        #expect(jws.payload.text("client_id") == "mail")
        #expect(jws.payload.text("response_type") == "code")
        #expect(jws.payload.date("max_age") == Timestamp(microseconds: 300_000_000))
        #expect(jws.payload.texts("resource") == ["https://a.example", "https://b.example"])
        #expect(jws.payload.has("claims") && jws.payload.text("claims") == nil)
        #expect(jws.payload.objects("authorization_details")?.first?.text("type") == "payment")
        #expect(jws.payload.date("exp") == Forge.now + .seconds(120))
        #expect(jws.payload.date("nbf") == Forge.now)
        #expect(!jws.payload.has("request_uri") && !jws.payload.has("request"))
    }

    @Test(arguments: ["", "{", #"{"a":1,"a":2}"#, #"1,"scope":"admin""#, #"1}{"a":1"#])
    func `a parameter that must be JSON and is not is refused`(json: String) throws {
        #expect(throws: JOSEError.self) { try requestObject([("claims", json)]) }
    }

    @Test func `a parameter cannot replace the object's own claims`() throws {
        let jws = try requestObject([("iss", "other"), ("aud", "other"), ("client_id", "other"), ("exp", "1")])
        #expect(jws.payload.text("iss") == "mail")
        #expect(jws.payload.text("aud") == Forge.issuer)
        #expect(jws.payload.text("client_id") == "mail")
        #expect(jws.payload.date("exp") == Forge.now + .seconds(120))
    }
}
