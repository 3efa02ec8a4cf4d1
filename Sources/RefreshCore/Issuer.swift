internal import TextEncodings

/// The identifier URL of an authorization server (RFC 8414 §2, `iss` of OpenID Connect Core), compared byte for byte.
package struct Issuer: Hashable, Sendable, CustomStringConvertible {
    /// The URL as the server publishes it, including a trailing slash.
    package let url: String

    /// Accepts `url` if it is an absolute `https` URL, or `http` on a loopback address, without query or fragment (RFC
    /// 8414 §2).
    ///
    package init(url: String) throws(ValueError) {
        let notAbsolute = ValueError(
            field: "issuer",
            "'\(url)' is not an absolute URL",
            hint: url.contains(":") ? "https://issuer.example" : "https://\(url)"
        )
        guard let separator = url.firstRange(ofText: "://") else { throw notAbsolute }
        let scheme = url[..<separator.lowerBound].lowercased()
        let rest = url[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty else { throw notAbsolute }
        guard !authority.contains("@") else {
            throw ValueError(field: "issuer", "an issuer has no user name in it", hint: "https://issuer.example")
        }
        guard !rest.contains("?"), !rest.contains("#") else {
            throw ValueError(
                field: "issuer",
                "an issuer has no query and no fragment",
                hint: "leave out everything from '?' or '#' on"
            )
        }
        // A URL is ASCII (RFC 3986 §2). In other text, Swift compares characters and not bytes.
        guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw notAbsolute }
        guard scheme == "https" || scheme == "http" && LoopbackHost.isNamed(in: authority) else {
            throw ValueError(
                field: "issuer",
                "'\(url)' is not https: the refresh token would cross the network unencrypted",
                hint: "use https; http is accepted for loopback addresses only"
            )
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

/// A value that a person gave and that cannot be used.
package struct ValueError: Error, Hashable, Sendable {
    /// The value's name on the wire.
    package let field: String
    /// What is wrong with it: one phrase in lower case, without a full stop.
    package let reason: String
    /// What to give instead; nil if the reason says it.
    package let hint: String?

    package init(field: String, _ reason: String, hint: String? = nil) {
        self.field = field
        self.reason = reason
        self.hint = hint
    }
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
