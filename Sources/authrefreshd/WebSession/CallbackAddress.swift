internal import Basics
internal import TextEncodings
internal import Varlink

/// The address to which a browser is sent back in a web session: `http://127.0.0.1:8400/done`, `com.example.app:/done`,
/// `https://app.example/done`; or `exampleauth`, for each address with this scheme.
struct CallbackAddress: Sendable {
    /// How the response gets to the daemon.
    enum Kind: Hashable {
        /// The daemon listens on a port of this machine (RFC 8252 §7.3).
        case loopback
        /// The desktop passes on addresses with this scheme (RFC 8252 §7.1).
        case scheme
        /// A page of the caller passes it on, or a person does (RFC 8252 §7.2).
        case page
    }

    /// Bytes: real ones have some dozen.
    static let bytesMax = 2048

    let kind: Kind
    /// The scheme in lower case.
    let scheme: String
    /// The host in lower case, without a port, and with `[::1]` in the spelling of browsers; nil if there is none.
    let host: String?
    /// The port; nil if none is named.
    var port: Int?
    /// The path from the slash after the host; "/" if a host has none.
    let path: String
    /// Whether every address with the scheme is the callback, because nothing but the scheme is named.
    private let isBare: Bool
    /// Scheme with host, and path, in their original form, because servers compare byte by byte.
    private let written: (head: String, path: String)

    /// - Throws: `InvalidSettings`. The text is not repeated in it.
    init(_ text: String) throws(VarlinkError) {
        guard text.utf8.count <= Self.bytesMax, text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            throw Complaint(field: "callback", "it is not an address", hint: Self.examples).error
        }
        guard !text.contains("?"), !text.contains("#") else {
            throw Complaint(
                field: "callback",
                "it has a query or a fragment, where the answer will stand",
                hint: Self.examples
            ).error
        }
        guard let address = Self(bare: text) ?? Self(reading: text) else {
            throw Complaint(field: "callback", "it is not an address", hint: Self.examples).error
        }
        switch address.kind {
        case .loopback: break
        case .page where address.scheme == "http":
            throw Complaint(field: "callback", "a page on another machine needs https", hint: Self.examples).error
        case .page where address.host?.isEmpty ?? true:
            throw Complaint(field: "callback", "it has no host", hint: Self.examples).error
        case .page: break
        case .scheme:
            guard !Self.reserved.contains(address.scheme) else {
                throw Complaint(
                    field: "callback",
                    "programs of the desktop need its scheme",
                    hint: Self.examples
                ).error
            }
        }
        self = address
    }

    private static let examples: Hint =
        "http://127.0.0.1/done, com.example.app:/done, exampleauth, https://app.example/done"

    /// Schemes that desktop programs depend on. It is the same list as in `authctl`, which registers itself for a
    /// scheme.
    private static let reserved: Set<String> = [
        "about", "blob", "data", "file", "ftp", "http", "https", "javascript", "mailto",
    ]

    /// A scheme without its colon; nil for anything else.
    private init?(bare text: String) {
        guard let scheme = Self.scheme(text) else { return nil }
        (kind, self.scheme, host, port, path, isBare) = (.scheme, scheme, nil, nil, "", true)
        written = (text, "")
    }

    /// The scheme in lower case; nil if it is none (RFC 3986 §3.1).
    private static func scheme(_ text: some StringProtocol) -> String? {
        let scheme = text.lowercased()
        return scheme.wholeMatch(of: /[a-z][a-z0-9+.-]*/) == nil ? nil : scheme
    }

    /// Parses an address; nil if it has no scheme, or an invalid port.
    ///
    /// - Parameter text: without query and fragment.
    private init?(reading text: some StringProtocol) {
        guard let colon = text.firstIndex(of: ":"), let scheme = Self.scheme(text[..<colon]) else { return nil }
        (self.scheme, isBare) = (scheme, false)
        let rest = text[text.index(after: colon)...]
        guard rest.hasPrefix("//") else {
            guard !rest.isEmpty, !["http", "https"].contains(scheme) else { return nil }
            (kind, host, port, path) = (.scheme, nil, nil, String(rest))
            written = (String(text[...colon]), path)
            return
        }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "\\" }
        // Text before an "@" could be mistaken for the host.
        guard !authority.contains("@") else { return nil }
        // The colons of an IPv6 address are inside its brackets.
        let end = authority.lastIndex(of: "]") ?? authority.startIndex
        let beforePort = authority[end...].firstIndex(of: ":") ?? authority.endIndex
        let host = authority[..<beforePort].lowercased()
        let digits = authority[beforePort...].dropFirst()
        let port = Int(digits)
        guard digits.isEmpty || digits.allSatisfy(\.isNumber) && port.map({ (1...65_535).contains($0) }) == true else {
            return nil
        }
        // RFC 3986 §6.2.3: with a host, an empty path and "/" are the same.
        let path = rest.dropFirst(2)[authority.endIndex...]
        self.path = path.isEmpty ? "/" : String(path)
        (self.host, self.port) = (IPv6Address(host: host) == .loopback ? "[::1]" : host, port)
        written = ("\(text[...colon])//\(authority[..<beforePort])", String(path))
        let isWeb = ["http", "https"].contains(scheme)
        kind = scheme == "http" && LoopbackURI.isListener(host) ? .loopback : isWeb ? .page : .scheme
    }

    /// The address in its original form, with the port.
    var text: String { written.head + portText + written.path }

    /// The address as a browser shows it, with a path.
    var shown: String { written.head + portText + path }

    private var portText: String { port.map { ":\($0)" } ?? "" }

    /// Whether `url`, an address with query and fragment, is at this place.
    ///
    /// Scheme and host are compared without case, the path exactly, and the port with the one that is listened on (RFC
    /// 8252 §8.10, RFC 3986 §6.2).
    func isPlace(of url: String) -> Bool {
        if isBare { return url.prefix { $0 != ":" }.lowercased() == scheme && url.contains(":") }
        guard let other = Self(reading: url.prefix { $0 != "?" && $0 != "#" }) else { return false }
        return other.place == place
    }

    /// The parts that must be equal for two addresses to be the same place. A web address without a port has its
    /// scheme's default port.
    private var place: [String] {
        let known = ["http": 80, "https": 443][scheme]
        return [scheme, host ?? "", (port ?? known).map(String.init) ?? "", host == nil ? "-" : "//", path]
    }

    /// Whether a browser that is sent to one address would reach the other.
    func isSame(as other: CallbackAddress) -> Bool {
        // A loopback callback without a port gets a port of its own.
        if kind == .loopback, port == nil || other.port == nil { return false }
        if isBare || other.isBare { return scheme == other.scheme }
        return place == other.place
    }
}

/// What a browser delivered, made safe for the caller: visible characters on one line, whoever sent it.
extension CallbackAddress {
    /// The callback address with the delivered query.
    func url(query: some Sequence<UInt8>) -> String {
        // A form from a page can contain anything, and a "#" would begin another part of the address.
        let query = Self.encoded(query, keeping: { $0 != UInt8(ascii: "#") })
        return query.isEmpty ? shown : "\(shown)?\(query)"
    }

    /// An address from a person or a desktop. White space is dropped, because terminals break long lines and addresses
    /// contain none.
    static func url(brought text: String) -> String {
        let bytes = text.utf8.filter { !($0 == 0x20 || (0x09...0x0D).contains($0)) }
        return encoded(AuthorizationResponse.unwrapped(bytes), keeping: { _ in true })
    }

    /// Percent-encodes everything that is not visible ASCII (RFC 3986 §2.1).
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
