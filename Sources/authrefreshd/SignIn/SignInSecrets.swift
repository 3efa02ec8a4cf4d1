internal import RefreshCore

/// What binds the answer of a sign-in to its request; drawn anew for each.
struct SignInSecrets: Sendable {
    /// `state` (RFC 6749 §4.1.1).
    let state = RandomText.secret(characters: 43)
    /// `nonce` of the ID token (OpenID Connect Core §3.1.2.1).
    let nonce = RandomText.secret(characters: 43)
    /// `code_verifier` (RFC 7636 §4.1).
    let codeVerifier = RandomText.secret(characters: 43)
}

/// Text that nobody can guess, made of the 64 characters of base64url: six bits each, so that 43 hold 256 bits, and 22 hold 128.
enum RandomText {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func secret(characters: Int) -> Secret {
        Secret(bytes(characters))
    }

    static func text(characters: Int) -> String {
        String(decoding: bytes(characters), as: UTF8.self)
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in alphabet[Int(generator.next() & 63)] }
    }
}
