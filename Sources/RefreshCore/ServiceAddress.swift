/// The address of a service that accepts tokens. Accounts name such addresses, and tools ask with them.
///
/// An address covers another one if scheme, host and port are equal and its path is a prefix of the other path, by
/// whole segments.
package struct ServiceAddress: Hashable, Sendable {
    /// Scheme, host and port in normalized form: `https://git.example.org`, `http://127.0.0.1:8080`.
    package let origin: String
    /// The path as given: empty, or with a slash at the start.
    package let path: String

    /// How many segments of a path are compared. No account names a deeper path.
    package static let depthMax = 64

    /// Returns nil if a token may not be sent to `url`.
    ///
    /// The scheme must be `https`, or `http` on a loopback address. A user, a query, a fragment, and segments such as
    /// `..` are not allowed.
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
        let origin = "\(scheme)://\(host)"
        let hubPath = origin == Self.hubForDocker ? Self.path(path, below: "/v1") : nil
        self.origin = origin == Self.hubForDocker ? Self.hub : origin
        self.path = String(hubPath ?? path)
    }

    /// Docker Hub. Docker itself asks for `https://index.docker.io/v1/`, and podman, skopeo and buildah for `docker.io`.
    private static let hub = "https://docker.io"
    private static let hubForDocker = "https://index.docker.io"

    /// The rest of a path below a folder; nil if it is elsewhere.
    private static func path(_ path: Substring, below folder: String) -> Substring? {
        let rest = path.dropFirst(folder.count)
        return path.hasPrefix(folder) && (rest.isEmpty || rest.hasPrefix("/")) ? rest : nil
    }

    /// The same URL, with the host's name in the form that the DNS uses.
    private static func ascii(_ url: String) -> String? {
        guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.utf8.allSatisfy({ $0 < 0x80 }) else { return url }
        return InternationalName.ascii(authority).map { url[..<start] + $0 + url[authority.endIndex...] }
    }

    package var text: String { origin + path }

    /// The addresses that cover this one, including itself, without a slash at the end; the longest first.
    package var coverings: [String] {
        let segments = path.split(separator: "/", omittingEmptySubsequences: true).prefix(Self.depthMax)
        let own = (0...segments.count).reversed().map { count in
            ([origin[...]] + segments.prefix(count)).joined(separator: "/")
        }
        // Earlier versions stored these.
        return own + (origin == Self.hub ? [Self.hubForDocker + "/v1", Self.hubForDocker] : [])
    }

    /// Host and port, without the scheme's default port and without the dot that ends a complete name in the DNS
    /// (RFC 3986 §3.2.2); nil if a part is invalid.
    private static func host(_ authority: String, scheme: String) -> String? {
        let standard = scheme == "https" ? 443 : 80
        // The colons of an IPv6 address are inside its brackets.
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else {
            let host = authority.hasSuffix(".") ? authority.dropLast() : authority[...]
            return host.isEmpty ? nil : String(host)
        }
        let (name, digits) = (authority[..<colon], authority[colon...].dropFirst())
        let host = name.hasSuffix(".") ? name.dropLast() : name
        guard !host.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard !digits.isEmpty else { return String(host) }
        guard let port = UInt16(digits), port > 0 else { return nil }
        return port == standard ? String(host) : "\(host):\(port)"
    }
}
