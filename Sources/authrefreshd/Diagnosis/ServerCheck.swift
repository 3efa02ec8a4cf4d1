internal import AuthRefreshInterface
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
            return tell(ServerFinding.notChecked.finding(of: server.issuer.url))
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
            let lookup = await names.addresses(of: host)
            switch lookup {
            case .success(let count): tell(NameFinding.found(addresses: count, isProxy: isProxied).finding(of: host))
            case .failure(let error):
                tell(NameFinding.failed(error, isProxy: isProxied).finding(of: host))
                return false
            }
        }
        do throws(CertificateProbeError) {
            guard let certificate = try await inspection.certificate(of: endpoint, profile: server.profile) else {
                return true
            }
            tell(certificateFinding(certificate, of: endpoint))
            return true
        } catch {
            tell(CertificateFinding.failed(error, now: wallClock()).finding(of: "\(endpoint.host):\(endpoint.port)"))
            return false
        }
    }

    private func certificateFinding(_ certificate: ServerCertificate, of endpoint: Endpoint) -> Finding {
        let rest = certificate.notAfter - wallClock()
        let finding: CertificateFinding = rest < Self.certificateNotice ? .expiresSoon(in: rest) : .valid(for: rest)
        return finding.finding(of: endpoint.host)
    }

    private func discover(_ tell: (Finding) -> Void) async -> ServerInspection.PublishedMetadata? {
        do throws(MetadataError) {
            return try await inspection.publishedMetadata(of: server.issuer, profile: server.profile)
        } catch {
            let account = server.registrations.first?.account.text ?? "ACCOUNT"
            tell(ServerFinding.noMetadata(error.refreshFailure, account: account).finding(of: server.issuer.url))
            return nil
        }
    }

    /// Compares the metadata with what the accounts need.
    private func compare(_ metadata: AuthorizationServerMetadata, _ tell: (Finding) -> Void) {
        var findings: [ServerFinding] = []
        if let grants = metadata.grantTypes, !grants.contains("refresh_token") { findings.append(.refreshNotListed) }
        let offered = metadata.tokenEndpointAuthenticationMethods
        for (account, registration) in server.registrations {
            let method = inspection.authenticationMethod(of: registration, profile: server.profile, offered: offered)
            // A public client needs no method, and few servers list "none".
            guard let offered, method != .none, !offered.contains(method.rawValue) else { continue }
            findings.append(.methodNotListed(account: account.text, method: method.rawValue))
        }
        if findings.isEmpty {
            let byProfile = server.profile?.tokenEndpoint != nil
            findings.append(.complete(byProfile: byProfile, tokenHost: metadata.tokenEndpoint.host))
        }
        for finding in findings { tell(finding.finding(of: server.issuer.url)) }
    }

    private func clockFinding(_ skew: Duration) -> Finding {
        let size = max(skew, .zero - skew)
        let finding: ServerFinding =
            size < Self.smallSkew ? .clockAgrees : .clockDiffers(skew: skew, isSerious: size >= Self.largeSkew)
        return finding.finding(of: server.issuer.url)
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
    fileprivate(set) var registrations: [(account: AccountName, registration: ClientRegistration)] = []
}

/// The servers of the checked accounts.
struct SurveyedServers {
    /// Accounts of the same kind do not differ in anything that a server's metadata describes.
    private struct Kind: Hashable {
        let authentication: ClientAuthentication?
        let hasSecret: Bool
    }

    private struct Place: Hashable {
        let issuer: Issuer
        let profile: ProviderProfile?
    }

    private var servers: [Place: SurveyedServer] = [:]
    private var kinds: [Place: Set<Kind>] = [:]
    /// Whether there are more servers than are kept.
    private(set) var hasUnseen = false

    mutating func add(_ snapshot: AccountSnapshot, profile: ProviderProfile?) {
        let (account, registration) = (snapshot.account, snapshot.account.registration)
        let place = Place(issuer: account.issuer, profile: profile)
        guard servers[place] != nil || servers.count < Diagnosis.serversMax else {
            hasUnseen = true
            return
        }
        let kind = Kind(authentication: registration.authentication, hasSecret: registration.clientSecret != nil)
        guard kinds[place, default: []].insert(kind).inserted else { return }
        servers[place, default: SurveyedServer(issuer: account.issuer, profile: profile)].registrations
            .append((account.name, registration))
    }

    /// The servers, ordered by URL.
    var sorted: [SurveyedServer] {
        servers.values.sorted { ($0.issuer.url, $0.profile?.name ?? "") < ($1.issuer.url, $1.profile?.name ?? "") }
    }
}
