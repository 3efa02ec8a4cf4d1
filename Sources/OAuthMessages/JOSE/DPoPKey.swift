import Crypto
import FoundationEssentials
package import RefreshCore
internal import TextEncodings

/// The key to which an account's tokens are bound (RFC 9449). It is for ES256, which every DPoP server accepts.
package struct DPoPKey: Sendable {
    private let key: P256.Signing.PrivateKey

    /// Generates a new key with the library's random numbers.
    package init() {
        key = P256.Signing.PrivateKey()
    }

    /// Restores a key from its `secret`.
    ///
    /// - Throws: `keyMalformed`.
    package init(stored secret: Secret) throws(JOSEError) {
        let bytes = unsafe secret.withBytes { unsafe Array($0) }
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else { throw .keyMalformed }
        self.key = key
    }

    /// The private number, 32 bytes, for the sealed store.
    package var secret: Secret { Secret(key.rawRepresentation) }

    /// The private number in base64url, for a move to another machine.
    package var text: Secret { Secret(Base64URL.encode(key.rawRepresentation)) }

    /// Restores a key from its `text`.
    ///
    /// - Throws: `keyMalformed`.
    package init(text: String) throws(JOSEError) {
        guard let bytes = Base64URL.decode(text.utf8) else { throw .keyMalformed }
        try self.init(stored: Secret(bytes))
    }

    /// The thumbprint that bound tokens have as `cnf.jkt` (RFC 9449 §6.1), and that `dpop_jkt` announces (§10).
    package var thumbprint: String { PublicKey.p256(key.publicKey).thumbprint }

    /// The value of the `DPoP` header for one request (RFC 9449 §4.2).
    ///
    /// - Parameters:
    ///   - nonce: the last nonce of the server (§8, §9); nil if there is none.
    ///   - accessToken: the token in the request; nil at the token endpoint.
    ///   - now: the time by the server's clock, as far as we know it.
    ///   - random: at least 16 bytes that were never used before, for `jti`.
    /// - Throws: `signingFailed`.
    package func proof(
        method: String,
        url: String,
        nonce: String? = nil,
        accessToken: Secret? = nil,
        now: Timestamp,
        random: [UInt8] = TokenSigner.newIdentifier()
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

    /// Whether `text` is an HTTP method for which proofs are made: a word of letters (RFC 9110 §9.1).
    package static func isMethod(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xdf) || byte == UInt8(ascii: "-")
            }
    }

    /// Whether `text` can be a nonce: visible ASCII without quotation marks and backslashes (RFC 9449 §8.1).
    package static func isNonce(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }

    /// `htu`: the URL without query and fragment (RFC 9449 §4.2), normalized by RFC 3986 §6.2: scheme and host in lower
    /// case, no default port, a path. Many servers compare it as text.
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
