import Crypto
import FoundationEssentials
package import RefreshCore
internal import TextEncodings

/// The key that an account's tokens are bound to (RFC 9449): ES256, which every server with DPoP takes.
package struct DPoPKey: Sendable {
    private let key: P256.Signing.PrivateKey

    /// A new key, from the library's own random numbers.
    package init() {
        key = P256.Signing.PrivateKey()
    }

    /// The key that `secret` once gave.
    ///
    /// - Throws: `keyMalformed`.
    package init(stored secret: Secret) throws(JOSEError) {
        let bytes = unsafe secret.withBytes { unsafe Array($0) }
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else { throw .keyMalformed }
        self.key = key
    }

    /// The private number, 32 bytes, for the sealed store.
    package var secret: Secret { Secret(key.rawRepresentation) }

    /// The private number in base64url, to be moved to another machine.
    package var text: Secret { Secret(Base64URL.encode(key.rawRepresentation)) }

    /// The key that `text` once gave.
    ///
    /// - Throws: `keyMalformed`.
    package init(text: String) throws(JOSEError) {
        guard let bytes = Base64URL.decode(text.utf8) else { throw .keyMalformed }
        try self.init(stored: Secret(bytes))
    }

    /// What tokens bound to the key carry as `cnf.jkt` (RFC 9449 §6.1), and what `dpop_jkt` announces (§10).
    package var thumbprint: String { PublicKey.p256(key.publicKey).thumbprint }

    /// The value of the `DPoP` header for one request (RFC 9449 §4.2).
    ///
    /// - Parameters:
    ///   - nonce: the last that the server gave (§8, §9); nil if it gave none.
    ///   - accessToken: the token that goes with the request; nil at the token endpoint.
    ///   - now: by the server's clock, as far as it is known.
    ///   - random: 16 bytes or more that were never used before, for `jti`.
    /// - Throws: `signingFailed`.
    package func proof(
        method: String,
        url: String,
        nonce: String? = nil,
        accessToken: Secret? = nil,
        now: Timestamp,
        random: [UInt8]
    ) throws(JOSEError) -> String {
        let publicKey = PublicKey.p256(key.publicKey)
        let header = TokenValue.object([
            ("typ", .text("dpop+jwt")), ("alg", .text(SigningAlgorithm.es256.rawValue)),
            ("jwk", .object(publicKey.members)),
        ])
        var claims: [(name: String, value: TokenValue)] = [
            ("jti", .text(Base64URL.encode(random))), ("htm", .text(method)), ("htu", .text(Self.target(url))),
            ("iat", .number(now.microseconds / 1_000_000)),
        ]
        if let accessToken {
            let hash = unsafe accessToken.withBytes { unsafe SHA256.hash(data: $0) }
            claims.append(("ath", .text(Base64URL.encode(hash))))
        }
        if let nonce { claims.append(("nonce", .text(nonce))) }
        let input =
            Base64URL.encode(header.written.utf8) + "." + Base64URL.encode(TokenValue.object(claims).written.utf8)
        guard let signature = try? key.signature(for: SHA256.hash(data: Array(input.utf8))) else {
            throw .signingFailed
        }
        return input + "." + Base64URL.encode(signature.rawRepresentation)
    }

    /// `htu`: the URL without query and fragment (RFC 9449 §4.2), in the normal form of RFC 3986 §6.2: scheme and host in lower case,
    /// no default port, a path. Servers compare it as text more often than they normalise it.
    static func target(_ url: String) -> String {
        let bare = url.prefix { $0 != "?" && $0 != "#" }
        guard let colon = bare.firstIndex(of: ":"), bare[colon...].hasPrefix("://") else { return String(bare) }
        let scheme = bare[..<colon].lowercased()
        let rest = bare[bare.index(colon, offsetBy: 3)...]
        var authority = rest.prefix { $0 != "/" }.lowercased()
        let path = rest.dropFirst(authority.count)
        let port = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(port) { authority.removeLast(port.count) }
        if authority.hasSuffix(":") { authority.removeLast() }
        return scheme + "://" + authority + (path.isEmpty ? "/" : path)
    }
}
