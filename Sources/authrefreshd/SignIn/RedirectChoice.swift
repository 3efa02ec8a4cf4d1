internal import OAuthClient
internal import RefreshCore
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
        let loopback = signIn.redirectURI.flatMap(LoopbackURI.init)
        switch flow {
        case .browser:
            if let text = signIn.redirectURI {
                guard let loopback else {
                    throw SignInObstacle.redirectElsewhere(uri: text).failure(.misconfigured)
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
                throw SignInObstacle.noScheme.failure(.misconfigured)
            }
        case .paste:
            // On loopback nobody listens: the browser shows an error, and the address to be copied.
            self = .fixed(Self.pastedURI(signIn))
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
        // A URI that was chosen stands for all; one of the issuer's own is for loopback only.
        if let text = signIn.redirectURI, LoopbackURI(text).map({ !IssuerRedirect.isPath($0.path) }) ?? true {
            return [text]
        }
        return [loopbackURI(signIn), schemeURI(signIn)].compactMap(\.self)
    }

    /// The redirect URI for a new account, if none was chosen for it and its provider is not known to want another one: its path is the
    /// issuer's own. Nil if the account has one, needs none, or recognizes the server by `iss` instead.
    ///
    /// - Parameters:
    ///   - profile: the account's provider profile.
    ///   - isRegistering: whether the client is yet to be registered, and so has no redirect URI that people have to register by hand.
    static func own(for account: Account, profile: SignInProfile?, isRegistering: Bool) -> String? {
        let redirect = account.registration.redirect
        guard redirect.uri == nil, !redirect.requiresIssuer, account.registration.serviceGrant == nil else {
            return nil
        }
        let signIn = profile ?? SignInProfile()
        guard !signIn.namesRedirects || isRegistering && signIn.redirectURI == nil else { return nil }
        return "http://\(host(signIn.redirects))" + IssuerRedirect.path(of: account.issuer)
    }

    /// The redirect URI of an account that moves to another issuer; nil if its path is not the former issuer's own.
    static func moved(_ uri: String, from issuer: Issuer, to other: Issuer) -> String? {
        let path = IssuerRedirect.path(of: issuer)
        return uri.hasSuffix(path) ? uri.dropLast(path.count) + IssuerRedirect.path(of: other) : nil
    }

    /// Whether the daemon listens there.
    var isListenedAt: Bool {
        if case .loopback = self { true } else { false }
    }

    /// The port that has to be listened on; nil for any.
    var port: Int? {
        switch self {
        case .loopback(_, let port, _): port
        case .fixed: nil
        }
    }

    /// The path that browsers are sent back to; nil for a page of the owner's own, which may hand the answer on from anywhere.
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

    /// The path that an answer has to come back to, because no other issuer has it; nil if it may be another issuer's as well.
    var issuerPath: String? {
        path.flatMap { IssuerRedirect.isPath($0) ? $0 : nil }
    }

    /// The loopback redirect URI as it is registered, with the port if only one will do (RFC 8252 §7.3); nil if another URI is.
    static func loopbackURI(_ signIn: SignInProfile) -> String? {
        let text = pastedURI(signIn)
        return LoopbackURI(text) == nil ? nil : text
    }

    /// The redirect URI that was chosen, or one on loopback.
    private static func pastedURI(_ signIn: SignInProfile) -> String {
        guard let text = signIn.redirectURI else { return uri(host(signIn.redirects), signIn.redirectPort, "/") }
        return LoopbackURI(text).map { uri($0.host, $0.port ?? signIn.redirectPort, $0.path) } ?? text
    }

    private static func uri(_ host: String, _ port: Int?, _ path: String) -> String {
        "http://\(host)\(port.map { ":\($0)" } ?? "")\(path)"
    }

    /// Nil without a scheme. RFC 8252 §7.1: one slash, as there is no authority.
    private static func schemeURI(_ signIn: SignInProfile) -> String? {
        let path = signIn.redirectURI.flatMap(LoopbackURI.init)?.path ?? ""
        return signIn.redirectScheme.map { "\($0):\(IssuerRedirect.isPath(path) ? path : "/callback")" }
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
