internal import OAuthClient
internal import SignIn

/// Where the server is to send the browser back to.
enum RedirectChoice: Hashable {
    /// A port of this machine; nil for a free one.
    case loopback(host: String, port: Int?, path: String)
    /// A redirect URI that is registered as it stands.
    case fixed(String)

    /// What a client that is registered as `signIn` says has for `flow`.
    ///
    /// - Throws: `SignInFailure` if it has nothing.
    init(for flow: SignInFlow, _ signIn: SignInProfile) throws(SignInFailure) {
        let registered = signIn.redirectURI.map(LoopbackURI.init)
        switch flow {
        case .browser:
            if let text = signIn.redirectURI {
                guard let uri = LoopbackURI(text) else {
                    throw SignInFailure(.misconfigured, "the redirect URI is not on this machine: \(text)")
                }
                self = .loopback(host: uri.host, port: uri.port ?? signIn.redirectPort, path: uri.path)
                return
            }
            self = .loopback(host: Self.host(signIn.redirects), port: signIn.redirectPort, path: "/")
        case .scheme:
            if let text = signIn.redirectURI, registered == .some(nil), !text.hasPrefix("http") {
                self = .fixed(text)
            } else if let scheme = signIn.redirectScheme {
                // RFC 8252 §7.1: one slash, as there is no authority.
                self = .fixed("\(scheme):/callback")
            } else {
                throw SignInFailure(.misconfigured, "no URI scheme is registered for the client")
            }
        case .paste:
            if let text = signIn.redirectURI {
                self = .fixed(text)
            } else {
                // Nobody listens there: the browser shows an error, and the address to be copied.
                let port = signIn.redirectPort.map { ":\($0)" } ?? ""
                self = .fixed("http://\(Self.host(signIn.redirects))\(port)/")
            }
        case .device:
            preconditionFailure("a device is not sent anywhere")
        }
    }

    /// The way that a sign-in goes if nobody says which.
    static func flow(for signIn: SignInProfile) -> SignInFlow {
        if let text = signIn.redirectURI {
            return LoopbackURI(text) != nil ? .browser : text.hasPrefix("http") ? .paste : .scheme
        }
        let isOpen = signIn.redirects.isEmpty || signIn.redirects.contains { $0 == .loopback || $0 == .loopbackByName }
        return isOpen ? .browser : .paste
    }

    /// The redirect URIs that a client registers (RFC 7591 §2): all that a sign-in of it may use.
    static func registered(as signIn: SignInProfile) -> [String] {
        if let text = signIn.redirectURI { return [text] }
        let port = signIn.redirectPort.map { ":\($0)" } ?? ""
        // RFC 8252 §7.3: without a port any port will do.
        let loopback = "http://\(host(signIn.redirects))\(port)/"
        return [loopback] + (signIn.redirectScheme.map { ["\($0):/callback"] } ?? [])
    }

    /// RFC 8252 §7.3 wants the address, which no name resolution can lead astray; some providers insist on the name.
    private static func host(_ kinds: [RedirectKind]) -> String {
        kinds.first { $0 == .loopback || $0 == .loopbackByName } == .loopbackByName ? "localhost" : "127.0.0.1"
    }
}

/// A redirect URI on this machine: `http://127.0.0.1:8400/callback`.
struct LoopbackURI: Hashable {
    let host: String
    let port: Int?
    /// From the slash behind the host; "/" if there is none.
    let path: String

    /// Nil if `text` is none.
    init?(_ text: String) {
        guard text.hasPrefix("http://") else { return nil }
        let rest = text.dropFirst("http://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = rest[..<slash]
        let names = ["127.0.0.1", "localhost", "[::1]"]
        guard let name = names.first(where: { authority == $0 || authority.hasPrefix($0 + ":") }) else { return nil }
        let port = authority.dropFirst(name.count).dropFirst()
        guard port.isEmpty || Int(port).map({ (1...65_535).contains($0) }) == true else { return nil }
        let path = rest[slash...]
        guard !path.contains("?"), !path.contains("#") else { return nil }
        host = name
        self.port = Int(port)
        self.path = path.isEmpty ? "/" : String(path)
    }
}
