import FoundationEssentials
package import NIOCore
import NIOPosix
package import RefreshCore

/// Speaks to authorization servers. The only code that sends a refresh token.
///
/// It decides nothing about accounts: each call is one exchange, and its outcome says what is known. Nothing is
/// repeated after a request that may have reached the server.
package struct OAuthClient: Sendable {
    let configuration: OAuthClientConfiguration
    let transport: HTTPTransport
    private let clients: HTTPClients
    let cache: MetadataCache
    let keySets: KeySetCache

    /// Runs calls of this client where its connections live.
    package let executor: EventLoopExecutor

    package init(configuration: OAuthClientConfiguration = OAuthClientConfiguration()) {
        self.configuration = configuration
        clients = HTTPClients(configuration: configuration)
        executor = EventLoopExecutor(clients.eventLoop)
        transport = HTTPTransport(clients: clients, configuration: configuration)
        cache = MetadataCache(
            fetch: MetadataFetch(transport: transport, configuration: configuration),
            configuration: configuration
        )
        keySets = KeySetCache(transport: transport, configuration: configuration)
    }

    /// Has the last good metadata of each server kept beyond a restart.
    package func keepMetadata(in shelf: MetadataShelf) {
        cache.keep(in: shelf)
    }

    /// Has metadata that could not be had asked for again at the next use: a network has come up, or the clock was set.
    package func forgetFailures() {
        cache.forgetFailures()
    }

    /// The same for one issuer: a person asks who may have mended what was wrong with it.
    package func forgetFailures(of issuer: Issuer) {
        cache.forgetFailures(of: issuer)
    }

    /// Spends `request`'s refresh token once and says what came of it.
    ///
    /// It takes `totalTimeout`. If the server may replace the refresh token, the answer is read for as long as `answerTimeout`: it may hold
    /// the only refresh token that the server still takes. Cancelling a refresh that was sent makes it unanswered.
    ///
    /// - Parameter onOverdue: called once if the request was sent and `totalTimeout` passes before its answer.
    @concurrent package func refresh(
        _ request: RefreshRequest,
        onOverdue: @escaping @Sendable () -> Void = {}
    ) async -> RefreshOutcome {
        let deadline = configuration.uptime() + configuration.totalTimeout
        let client = request.client
        let metadata: AuthorizationServerMetadata
        do throws(RefreshFailure) {
            if let name = ReservedParameter.first(in: client.registration.refreshParameters) {
                throw client.misconfigured(ReservedParameter.summary, detail: name)
            }
            metadata = try await self.metadata(for: client)
        } catch {
            return RefreshOutcome(result: .failure(error))
        }
        let probed = await BasicEncodingProbe(transport: transport, cache: cache, configuration: configuration)
            .run(request.client, at: metadata)
        var request = request
        request.client.basicCredentialEncoding = request.client.basicCredentialEncoding ?? probed
        let decoder = TokenResponseDecoder(
            sent: request.refreshToken,
            profile: request.client.profile,
            now: configuration.now()
        )
        var post = post(to: metadata, for: request, before: deadline)
        if request.mayRotate {
            // Where the server forgives a second use for a known time, there has to be enough of it left for one.
            let limit = request.rotationGrace.map { min($0 / 2, configuration.answerTimeout) }
            post.patience = HTTPTransport.Patience(limit: limit ?? configuration.answerTimeout, onOverdue: onOverdue)
        }
        let conclusion = await post.run(Self.fields(of: request)) {
            (200...299).contains($0.status) && decoder.takes($1.fields)
        }
        if case .forgetMetadata = conclusion.row?.consequence {
            cache.expire(MetadataCache.Key(issuer: client.issuer, profile: client.profile))
        }
        let outcome = outcome(of: conclusion, for: request, probed)
        // A new refresh token waits for nothing: until it is on disk, there is no other.
        guard case .success(let tokens) = outcome.result, tokens.refreshToken == nil else { return outcome }
        return outcome.with(await introspected(tokens, of: request.client, metadata))
    }

    /// The server's metadata, from memory if it is fresh.
    ///
    /// - Throws: `MetadataError` if there is none, not even an old one.
    @concurrent package func metadata(
        of issuer: Issuer,
        profile: ProviderProfile? = nil
    ) async throws(MetadataError) -> AuthorizationServerMetadata {
        try await cache.metadata(for: MetadataCache.Key(issuer: issuer, profile: profile))
    }

    /// Revokes a grant at the server (RFC 7009): the refresh token, then the access token.
    @concurrent package func revoke(_ request: RevocationRequest) async -> Result<Void, RevocationFailure> {
        await Revocation(transport: transport, cache: cache, configuration: configuration).run(request)
    }

    /// Ends all connections; later calls fail as unreachable. To be called once, when nothing is in flight.
    ///
    /// Waits for connections that are being made, `connectTimeout` at most.
    ///
    /// - Throws: what the HTTP client has to say about it; nothing can be done about it.
    package func shutdown() async throws {
        try await clients.shutDown()
    }

    /// The body of RFC 6749 §6. The one place where a refresh token is revealed to be spent.
    private static func fields(of request: RefreshRequest) -> [(name: String, value: String)] {
        let registration = request.client.registration
        let parameters = (request.client.profile?.refreshParameters(for: registration) ?? [:])
            .merging(registration.refreshParameters) { _, own in own }
        let separator = request.client.profile?.scopeSeparator ?? " "
        let asked =
            (request.target?.fields(keeping: parameters["scope"], registration.scopes, separatedBy: separator) ?? [])
            + (request.scopes.map { [("scope", $0.joined(separator: separator))] } ?? [])
            + (request.claims.map { [("claims", $0)] } ?? [])
        let rest = parameters.filter { name, _ in !asked.contains { $0.name == name } }
        let form = request.client.profile?.refreshForm ?? RefreshForm()
        return [("grant_type", form.grantType), (form.parameter, request.refreshToken.secret.reveal())]
            + rest.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + asked
    }

    private func post(
        to metadata: AuthorizationServerMetadata,
        for request: RefreshRequest,
        before deadline: ContinuousClock.Instant
    ) -> AuthenticatedPost {
        AuthenticatedPost(
            transport: transport,
            cache: cache,
            configuration: configuration,
            endpoint: request.client.profile?.refreshEndpoint ?? metadata.tokenEndpoint,
            profile: request.client.profile,
            registration: request.client.registration,
            offeredMethods: metadata.tokenEndpointAuthenticationMethods,
            knownEncoding: request.client.basicCredentialEncoding,
            correlationID: request.client.correlationID,
            workedBefore: request.hasWorkedBefore,
            deadline: deadline,
            format: request.client.profile?.bodyFormat ?? .form,
            isQuery: request.client.profile?.refreshForm.method == .get,
            metadata: metadata
        )
    }

    /// - Parameter probed: how Basic credentials have to be written, if a probe told.
    private func outcome(
        of conclusion: AuthenticatedPost.Conclusion,
        for request: RefreshRequest,
        _ probed: BasicCredentialEncoding?
    ) -> RefreshOutcome {
        let answer = try? conclusion.answer.get()
        let (now, serverDate) = (configuration.now(), answer?.serverDate)
        let result: Result<TokenResponse, RefreshFailure>
        let decoder = TokenResponseDecoder(
            sent: request.refreshToken,
            profile: request.client.profile,
            now: serverDate ?? now
        )
        var idTokenFault: String?
        if conclusion.row == nil, var response = conclusion.body.flatMap({ decoder.decode($0.fields) }) {
            idTokenFault = request.fault(of: response.idToken)
            if idTokenFault != nil { response.idToken = nil }
            result = .success(request.client.judged(response))
        } else {
            result = .failure(request.client.failure(conclusion, hiding: [request.refreshToken.secret], now: now))
        }
        return RefreshOutcome(
            result: result,
            serverDate: serverDate,
            basicCredentialEncoding: conclusion.foundEncoding ?? probed,
            idTokenFault: idTokenFault,
            demandedClaims: conclusion.row == nil ? nil : ErrorReading(conclusion.body?.fields ?? [:]).demandedClaims
        )
    }
}

extension TokenTarget {
    /// What it adds to a refresh request: `scope` (RFC 6749 §6), `resource` once for each (RFC 8707 §2.2), `audience`,
    /// `claims` (OpenID Connect Core §5.5). What it does
    /// not name stays as the account has it.
    ///
    /// - Parameters:
    ///   - usual: the scope that the account's own requests name; nil if they name none.
    ///   - granted: the scope of the account's grant.
    ///   - separator: what stands between two scopes: a space (RFC 6749 §3.3), or what the provider wants.
    fileprivate func fields(
        keeping usual: String?,
        _ granted: [String],
        separatedBy separator: String
    ) -> [(name: String, value: String)] {
        var scopes = scopes
        // Without it some servers end the grant or answer without its next refresh token; MSAL, too, sends it each time.
        let holdsOffline =
            granted.contains(Self.offlineAccess)
            || usual?.split(separator: separator).contains { $0 == Self.offlineAccess } == true
        if !scopes.isEmpty, holdsOffline, !scopes.contains(Self.offlineAccess) { scopes.append(Self.offlineAccess) }
        return (scopes.isEmpty ? [] : [("scope", scopes.joined(separator: separator))])
            + resources.map { ("resource", $0) }
            + (audience.map { [("audience", $0)] } ?? [])
            + (claims.map { [("claims", $0)] } ?? [])
    }
}

extension RefreshFailure {
    /// What a failed exchange means, with what the server said about it.
    init(_ conclusion: AuthenticatedPost.Conclusion, hiding secrets: [Secret], correlationID: String, now: Timestamp) {
        let row = conclusion.row ?? FailureTable.anythingElse
        let answer = try? conclusion.answer.get()
        let reading = ErrorReading(conclusion.body?.fields ?? [:])
        let clean = { (text: String?) in FailureText.clean(text, hiding: secrets) }
        self.init(
            row.failureClass,
            detail: FailureDetail(
                summary: row.summary,
                httpStatus: answer?.status,
                oauthError: clean(reading.error),
                oauthErrorDescription: clean(reading.description),
                subError: clean(reading.subError),
                providerCode: clean(reading.providerCode),
                correlationID: correlationID
            ),
            retryAfter: answer?.retryAfter(now: now)
        )
    }
}

/// How the client speaks to authorization servers.
package struct OAuthClientConfiguration: Sendable {
    /// For one refresh or revocation with all it needs, metadata and repeated requests included.
    package var totalTimeout: Duration = .seconds(30)
    /// How long the answer to a refresh is waited for that may hold the only refresh token the server still takes.
    ///
    /// Below the core's lease, so that two requests for one generation never overlap.
    package var answerTimeout: Duration = .seconds(300)
    /// For name resolution, TCP and proxy of one connection; then as much again for its TLS handshake.
    package var connectTimeout: Duration = .seconds(10)
    /// For both metadata documents together.
    package var discoveryTimeout: Duration = .seconds(15)
    /// Longest answer read, in bytes. Real ones are a few KiB; metadata with embedded keys reach 100 KiB.
    package var bodyLimit = 1 << 20
    /// Age at which metadata is fetched again.
    package var metadataLifetime: Duration = .seconds(86_400)
    /// Most issuers whose metadata is kept in memory; the one fetched longest ago goes first.
    package var metadataLimit = 256
    /// PEM file with certificate authorities trusted for all servers beside the system's; a profile's own file wins.
    package var caFile: String?
    /// Reads such files.
    package var authorities = CertificateAuthorities()
    package var proxy = ProxySettings(environment: ProcessInfo.processInfo.environment)
    package var userAgent = "authrefreshd"
    /// Where connections live; NIO's shared threads unless the daemon gives its own.
    package var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    /// The wall clock, for dates in answers and for judging certificates.
    package var now: @Sendable () -> Timestamp = Self.systemTime
    /// Measures the age of metadata and the time that requests may take; counts through a suspend.
    package var uptime: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }

    package init() {}

    private static func systemTime() -> Timestamp {
        Timestamp(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6))
    }
}

/// Looking at a server without sending it a token.
extension OAuthClient {
    /// What a server published just now.
    package struct PublishedMetadata: Sendable {
        package let metadata: AuthorizationServerMetadata
        /// The server's clock when it answered; nil if it did not say, or was not asked.
        package let serverDate: Timestamp?
        /// Whether a provider profile stands for the document, so that nothing was fetched.
        package let isFromProfile: Bool
    }

    /// The server's metadata, fetched anew.
    @concurrent package func publishedMetadata(
        of issuer: Issuer,
        profile: ProviderProfile?
    ) async throws(MetadataError) -> PublishedMetadata {
        if let metadata = AuthorizationServerMetadata(issuer: issuer, profile: profile) {
            return PublishedMetadata(metadata: metadata, serverDate: nil, isFromProfile: true)
        }
        let fetch = MetadataFetch(transport: transport, configuration: configuration)
        let result = try await fetch.run(issuer: issuer, profile: profile)
        return PublishedMetadata(metadata: result.metadata, serverDate: result.serverDate, isFromProfile: false)
    }

    /// The certificate of the server at `endpoint`, checked as for a refresh; nil if there is none to see: the connection is plain, or
    /// a proxy's.
    @concurrent package func certificate(
        of endpoint: Endpoint,
        profile: ProviderProfile?
    ) async throws(CertificateProbeError) -> ServerCertificate? {
        guard endpoint.isSecure, !usesProxy(for: endpoint) else { return nil }
        return try await CertificateProbe(configuration: configuration).run(endpoint, caFile: profile?.caFile)
    }

    /// Whether requests to `endpoint` go through the proxy.
    package func usesProxy(for endpoint: Endpoint) -> Bool {
        configuration.proxy.covers(endpoint)
    }

    /// How the client proves itself to a server that offers these methods.
    package func authenticationMethod(
        of registration: ClientRegistration,
        profile: ProviderProfile?,
        offered: [String]?
    ) -> ClientAuthentication {
        ClientCredentials.method(registration, profile: profile, offered: offered)
    }

    package var proxy: ProxySettings { configuration.proxy }
}
