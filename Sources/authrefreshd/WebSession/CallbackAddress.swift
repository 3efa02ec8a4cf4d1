internal import SignIn

/// Where a browser is sent back to in a web session: `http://127.0.0.1:8400/done`, `com.example.app:/done`, `https://app.example/done`.
struct CallbackAddress: Sendable {
    /// How what comes there gets to the daemon.
    enum Kind: Hashable {
        /// The daemon listens on a port of this machine (RFC 8252 §7.3).
        case loopback
        /// The desktop hands on addresses of the scheme (RFC 8252 §7.1).
        case scheme
        /// A page of the caller's own does, or a person (RFC 8252 §7.2).
        case page
    }

    /// Bytes: real ones have some dozen.
    static let bytesMax = 2048

    let kind: Kind
    /// In lower case.
    let scheme: String
    /// In lower case, without a port; nil if there is none.
    let host: String?
    /// Nil: none is named.
    var port: Int?
    /// From the slash behind the host, "/" if a host has none.
    let path: String
    /// Scheme and host, and the path, as they were written: servers compare byte for byte.
    private let written: (head: String, path: String)

    /// - Throws: `CallbackFlaw`. The text is not repeated in it.
    init(_ text: String) throws(CallbackFlaw) {
        guard text.utf8.count <= Self.bytesMax, text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            throw .noAddress
        }
        guard !text.contains("?"), !text.contains("#") else {
            throw .hasQuery
        }
        guard let address = Self(reading: text) else { throw .noAddress }
        switch address.kind {
        case .loopback: break
        case .page where address.scheme == "http":
            throw .notHTTPS
        case .page where address.host?.isEmpty ?? true: throw .noHost
        case .page: break
        case .scheme:
            guard !Self.reserved.contains(address.scheme) else {
                throw .reservedScheme
            }
        }
        self = address
    }

    /// Schemes that programs of the desktop live on. The same list as that of `authctl`, which names itself for a scheme.
    private static let reserved: Set<String> = [
        "about", "blob", "data", "file", "ftp", "http", "https", "javascript", "mailto",
    ]

    /// Nil for what has no scheme, or a port that is none.
    ///
    /// - Parameter text: without query and fragment.
    private init?(reading text: some StringProtocol) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        scheme = text[..<colon].lowercased()
        // RFC 3986 §3.1.
        guard scheme.wholeMatch(of: /[a-z][a-z0-9+.-]*/) != nil else { return nil }
        let rest = text[text.index(after: colon)...]
        guard rest.hasPrefix("//") else {
            guard !rest.isEmpty, !["http", "https"].contains(scheme) else { return nil }
            (kind, host, port, path) = (.scheme, nil, nil, String(rest))
            written = (String(text[...colon]), path)
            return
        }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "\\" }
        // What stands before an "@" is there to look like a host.
        guard !authority.contains("@") else { return nil }
        // The colons of an IPv6 address stand in brackets.
        let end = authority.lastIndex(of: "]") ?? authority.startIndex
        let beforePort = authority[end...].firstIndex(of: ":") ?? authority.endIndex
        let host = authority[..<beforePort].lowercased()
        let digits = authority[beforePort...].dropFirst()
        let port = Int(digits)
        guard digits.isEmpty || digits.allSatisfy(\.isNumber) && port.map({ (1...65_535).contains($0) }) == true else {
            return nil
        }
        // RFC 3986 §6.2.3: with a host, no path and "/" are the same.
        let path = rest.dropFirst(2)[authority.endIndex...]
        self.path = path.isEmpty ? "/" : String(path)
        (self.host, self.port) = (host, port)
        written = ("\(text[...colon])//\(authority[..<beforePort])", String(path))
        let isWeb = ["http", "https"].contains(scheme)
        kind = scheme == "http" && Self.loopbackHosts.contains(host) ? .loopback : isWeb ? .page : .scheme
    }

    private static let loopbackHosts: Set<String> = ["127.0.0.1", "localhost", "[::1]"]

    /// The address as it was written, with the port.
    var text: String { written.head + portText + written.path }

    /// The same as a browser shows it: with a path.
    var shown: String { written.head + portText + path }

    private var portText: String { port.map { ":\($0)" } ?? "" }

    /// Whether `url`, an address with whatever was sent along, is at this place.
    ///
    /// Scheme and host without regard to case, the path as it stands, and the port as it is listened on (RFC 8252 §8.10, RFC 3986 §6.2).
    func isPlace(of url: String) -> Bool {
        guard let other = Self(reading: url.prefix { $0 != "?" && $0 != "#" }) else { return false }
        return other.place == place
    }

    /// What two addresses of one place have in common: a web address without a port has its scheme's.
    private var place: [String] {
        let known = ["http": 80, "https": 443][scheme]
        return [scheme, host ?? "", (port ?? known).map(String.init) ?? "", host == nil ? "-" : "//", path]
    }

    /// Whether a browser that is sent to one would be at the other.
    func isSame(as other: CallbackAddress) -> Bool {
        // A loopback callback without a port gets one of its own.
        if kind == .loopback, port == nil || other.port == nil { return false }
        return place == other.place
    }
}

/// What a browser brought, as the caller gets it: visible characters on one line, whoever sent it.
enum CallbackURL {
    /// The callback with what was delivered there.
    static func text(of address: CallbackAddress, query: some Sequence<UInt8>) -> String {
        // A form that a page sent can hold anything; "#" would begin another part of the address.
        let query = encoded(query, keeping: { $0 != UInt8(ascii: "#") })
        return query.isEmpty ? address.shown : "\(address.shown)?\(query)"
    }

    /// An address that a person or a desktop brought. White space in it is dropped: terminals break long lines, and no address has any.
    static func text(brought text: String) -> String {
        let bytes = text.utf8.filter { !($0 == 0x20 || (0x09...0x0D).contains($0)) }
        return encoded(HandedOnAddress.unwrapped(bytes), keeping: { _ in true })
    }

    /// Percent-encodes what is no visible ASCII (RFC 3986 §2.1).
    private static func encoded(_ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in bytes {
            if (0x21..<0x7F).contains(byte), isKept(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
