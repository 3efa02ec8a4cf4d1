internal import AuthRefreshInterface
internal import Basics
internal import Glibc
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// Checks one authorization server the way a refresh uses it: name, connection, certificate, metadata. It sends no
/// token.
struct ServerCheck: Sendable {
    /// A clock that is off by half a minute does not disturb an hourly refresh. Servers tolerate less than five
    /// minutes.
    private static let smallSkew = Duration.seconds(30)
    private static let largeSkew = Duration.seconds(300)
    /// Certificates are renewed automatically two to four weeks before they expire. If one week is left, the renewal
    /// has failed.
    private static let certificateNotice = Duration.seconds(7 * 86_400)

    let server: SurveyedServer
    let inspection: ServerInspection
    let names: NameLookup
    let isOnline: Bool
    let wallClock: @Sendable () -> Timestamp

    func run(_ tell: (Finding) -> Void) async {
        guard isOnline || server.issuer.isLoopback else {
            return tell(.note(.discovery, "not checked: there is no network", of: server.issuer.url))
        }
        let asked = server.profile?.tokenEndpoint ?? Endpoint(server.issuer.url)
        if let asked, await !check(asked, tell) { return }
        guard let published = await discover(tell) else { return }
        compare(published.metadata, tell)
        if let date = published.serverDate { tell(clockFinding(date - wallClock())) }
        let endpoint = published.metadata.tokenEndpoint
        if endpoint.host != asked?.host || endpoint.port != asked?.port { _ = await check(endpoint, tell) }
    }

    /// Whether there is or may be a connection. If not, the other checks would only repeat the same problem.
    private func check(_ endpoint: Endpoint, _ tell: (Finding) -> Void) async -> Bool {
        let isProxied = inspection.usesProxy(for: endpoint)
        let host = isProxied ? inspection.proxy.address?.host : endpoint.host
        guard let host else { return true }
        if !NameLookup.isAddress(host) {
            switch await names.addresses(of: host) {
            case .success(let count):
                let addresses = count == 1 ? "an address" : "\(count) addresses"
                tell(.ok(.dns, "\(isProxied ? "the proxy" : "it") has \(addresses)", of: host))
            case .failure(let error):
                tell(error.finding(of: host, isProxy: isProxied))
                return false
            }
        }
        switch await inspection.certificate(of: endpoint, profile: server.profile) {
        case nil: return true
        case .trusted(let certificate):
            tell(certificateFinding(certificate, of: endpoint))
            return true
        case .refused(let cause, let certificate):
            tell(cause.finding(certificate, of: "\(endpoint.host):\(endpoint.port)", now: wallClock()))
            return false
        }
    }

    private func certificateFinding(_ certificate: ServerCertificate, of endpoint: Endpoint) -> Finding {
        let rest = certificate.notAfter - wallClock()
        guard rest < Self.certificateNotice else {
            return .ok(.tls, "the certificate is valid for \(rest.words)", of: endpoint.host)
        }
        return .warning(
            .tls,
            "the certificate expires in \(rest.words)",
            of: endpoint.host,
            needs: .time,
            advice: "tell the operator of the server"
        )
    }

    private func discover(_ tell: (Finding) -> Void) async -> ServerInspection.PublishedMetadata? {
        do throws(MetadataError) {
            return try await inspection.publishedMetadata(of: server.issuer, profile: server.profile)
        } catch {
            tell(finding(without: error.refreshFailure))
            return nil
        }
    }

    /// The finding if there is no metadata.
    private func finding(without failure: RefreshFailure) -> Finding {
        let account = server.registrations.first?.account.text ?? "ACCOUNT"
        let said = failure.detail.oauthErrorDescription.map { " ('\($0)')" } ?? ""
        let status = failure.detail.httpStatus.map { " (HTTP \($0))" } ?? ""
        let isSetUpWrong = failure.failureClass.isMisconfiguration
        return .error(
            .discovery,
            failure.detail.summary + said + status,
            of: server.issuer.url,
            needs: isSetUpWrong ? .repair : .time,
            advice: isSetUpWrong
                ? "check the issuer: \(Command("account", "show", account))" : "the daemon tries again by itself"
        )
    }

    /// Compares the metadata with what the accounts need.
    private func compare(_ metadata: AuthorizationServerMetadata, _ tell: (Finding) -> Void) {
        let url = server.issuer.url
        var findings: [Finding] = []
        if let grants = metadata.grantTypes, !grants.contains("refresh_token") {
            findings.append(
                .note(
                    .discovery,
                    "the metadata does not list the grant type refresh_token; the daemon refreshes anyway",
                    of: url
                )
            )
        }
        let offered = metadata.tokenEndpointAuthenticationMethods
        for (account, registration) in server.registrations {
            let method = inspection.authenticationMethod(of: registration, profile: server.profile, offered: offered)
            // A public client needs no method, and few servers list "none".
            guard let offered, method != .none, !offered.contains(method.rawValue) else { continue }
            findings.append(
                .warning(
                    .discovery,
                    "'\(account)' authenticates by \(method.rawValue), which the metadata does not list",
                    of: url,
                    needs: .repair,
                    advice: "if refreshes fail: \(Command("account", "edit", account.text, "--client-auth", "METHOD"))"
                )
            )
        }
        if findings.isEmpty {
            let source = server.profile?.tokenEndpoint != nil ? "provider profile" : "metadata"
            let host = metadata.tokenEndpoint.host
            findings.append(.ok(.discovery, "the \(source) is complete, tokens come from \(host)", of: url))
        }
        findings.forEach(tell)
    }

    private func clockFinding(_ skew: Duration) -> Finding {
        let url = server.issuer.url
        let size = max(skew, .zero - skew)
        guard size >= Self.smallSkew else { return .ok(.clock, "its clock agrees with this machine's", of: url) }
        let text = "its clock is \(skew.words) \(skew > .zero ? "ahead of" : "behind") this machine's"
        let advice: Hint =
            "one of the two is wrong; set this machine's with: \(Command(program: "timedatectl", "set-ntp", "true"))"
        return size >= Self.largeSkew
            ? .error(.clock, text, of: url, needs: .repair, advice: advice)
            : .warning(.clock, text, of: url, needs: .repair, advice: advice)
    }
}

extension TransportCause {
    /// Why there is no TLS connection to a server.
    ///
    /// - Parameters:
    ///   - refused: the certificate that is not trusted; nil if it could not be read, or if it is not the reason.
    ///   - place: the host and the port.
    ///   - now: the time that the certificate's dates are compared with.
    fileprivate func finding(_ refused: ServerCertificate?, of place: String, now: Timestamp) -> Finding {
        let network: Hint = "look at the network, a firewall, the server; the daemon tries again by itself"
        let clock: Hint =
            "check this machine's clock (\(Command(program: "timedatectl"))); else tell the operator of the server"
        let (text, need, advice): (String, Finding.Need, Hint) =
            switch (self, refused) {
            case (.timeLimit, _): ("the server did not answer in time", .time, network)
            case (.tls, _): ("no TLS connection: what answers does not speak TLS", .repair, "check the URL")
            case (.tlsProtocol, _):
                (
                    "the server and this machine have no TLS version in common", .repair,
                    "the server must speak TLS 1.2 or later: tell its operator"
                )
            case (.clientCertificateDemanded, _):
                (
                    "the server demands a client certificate", .repair,
                    "give its accounts a key file with a certificate: "
                        + "\(Command("account", "edit", "ACCOUNT", "--client-key-file", "FILE"))"
                )
            case (.authorityFile, _):
                (
                    "the configured ca_file cannot be read, or contains no certificate", .repair,
                    "look at ca_file in the configuration and the provider's profile"
                )
            case (.authorityFileHangs, _):
                (
                    "the configured ca_file could not be read in time: its file system does not answer", .time,
                    "look at the mount that ca_file is on; the daemon tries again by itself"
                )
            case (.certificateExpired, let refused?):
                ("the certificate expired \((now - refused.notAfter).words) ago", .repair, clock)
            case (.certificateNotYetValid, let refused?):
                ("the certificate becomes valid only in \((refused.notBefore - now).words)", .repair, clock)
            case (.certificateHost, _):
                ("the certificate belongs to another host: this may not be the server", .repair, "check the URL")
            case (.certificate, _), (.certificateAuthority, _), (.certificateExpired, nil),
                (.certificateNotYetValid, nil):
                (
                    "no certificate authority that this machine trusts has signed the certificate"
                        + (refused?.authority.map { "; \"\($0)\" has" } ?? ""),
                    .repair,
                    "if the server is your own, name its authority with ca_file; else a proxy or an attacker may be in between"
                )
            case (.nameResolution, _), (.connection, _), (.proxyNameResolution, _), (.proxyConnection, _),
                (.proxySignIn, _), (.proxyRefused, _), (.proxyConfiguration, _), (.requestRefused, _), (.clientKey, _),
                (.assertionFile, _), (.assertionFileHangs, _), (.assertionExpired, _), (.clientCertificate, _),
                (.connectionLost, _), (.other, _):
                ("no server answers at this address", .time, network)
            }
        return .error(.tls, text, of: place, needs: need, advice: advice)
    }
}

/// Why a host has no address.
enum NameLookupError: Error, Hashable, Sendable {
    case noSuchName
    /// The name server could not be reached, or it failed.
    case serverFailed
    case timedOut
    /// Not tried, because an earlier look-up still hangs. Each look-up that hangs holds a thread.
    case resolverHangs

    fileprivate func finding(of host: String, isProxy: Bool) -> Finding {
        let lookUp = Command(program: "getent", "hosts", host)
        let advice: Hint = "look at the network and /etc/resolv.conf: \(lookUp)"
        switch self {
        case .noSuchName:
            return .error(
                .dns,
                "there is no such name",
                of: host,
                needs: .repair,
                advice: "check the \(isProxy ? "proxy's" : "issuer's") URL; or: \(lookUp)"
            )
        case .serverFailed:
            return .error(.dns, "the name servers cannot be reached", of: host, needs: .time, advice: advice)
        case .timedOut:
            let text = "the name servers have not answered within \(NameLookup.limit.words)"
            return .error(.dns, text, of: host, needs: .time, advice: advice)
        case .resolverHangs:
            let text = "the name was not looked up, because the lookup of an earlier name hangs"
            return .warning(.dns, text, of: host, needs: .time, advice: advice)
        }
    }
}

/// Looks up hosts as every other program on this machine does. Each host is looked up once.
actor NameLookup {
    /// glibc asks each name server twice for 5 s (resolv.conf(5)). We need not wait for a silent one until the end.
    static let limit = Duration.seconds(8)

    private var lookups: [String: Task<Result<Int, NameLookupError>, Never>] = [:]
    private var isHanging = false

    /// Whether `host` is itself an address, so that no look-up is needed.
    static func isAddress(_ host: String) -> Bool {
        var bytes = in6_addr()
        return [AF_INET, AF_INET6].contains { unsafe inet_pton($0, host, &bytes) == 1 }
    }

    /// How many addresses `host` has.
    func addresses(of host: String) async -> Result<Int, NameLookupError> {
        if let lookup = lookups[host] { return await lookup.value }
        guard !isHanging else { return .failure(.resolverHangs) }
        let lookup = Task { () -> Result<Int, NameLookupError> in
            await BlockingCall.result(within: Self.limit) { Self.count(host) } ?? .failure(.timedOut)
        }
        lookups[host] = lookup
        let result = await lookup.value
        if result == .failure(.timedOut) { isHanging = true }
        return result
    }

    private static func count(_ host: String) -> Result<Int, NameLookupError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else { return .failure(code == EAI_NONAME ? .noSuchName : .serverFailed) }
        defer { unsafe freeaddrinfo(list) }
        var count = 0
        var next = unsafe list
        while let address = unsafe next {
            count += 1
            unsafe next = address.pointee.ai_next
        }
        return .success(count)
    }
}

/// A server that accounts depend on.
struct SurveyedServer: Sendable {
    let issuer: Issuer
    /// The provider profile; nil if there is none.
    let profile: ProviderProfile?
    /// One registration of each kind among its accounts, with an account that has it.
    private(set) var registrations: [(account: AccountName, registration: ClientRegistration)] = []

    init(issuer: Issuer, profile: ProviderProfile?) {
        (self.issuer, self.profile) = (issuer, profile)
    }

    /// Adds the registration of an account, unless it has one like it: such accounts do not differ in anything that a
    /// server's metadata describes.
    mutating func add(_ registration: ClientRegistration, of account: AccountName) {
        let isKnown = registrations.contains {
            $0.registration.authentication == registration.authentication
                && ($0.registration.clientSecret == nil) == (registration.clientSecret == nil)
        }
        if !isKnown { registrations.append((account, registration)) }
    }
}
