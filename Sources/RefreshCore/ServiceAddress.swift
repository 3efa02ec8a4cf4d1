/// The address of a service that takes tokens, as accounts name it and as tools ask for it.
///
/// An address covers another one if scheme, host and port are the same and its path is the other one's beginning, by whole segments.
package struct ServiceAddress: Hashable, Sendable {
    /// Scheme, host and port in their one spelling: `https://git.example.org`, `http://127.0.0.1:8080`.
    package let origin: String
    /// As it was given: empty, or with a slash at its beginning.
    package let path: String

    /// Segments of a path that are compared. No account names a deeper one.
    package static let depthMax = 64

    /// Nil if `url` is no address that a token may go to: `https`, or `http` on a loopback address, without a user, a query or a fragment,
    /// and without segments that lead elsewhere.
    package init?(_ url: String) {
        guard let url = Self.ascii(url), (try? Issuer(url: url)) != nil,
            let colon = url.firstIndex(of: ":")
        else { return nil }
        let scheme = url[..<colon].lowercased()
        let rest = url[colon...].dropFirst(3)
        let authority = rest.prefix { $0 != "/" }.lowercased()
        guard let host = Self.host(authority, scheme: scheme) else { return nil }
        let path = rest.drop { $0 != "/" }
        guard !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else { return nil }
        origin = "\(scheme)://\(host)"
        self.path = String(path)
    }

    /// The same with the host's name as the DNS has it.
    private static func ascii(_ url: String) -> String? {
        guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.utf8.allSatisfy({ $0 < 0x80 }) else { return url }
        return InternationalName.ascii(authority).map { url[..<start] + $0 + url[authority.endIndex...] }
    }

    package var text: String { origin + path }

    /// The addresses that cover this one, itself included, without a slash at their ends; the longest first.
    package var coverings: [String] {
        let segments = path.split(separator: "/", omittingEmptySubsequences: true).prefix(Self.depthMax)
        return (0...segments.count).reversed().map { count in
            ([origin[...]] + segments.prefix(count)).joined(separator: "/")
        }
    }

    /// Host and port without a port that goes without saying; nil if the port is none.
    private static func host(_ authority: String, scheme: String) -> String? {
        let standard = scheme == "https" ? 443 : 80
        // The colons of an IPv6 address stand in its brackets.
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else {
            return authority.isEmpty ? nil : authority
        }
        let (host, digits) = (authority[..<colon], authority[colon...].dropFirst())
        guard !host.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard !digits.isEmpty else { return String(host) }
        guard let port = UInt16(digits), port > 0 else { return nil }
        return port == standard ? String(host) : "\(host):\(port)"
    }
}
