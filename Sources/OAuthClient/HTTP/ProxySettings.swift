import OAuthMessages
import RefreshCore

/// The proxy for requests, from `HTTPS_PROXY` and `NO_PROXY`. Lower-case names are preferred, as in curl.
package struct ProxySettings: Sendable {
    /// The proxy; nil if there is none.
    let server: ProxyServer?
    /// Whether `HTTPS_PROXY` is set and cannot be used. Nothing is sent then, because it must not bypass the proxy.
    package let isUnusable: Bool
    private let exceptions: [Exception]

    /// No proxy.
    package static let direct = ProxySettings(environment: [:])

    package init(environment: [String: String]) {
        let named = { (name: String) in
            [environment[name], environment[name.uppercased()]].compactMap { $0 }.first { !$0.isEmpty }
        }
        let address = named("https_proxy")
        server = address.flatMap(ProxyServer.init)
        isUnusable = address != nil && server == nil
        let list = named("no_proxy") ?? ""
        exceptions = list.split { $0 == "," || $0.isWhitespace }.compactMap { Exception(String($0)) }
    }

    /// The proxy's host and port; nil if there is none.
    package var address: (host: String, port: Int)? { server.map { ($0.host, $0.port) } }

    /// The number of hosts and domains that `NO_PROXY` excepts.
    package var exceptionCount: Int { exceptions.count }

    /// Whether requests to `endpoint` go through the proxy. Requests to this machine never do.
    func covers(_ endpoint: Endpoint) -> Bool {
        guard server != nil || isUnusable, !endpoint.isLoopback else { return false }
        return !exceptions.contains { $0.fits(endpoint) }
    }

    /// One entry of `NO_PROXY`: `*`, a host, or a domain with its subdomains, each with or without a port.
    ///
    /// Address ranges (10.0.0.0/8) are not supported, as in most programs, because issuers are names.
    private struct Exception: Sendable {
        let host: String
        let port: Int?

        init?(_ entry: String) {
            let name = entry.hasPrefix("*.") ? String(entry.dropFirst()) : entry
            guard let (host, port) = Endpoint.split(authority: name) else { return nil }
            self.host = host.hasPrefix(".") ? String(host.dropFirst()) : host
            self.port = port
        }

        func fits(_ endpoint: Endpoint) -> Bool {
            guard port == nil || port == endpoint.port else { return false }
            return host == "*" || endpoint.host == host || endpoint.host.hasSuffix("." + host)
        }
    }
}

/// An HTTP proxy that is asked for connections with CONNECT (RFC 9110 §9.3.6).
struct ProxyServer: Sendable {
    let host: String
    let port: Int
    /// `user:password` for Basic authentication, percent-decoded.
    let credentials: Secret?

    /// Reads `http://user:password@host:port`, or the same without the scheme; nil for other schemes.
    init?(_ address: String) {
        var rest = address[...]
        if let colon = address.firstIndex(of: ":"), address[colon...].hasPrefix("://") {
            guard address[..<colon].lowercased() == "http" else { return nil }
            rest = address[address.index(colon, offsetBy: 3)...]
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = rest.lastIndex(of: "@") {
            credentials = Secret(ProxyServer.percentDecoded(rest[..<at]))
            rest = rest[rest.index(after: at)...]
        } else {
            credentials = nil
        }
        guard let (host, port) = Endpoint.split(authority: rest) else { return nil }
        self.host = host
        // curl would use 1080 and Squid 3128. The scheme's port is the one that RFC 3986 prescribes.
        self.port = port ?? 80
    }

    private static func percentDecoded(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
