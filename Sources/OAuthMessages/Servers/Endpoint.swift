internal import RefreshCore
internal import TextEncodings

/// A URL to which requests may be sent: absolute, `https` (or `http` on a loopback address), without user info and
/// without fragment.
///
/// A path with empty segments (`//api`) is kept as the server published it: glewlwyd publishes such endpoints and
/// serves them.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The URL as it was given.
    package let url: String
    /// The host, lower-cased, without the brackets of an IPv6 literal.
    package let host: String
    package let port: Int
    /// Whether the host is this machine, however it is written.
    package let isLoopback: Bool
    /// Whether the scheme is `https`.
    package let isSecure: Bool
    /// The path, from the first `/` after the authority; empty if there is none.
    package let path: Substring

    /// Nil if `url` does not follow the rule above.
    package init?(_ url: String) {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
        let rest = url[url.index(colon, offsetBy: 3)...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // ASCII only, because the HTTP client and this type must see the same host in the same text.
        let isPlain = url.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }
        guard isPlain, !authority.isEmpty, authority.utf8.allSatisfy(Self.isAuthorityByte), !rest.contains("#") else {
            return nil
        }
        isLoopback = LoopbackHost.mayBeNamed(in: authority)
        switch url[..<colon].lowercased() {
        case "https": isSecure = true
        case "http" where LoopbackHost.isNamed(in: authority): isSecure = false
        default: return nil
        }
        guard let (host, port) = Endpoint.split(authority: authority) else { return nil }
        // In another notation, an IPv4 address of this machine would look like a remote one.
        if authority.hasPrefix("["), IPv6Address(host)?.isMappedIPv4 ?? true { return nil }
        self.url = url
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        path = rest[authority.endIndex...].prefix { $0 != "?" }
    }

    package var description: String { url }

    /// This URL with `fields` added to its query.
    package func adding(_ fields: [(name: String, value: String)]) -> Endpoint {
        let query = String(decoding: FormEncoding.body(fields), as: UTF8.self)
        // The output of form encoding is valid in any query.
        return Endpoint(url + (url.contains("?") ? "&" : "?") + query) ?? self
    }

    /// Whether an authority may contain the byte. Host names, addresses and ports need no other bytes. RFC 3986 §3.2.2
    /// also allows escapes in a host, but the HTTP client decodes them: with `%31` it would see another host than this
    /// type.
    private static func isAuthorityByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._:[]".utf8.contains(byte)
        }
    }

    /// Host and port of an authority such as `example.org:8443` or `[::1]:80`; nil if it is malformed.
    package static func split(authority: some StringProtocol) -> (host: String, port: Int?)? {
        var host = String(authority)
        var portText = ""
        if host.hasPrefix("[") {
            guard let close = host.firstIndex(of: "]") else { return nil }
            let after = host[host.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else { return nil }
            portText = String(after.dropFirst())
            host = String(host[..<close].dropFirst())
        } else if let colon = host.lastIndex(of: ":") {
            portText = String(host[host.index(after: colon)...])
            host = String(host[..<colon])
            guard !host.contains(":") else { return nil }
        }
        guard !host.isEmpty else { return nil }
        guard !portText.isEmpty else { return (host.lowercased(), nil) }
        guard let port = UInt16(portText), port > 0 else { return nil }
        return (host.lowercased(), Int(port))
    }
}
