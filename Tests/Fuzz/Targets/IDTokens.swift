internal import Crypto
internal import Foundation
internal import TextEncodings
@testable internal import OAuthMessages
internal import RefreshCore

/// ID tokens, checked with a known key.
///
/// The first byte of an input says whether the rest is a token, or a header and a payload (one line each). The target
/// signs these as a server would, because a fuzzer would never find a valid signature.
enum IDTokens {
    static let now = Timestamp(microseconds: 1_800_000_000_000_000)
    private static let issuer = "https://op.example.org"
    private static let clientID = "mail"
    /// A private key with the bytes 1 to 32. It is the same in every run, so that stored tokens stay valid.
    private static let signer = try? P256.Signing.PrivateKey(rawRepresentation: (1...32).map { UInt8($0) })
    private static let secret = "a shared secret of the fuzzer"

    static func run(_ input: [UInt8]) {
        var rest = input
        let mode = rest.takeByte()
        guard let validation = validation(isSymmetric: mode & 2 != 0), let keys, let signer else { return }
        let token: [UInt8]
        if mode & 1 == 0 {
            token = rest
        } else {
            let header = rest.takeLine()
            let signed = Array((Base64URL.encode(header) + "." + Base64URL.encode(rest)).utf8)
            let signature = sign(signed, signer, isSymmetric: mode & 2 != 0)
            token = signed + [UInt8(ascii: ".")] + Array(Base64URL.encode(signature).utf8)
        }
        checkForm(token)
        guard let claims = try? validation.validate(Secret(token), keys: keys, now: now) else { return }
        check(claims, token)
    }

    private static func sign(_ input: [UInt8], _ signer: P256.Signing.PrivateKey, isSymmetric: Bool) -> [UInt8] {
        guard !isSymmetric else {
            return Array(HMAC<SHA256>.authenticationCode(for: input, using: SymmetricKey(data: Array(secret.utf8))))
        }
        return (try? signer.signature(for: input)).map { Array($0.rawRepresentation) } ?? []
    }

    private static func validation(isSymmetric: Bool) -> IDTokenValidation? {
        guard let issuer = try? Issuer(url: issuer) else { return nil }
        var validation = IDTokenValidation(issuer: issuer, clientID: clientID)
        validation.nonce = Secret("n-1")
        validation.accessToken = Secret("at-1")
        validation.maxAge = .seconds(300)
        if isSymmetric {
            validation.registeredAlgorithm = .hs256
            validation.clientSecret = Secret(secret)
        }
        return validation
    }

    private static let keys: JWKSet? = {
        guard let point = signer?.publicKey.x963Representation, point.count == 65 else { return nil }
        let bytes = Array(point)
        let (x, y) = (Base64URL.encode(bytes[1...32]), Base64URL.encode(bytes[33...64]))
        let text = #"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":"k1"}]}"#
        return try? JWKSet(Array(text.utf8))
    }()

    /// In base64url, each sequence of bytes has exactly one text.
    private static func checkForm(_ token: [UInt8]) {
        for part in token.split(separator: UInt8(ascii: ".")) {
            guard let bytes = Base64URL.decode(part) else { continue }
            require(Base64URL.encode(bytes).utf8.elementsEqual(part), "base64url reads as it is written")
        }
    }

    /// An accepted token, checked again by other means: OpenID Connect Core §3.1.3.7, implemented with Foundation.
    private static func check(_ claims: IDToken, _ token: [UInt8]) {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        require(parts.count == 3, "a token has three parts")
        guard let header = object(parts[0]), let payload = object(parts[1]) else {
            return require(false, "Foundation reads header and payload, too")
        }
        require(["ES256", "HS256"].contains(header["alg"] as? String), "the algorithm is the key's own")
        require(header["crit"] == nil && header["enc"] == nil, "nothing was there that had to be understood")
        require(payload["iss"] as? String == issuer, "the issuer is the one that was asked")
        require(payload["sub"] as? String == claims.subject, "the subject is the one in the token")
        let audiences = payload["aud"] as? [String] ?? [payload["aud"] as? String ?? ""]
        require(audiences.contains(clientID), "the token is for this client")
        require(
            audiences.count == 1 || payload["azp"] as? String == clientID,
            "of several audiences this client is the party"
        )
        require(payload["nonce"] as? String == "n-1", "the token answers this request")
        let seconds = Double(now.microseconds) / 1e6
        let (leeway, age) = (60.0, 3600.0)
        require((payload["exp"] as? NSNumber)?.doubleValue ?? 0 > seconds - leeway, "the token has not expired")
        let issuedAt = (payload["iat"] as? NSNumber)?.doubleValue ?? 0
        require(issuedAt >= seconds - age - 1 && issuedAt <= seconds + leeway, "the token was made now")
        let authenticatedAt = (payload["auth_time"] as? NSNumber)?.doubleValue ?? 0
        require(authenticatedAt + 300 + leeway >= seconds - 1, "the sign-in is as young as was asked for")
        if let hash = payload["at_hash"], !(hash is NSNull) {
            let digest = Array(SHA256.hash(data: Array("at-1".utf8))).prefix(16)
            require(hash as? String == Base64URL.encode(digest), "the token belongs to the access token")
        }
    }

    private static func object(_ part: ArraySlice<UInt8>) -> [String: Any]? {
        let text = String(decoding: part, as: UTF8.self).replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text + padding).flatMap {
            try? JSONSerialization.jsonObject(with: $0) as? [String: Any]
        }
    }
}
