internal import Crypto
package import RefreshCore

/// The path of the redirect URI for an issuer. Each issuer has its own path.
///
/// If a server names no issuer in its answers, they cannot be distinguished from those of another server. An attacker's
/// server could send the person on to an honest server, and so get the honest server's code (mix-up, RFC 9700 §4.4). A
/// redirect URI for each issuer prevents that (§4.4.2, RFC 8252 §8.10): the honest server refuses a redirect URI that
/// is not registered there, and we do not listen on the path of an issuer that was not asked.
extension Issuer {
    private static let redirectPrefix = "/callback/"

    /// Whether `path` was made by `redirectPath`, for any issuer.
    package static func isRedirectPath(_ path: String) -> Bool {
        let digest = path.dropFirst(redirectPrefix.count)
        return path.hasPrefix(redirectPrefix) && digest.count == 16 && digest.allSatisfy(\.isHexDigit)
    }

    /// `/callback/` and 16 hexadecimal digits. It is always the same for an issuer, so that all accounts of a client
    /// can use one registration.
    package var redirectPath: String {
        // 64 bits of the hash are enough: it need not be secret, only different.
        let digest = SHA256.hash(data: Array(url.utf8)).prefix(8)
        return Self.redirectPrefix + digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
