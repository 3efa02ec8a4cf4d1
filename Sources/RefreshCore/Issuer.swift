internal import TextEncodings

/// The identifier URL of an authorization server (RFC 8414 §2, `iss` of OpenID Connect Core), compared byte for byte.
package struct Issuer: Hashable, Sendable, CustomStringConvertible {
    /// The URL as the server publishes it, including a trailing slash.
    package let url: String

    /// Accepts `url` if it is an absolute `https` URL, or `http` on a loopback address, without query or fragment (RFC
    /// 8414 §2).
    ///
    /// - Throws: `IssuerError`, which says what is wrong with it.
    package init(url: String) throws(IssuerError) {
        guard let separator = url.firstRange(ofText: "://") else { throw .notAbsolute }
        let scheme = url[..<separator.lowerBound].lowercased()
        let rest = url[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty else { throw .notAbsolute }
        guard !authority.contains("@") else { throw .hasUserInfo }
        guard !rest.contains("?"), !rest.contains("#") else { throw .hasQueryOrFragment }
        // A URL is ASCII (RFC 3986 §2). In other text, Swift compares characters and not bytes.
        guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw .notAbsolute }
        switch scheme {
        case "https": break
        case "http":
            guard LoopbackHost.isNamed(in: authority) else { throw .notHTTPS }
        default: throw .notHTTPS
        }
        self.url = url
    }

    package var description: String { url }

    /// Whether the server is on this machine. It then needs no route, and plain HTTP is allowed.
    package var isLoopback: Bool {
        guard let separator = url.firstRange(ofText: "://") else { return false }
        return LoopbackHost.mayBeNamed(in: url[separator.upperBound...].prefix { $0 != "/" })
    }
}

/// What is wrong with a URL that was given as an issuer.
package enum IssuerError: Error, Hashable, Sendable {
    case notAbsolute
    /// Plain `http` is allowed only on loopback addresses. Elsewhere, the refresh token would cross the network
    /// unprotected.
    case notHTTPS
    case hasQueryOrFragment
    case hasUserInfo
}

extension String {
    /// The first occurrence of `text`. The standard library has this only with Foundation's types or regexes.
    fileprivate func firstRange(ofText text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) {
                return start..<index(start, offsetBy: text.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
