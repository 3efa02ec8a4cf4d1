internal import Crypto
package import RefreshCore

/// The redirect URI path of an issuer, which no other issuer has.
///
/// A server that names no issuer in its answers cannot be told from another one by them. An attacker's server could therefore send the
/// person on to an honest one, and have the honest server's code brought to itself (mix-up, RFC 9700 §4.4). With a redirect URI for each
/// issuer (§4.4.2, RFC 8252 §8.10) it cannot: the honest server refuses a redirect URI that is not registered there, and we do not
/// listen on the path of an issuer that was not asked.
package enum IssuerRedirect {
    private static let prefix = "/callback/"

    /// Whether `path` was made by `path(of:)`, for whatever issuer.
    package static func isPath(_ path: String) -> Bool {
        let digest = path.dropFirst(prefix.count)
        return path.hasPrefix(prefix) && digest.count == 16 && digest.allSatisfy(\.isHexDigit)
    }

    /// `/callback/` and 16 hexadecimal digits. Always the same for an issuer, so that all accounts of one client share a registration.
    package static func path(of issuer: Issuer) -> String {
        // 64 bits of the hash: nobody has to guess it, it only has to differ.
        let digest = SHA256.hash(data: Array(issuer.url.utf8)).prefix(8)
        return prefix + digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
