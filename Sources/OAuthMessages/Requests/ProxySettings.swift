internal import Glibc
package import RefreshCore

/// The proxy for requests: the configuration's, or that of `HTTPS_PROXY` or `ALL_PROXY`; and the hosts that are reached
/// without it.
///
/// Lower-case variables are preferred, as in curl.
package struct ProxySettings: Sendable {
    /// Why a proxy cannot be used. Nothing is sent then, because it must not bypass the proxy.
    package enum Finding: Error, Hashable, CaseIterable {
        /// `socks5` or `socks4a` without `h`: this machine, which may know no outer names, would look them up.
        case resolvesHere
        case unknownKind
        case malformed
    }

    private enum Kind: String {
        case http, https
        case socks = "socks5h"

        /// curl would use 1080 for `http`, and Squid listens on 3128. RFC 3986 §3.2.3 prescribes the scheme's port.
        var port: Int {
            switch self {
            case .http: 80
            case .https: 443
            case .socks: 1080
            }
        }
    }

    /// No proxy.
    package static let direct = ProxySettings(environment: [:])

    /// The proxy as libcurl takes it (`CURLOPT_PROXY`), with credentials; nil if there is none, or it cannot be used.
    package let url: Secret?
    /// The proxy's host and port; nil if there is none, or it cannot be used.
    package let address: (host: String, port: Int)?
    /// What is wrong with the proxy; nil if nothing is, or if there is none.
    package let flaw: Finding?
    /// The name of the variable that names the proxy, in capitals; nil if there is none, or if the configuration names it.
    package let variable: String?
    private let exceptions: [Exception]

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - configured: the proxy of the configuration, which is preferred; nil for none.
    ///   - exceptions: the configuration's exceptions, which are preferred; nil for none.
    package init(configured: Secret? = nil, exceptions: String? = nil, environment: [String: String]) {
        let named = { (name: String) in
            [environment[name.lowercased()], environment[name]].compactMap(\.self).first { !$0.isEmpty }
        }
        let variable = configured == nil ? ["HTTPS_PROXY", "ALL_PROXY"].first { named($0) != nil } : nil
        self.variable = variable
        let list = exceptions ?? named("NO_PROXY") ?? ""
        self.exceptions = list.split { $0 == "," || $0.isWhitespace }.compactMap { Exception(String($0)) }
        switch (configured?.reveal() ?? variable.flatMap(named)).map(Self.read) {
        case .success(let proxy): (url, address, flaw) = (proxy.url, proxy.address, nil)
        case .failure(let found): (url, address, flaw) = (nil, nil, found)
        case nil: (url, address, flaw) = (nil, nil, nil)
        }
    }

    /// The proxy as people are told of it: `proxy.example:3128`, or the variable that names one that cannot be used; nil
    /// if there is none.
    package var place: String? {
        guard let (host, port) = address else { return isUnusable ? variable : nil }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Whether a proxy is named that cannot be used.
    package var isUnusable: Bool { flaw != nil }

    /// The number of hosts, domains and address ranges that are reached without the proxy.
    package var exceptionCount: Int { exceptions.count }

    /// Whether requests to `endpoint` go through the proxy. Requests to this machine never do.
    package func covers(_ endpoint: Endpoint) -> Bool {
        guard url != nil || isUnusable, !endpoint.isLoopback else { return false }
        return !exceptions.contains { $0.fits(endpoint) }
    }

    /// Reads `http://user:password@host:port`; without a scheme, it is an HTTP proxy.
    private static func read(_ text: String) -> Result<(url: Secret, address: (host: String, port: Int)), Finding> {
        var kind = Kind.http
        var rest = text[...]
        if let mark = text.firstRange(of: "://") {
            let scheme = text[..<mark.lowerBound].lowercased()
            guard let known = Kind(rawValue: scheme) else {
                let resolvesHere = ["socks", "socks4", "socks4a", "socks5"].contains(scheme)
                return .failure(resolvesHere ? .resolvesHere : .unknownKind)
            }
            kind = known
            rest = text[mark.upperBound...]
        }
        // A password that is not percent-encoded may hold any character but these.
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let at = rest.lastIndex(of: "@")
        guard let credentials = at.map({ Self.credentials(rest[..<$0]) }) ?? "" else { return .failure(.malformed) }
        if let at { rest = rest[rest.index(after: at)...] }
        guard let (host, port) = Endpoint.split(authority: rest), isHost(host) else { return .failure(.malformed) }
        let place = (host: host, port: port ?? kind.port)
        let shown = host.contains(":") ? "[\(host)]" : host
        return .success((Secret("\(kind.rawValue)://\(credentials)\(shown):\(place.port)"), place))
    }

    /// `user:password@` with everything percent-encoded that is not so already, and that a URL could take for something
    /// else (RFC 3986 §3.2.1); nil if it cannot be sent.
    private static func credentials(_ text: Substring) -> String? {
        var encoded = ""
        var rest = Array(text.utf8)[...]
        var hasPassword = false
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ":"), !hasPassword {
                hasPassword = true
                encoded += ":"
                continue
            }
            var value = byte
            if byte == UInt8(ascii: "%"), let code = hexadecimal(rest.prefix(2)) {
                value = code
                rest = rest.dropFirst(2)
            }
            // libcurl refuses control characters, which could forge a second header.
            guard value >= 0x20, value != 0x7F else { return nil }
            let character = Character(UnicodeScalar(value))
            let isPlain = value < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
            encoded += isPlain ? String(character) : "%" + String(value, radix: 16)
        }
        return encoded + "@"
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let text = String(decoding: digits, as: UTF8.self)
        return text.utf8.count == 2 && text.allSatisfy(\.isHexDigit) ? UInt8(text, radix: 16) : nil
    }

    private static func isHost(_ host: String) -> Bool {
        if host.contains(":") { return AddressRange.bytes(of: host).count == 16 }
        return host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }
}

/// One entry of `NO_PROXY`: `*`, a host, or a domain with its subdomains, each with or without a port; or a range of
/// addresses, as curl reads it.
private enum Exception: Sendable {
    case place(host: String, port: Int?)
    case range(AddressRange)

    init?(_ entry: String) {
        if let range = AddressRange(entry) {
            self = .range(range)
            return
        }
        let name = entry.hasPrefix("*.") ? String(entry.dropFirst()) : entry
        guard let (host, port) = Endpoint.split(authority: name) else { return nil }
        self = .place(host: host.hasPrefix(".") ? String(host.dropFirst()) : host, port: port)
    }

    func fits(_ endpoint: Endpoint) -> Bool {
        switch self {
        case .range(let range): range.holds(endpoint.host)
        case .place(let host, let port):
            (port == nil || port == endpoint.port)
                && (host == "*" || endpoint.host == host || endpoint.host.hasSuffix("." + host))
        }
    }
}

/// The IP addresses that begin with the same bits: `10.0.0.0/8`, `fd00::/8`. Without a number of bits, it is one address.
private struct AddressRange: Sendable {
    private let base: [UInt8]
    private let bits: Int

    /// Reads a range; nil if `text` is not one.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        base = Self.bytes(of: parts[0])
        let width = base.count * 8
        guard !base.isEmpty, let bits = parts.count == 2 ? Int(parts[1]) : width, (0...width).contains(bits) else {
            return nil
        }
        self.bits = bits
    }

    /// Whether `host` is an address in this range. A name never is, because nobody looks it up for this.
    func holds(_ host: String) -> Bool {
        let address = Self.bytes(of: host)
        guard address.count == base.count else { return false }
        return (0..<bits).allSatisfy { bit in
            (base[bit / 8] ^ address[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }

    /// The 4 or 16 bytes of an IP address; none if `text` is not one.
    static func bytes(of text: String) -> [UInt8] {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if unsafe inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return []
    }
}
