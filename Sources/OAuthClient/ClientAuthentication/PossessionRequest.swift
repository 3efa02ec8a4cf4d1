package import OAuthMessages
package import RefreshCore

/// A request to a resource server that needs a DPoP proof (RFC 9449 §7).
package struct PossessionRequest: Sendable {
    let method: String
    let url: Endpoint
    /// The access token that the request carries; nil if it carries none.
    let accessToken: Secret?
    /// The last nonce of the server; nil if it gave none.
    let nonce: String?

    package init(method: String, url: Endpoint, accessToken: Secret?, nonce: String?) {
        self.method = method
        self.url = url
        self.accessToken = accessToken
        self.nonce = nonce
    }

    /// The value of the request's `DPoP` header; nil if `key` cannot be used.
    ///
    /// - Parameters:
    ///   - key: the account's key, as `ClientKeys.newDPoPKey()` returned it.
    ///   - now: the time by the server's clock, as far as it is known.
    package func proof(by key: Secret, now: Timestamp) -> String? {
        try? DPoPKey(stored: key).proof(
            method: method,
            url: url.url,
            nonce: nonce,
            accessToken: accessToken,
            now: now,
            random: AuthenticatedPost.newIdentifier()
        )
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
}
