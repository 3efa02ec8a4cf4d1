internal import OAuthMessages
internal import RefreshCore
internal import TextEncodings

/// Where the server sends the browser back to.
enum RedirectChoice: Hashable {
    /// A port of this machine; nil for a free one.
    case loopback(host: String, port: Int?, path: String)
    /// A redirect URI exactly as it is registered.
    case fixed(String)

    /// The redirect URI of a client with the registration `signIn` for `flow`.
    ///
    /// - Throws: `SignInFailure` if there is none.
    init(for flow: SignInFlow, _ signIn: SignInProfile) throws(SignInFailure) {
        let loopback = signIn.redirectURI.flatMap(LoopbackURI.init)
        switch flow {
        case .browser:
            if let text = signIn.redirectURI {
                guard let loopback else {
                    throw SignInFailure(
                        .misconfigured,
                        "the redirect URI '\(text)' does not lead to this machine"
                    )
                }
                self = .loopback(host: loopback.host, port: loopback.port ?? signIn.redirectPort, path: loopback.path)
                return
            }
            self = .loopback(host: Self.host(signIn.redirects), port: signIn.redirectPort, path: "/")
        case .scheme:
            if let text = signIn.redirectURI, loopback == nil, !text.hasPrefix("http") {
                self = .fixed(text)
            } else if let uri = Self.schemeURI(signIn) {
                self = .fixed(uri)
            } else {
                throw SignInFailure(
                    .misconfigured,
                    "the client has no redirect URI with a scheme of its own"
                )
            }
        case .paste:
            // Nobody listens on this loopback address. The browser shows an error, and the person copies the address.
            self = .fixed(Self.pastedURI(signIn))
        case .device:
            preconditionFailure("a device is not sent anywhere")
        }
    }

    /// The flow of a sign-in for which nobody chose one.
    static func flow(for signIn: SignInProfile) -> SignInFlow {
        if let text = signIn.redirectURI {
            return LoopbackURI(text) != nil ? .browser : text.hasPrefix("http") ? .paste : .scheme
        }
        let isOpen = signIn.redirects.isEmpty || signIn.redirects.contains { $0 == .loopback || $0 == .loopbackByName }
        return isOpen ? .browser : .paste
    }

    /// The redirect URIs that a client registers (RFC 7591 §2): all that its sign-ins may use.
    static func registered(as signIn: SignInProfile) -> [String] {
        let own = loopbackURI(signIn)
        // A chosen URI replaces all others. An issuer's own URI is only for loopback.
        if let text = signIn.redirectURI, LoopbackURI(text).map({ !Issuer.isRedirectPath($0.path) }) ?? true {
            return [own ?? text]
        }
        return [own, own.flatMap(onIPv6), schemeURI(signIn)].compactMap(\.self)
    }

    /// The same place by its other address, for browsers and machines without IPv4; nil if servers choose the port, or
    /// if they take only a name.
    private static func onIPv6(_ uri: String) -> String? {
        guard let place = LoopbackURI(uri), place.port != nil, place.host == "127.0.0.1" else { return nil }
        return Self.uri("[::1]", place.port, place.path)
    }

    /// Whether the server that registers a client of `signIn` has to be told a port that is not chosen yet. Most servers
    /// compare the whole URI, against RFC 8252 §7.3.
    static func lacksPort(_ signIn: SignInProfile) -> Bool {
        loopbackURI(signIn).flatMap(LoopbackURI.init).map { $0.port == nil } ?? false
    }

    /// The redirect URI for a new account, whose path belongs to its issuer alone.
    ///
    /// Nil if the account has a redirect URI, if its provider needs another one, if it needs none, or if it recognizes
    /// the server by `iss`.
    ///
    /// - Parameters:
    ///   - profile: the account's provider profile.
    ///   - isRegistering: whether the client is registered later, so that people need not register a redirect URI by
    ///     hand.
    static func own(for account: Account, profile: SignInProfile?, isRegistering: Bool) -> String? {
        let redirect = account.registration.redirect
        guard redirect.uri == nil, !redirect.requiresIssuer, account.registration.serviceGrant == nil else {
            return nil
        }
        let signIn = profile ?? SignInProfile()
        guard !signIn.namesRedirects || isRegistering && signIn.redirectURI == nil else { return nil }
        return "http://\(host(signIn.redirects))" + account.issuer.redirectPath
    }

    /// The redirect URI after an account moves to another issuer; nil if its path is not the old issuer's own.
    static func moved(_ uri: String, from issuer: Issuer, to other: Issuer) -> String? {
        let path = issuer.redirectPath
        return uri.hasSuffix(path) ? uri.dropLast(path.count) + other.redirectPath : nil
    }

    /// Whether the daemon listens there.
    var isListenedAt: Bool {
        if case .loopback = self { true } else { false }
    }

    /// The redirect URI as a client is registered with it: without the port if any will do.
    var registeredURI: String {
        switch self {
        case .loopback(let host, let port, let path): Self.uri(host, port, path)
        case .fixed(let uri): uri
        }
    }

    /// The port to listen on; nil for any.
    var port: Int? {
        switch self {
        case .loopback(_, let port, _): port
        case .fixed: nil
        }
    }

    /// The path to which browsers are sent back; nil for the owner's page, which may pass the answer on from anywhere.
    var path: String? {
        switch self {
        case .loopback(_, _, let path): path
        case .fixed(let text): LoopbackURI(text)?.path ?? schemePath(text)
        }
    }

    private func schemePath(_ uri: String) -> String? {
        guard !uri.hasPrefix("http"), let colon = uri.firstIndex(of: ":") else { return nil }
        return String(uri[colon...].dropFirst())
    }

    /// The path at which an answer must arrive, because it belongs to this issuer alone; nil if other issuers may use
    /// it, too.
    var issuerPath: String? {
        path.flatMap { Issuer.isRedirectPath($0) ? $0 : nil }
    }

    /// The registered loopback redirect URI, with the port if it is fixed (RFC 8252 §7.3); nil if another URI is
    /// registered.
    static func loopbackURI(_ signIn: SignInProfile) -> String? {
        let text = pastedURI(signIn)
        return LoopbackURI(text) == nil ? nil : text
    }

    /// The chosen redirect URI, or one on loopback.
    private static func pastedURI(_ signIn: SignInProfile) -> String {
        guard let text = signIn.redirectURI else { return uri(host(signIn.redirects), signIn.redirectPort, "/") }
        return LoopbackURI(text).map { uri($0.host, $0.port ?? signIn.redirectPort, $0.path) } ?? text
    }

    private static func uri(_ host: String, _ port: Int?, _ path: String) -> String {
        "http://\(host)\(port.map { ":\($0)" } ?? "")\(path)"
    }

    /// The redirect URI with a private-use scheme; nil without a scheme. RFC 8252 §7.1: one slash, because there is no
    /// authority.
    private static func schemeURI(_ signIn: SignInProfile) -> String? {
        let path = signIn.redirectURI.flatMap(LoopbackURI.init)?.path ?? ""
        return signIn.redirectScheme.map { "\($0):\(Issuer.isRedirectPath(path) ? path : "/callback")" }
    }

    /// RFC 8252 §7.3 prefers the IP address, because no name resolution can misdirect it. Some providers require the
    /// name.
    private static func host(_ kinds: [RedirectKind]) -> String {
        kinds.first { $0 == .loopback || $0 == .loopbackByName } == .loopbackByName ? "localhost" : "127.0.0.1"
    }
}

/// A redirect URI on this machine, such as `http://127.0.0.1:8400/callback`.
struct LoopbackURI: Hashable {
    /// In the given spelling, because servers compare byte by byte.
    let host: String
    let port: Int?
    /// From the slash after the host; "/" if there is none.
    let path: String

    /// Reads a loopback URI; nil if `text` is not one.
    init?(_ text: String) {
        guard text.hasPrefix("http://") else { return nil }
        let rest = text.dropFirst("http://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        // The colons of an IPv6 address are inside its brackets.
        let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
        let name = authority[..<(authority[bracket...].firstIndex(of: ":") ?? authority.endIndex)]
        guard Self.isListener(name) else { return nil }
        let port = authority[name.endIndex...].dropFirst()
        guard port.isEmpty || Int(port).map({ (1...65_535).contains($0) }) == true else { return nil }
        let path = rest[slash...]
        guard !path.contains("?"), !path.contains("#") else { return nil }
        host = String(name)
        self.port = Int(port)
        self.path = path.isEmpty ? "/" : String(path)
    }

    /// Whether `host`, in lower case and without a port, leads to the redirect listener (RFC 8252 §7.3), which listens on
    /// 127.0.0.1 and `[::1]`.
    static func isListener(_ host: some StringProtocol) -> Bool {
        host == "127.0.0.1" || host == "localhost" || IPv6Address(host: host) == .loopback
    }
}
