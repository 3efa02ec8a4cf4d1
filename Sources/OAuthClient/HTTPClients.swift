import AsyncHTTPClient
import NIOCore
import NIOSSL
import RefreshCore
import Synchronization

/// The HTTP clients in use: one for each combination of CA file and proxy, because both belong to a client's
/// connections.
///
/// Every request asks for its client, so this is a lock: an actor would take its turn on the event loop each time.
final class HTTPClients: Sendable {
    private struct Route: Hashable {
        let caFile: String?
        let usesProxy: Bool
        let identity: ClientIdentity?
    }

    /// CA files and client certificates come from the configuration, not from peers; this many mean that something makes them up.
    static let limit = 64

    private let configuration: OAuthClientConfiguration
    /// Nil after `shutDown`.
    private let clients = Mutex<[Route: HTTPClient]?>([:])

    /// Where time limits are kept.
    let eventLoop: any EventLoop

    init(configuration: OAuthClientConfiguration) {
        self.configuration = configuration
        eventLoop = configuration.eventLoopGroup.any()
    }

    /// The client for requests to `endpoint`.
    ///
    /// - Parameter identity: the certificate to present; nil for none.
    /// - Throws: `proxyConfiguration`, `authorityFile` or `clientCertificate` if the settings cannot be used; `other` after `shutDown`.
    func client(
        for endpoint: Endpoint,
        caFile: String?,
        identity: ClientIdentity? = nil
    ) throws(TransportFailure) -> HTTPClient {
        let usesProxy = configuration.proxy.covers(endpoint)
        if usesProxy, configuration.proxy.isUnusable {
            throw TransportFailure(cause: .proxyConfiguration, wasSent: false)
        }
        let route = Route(caFile: caFile ?? configuration.caFile, usesProxy: usesProxy, identity: identity)
        return try clients.withLock { clients throws(TransportFailure) in
            guard let known = clients else { throw TransportFailure(cause: .other, wasSent: false) }
            if let client = known[route] { return client }
            guard known.count < Self.limit else { throw TransportFailure(cause: .authorityFile, wasSent: false) }
            let client = HTTPClient(
                eventLoopGroupProvider: .shared(configuration.eventLoopGroup),
                configuration: try settings(for: route)
            )
            clients?[route] = client
            return client
        }
    }

    /// The name that is looked up for requests to `endpoint`: its own or the proxy's; nil if that is this machine's.
    func nameToLookUp(for endpoint: Endpoint) -> String? {
        guard !endpoint.isLoopback else { return nil }
        return configuration.proxy.covers(endpoint) ? configuration.proxy.address?.host : endpoint.host
    }

    /// Ends all connections; requests in flight fail, later ones are refused.
    func shutDown() async throws {
        let ending = clients.withLock { clients in
            defer { clients = nil }
            return clients ?? [:]
        }
        for client in ending.values { try await client.shutdown() }
    }

    /// How every connection is secured.
    ///
    /// - Throws: `authorityFile`.
    static func tls(caFile: String?) throws(TransportFailure) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let file = caFile {
            guard let certificates = try? NIOSSLCertificate.fromPEMFile(file), !certificates.isEmpty else {
                throw TransportFailure(cause: .authorityFile, wasSent: false)
            }
            tls.additionalTrustRoots = [.certificates(certificates)]
        }
        return tls
    }

    private func settings(for route: Route) throws(TransportFailure) -> HTTPClient.Configuration {
        var tls = try Self.tls(caFile: route.caFile)
        try route.identity?.add(to: &tls)
        var settings = HTTPClient.Configuration(tlsConfiguration: tls)
        settings.redirectConfiguration = .disallow
        // A request an hour gains nothing by HTTP/2; see the decision page "HTTP/1.1 is enough".
        settings.httpVersion = .http1Only
        settings.timeout.connect = TimeAmount(configuration.connectTimeout)
        // A refresh token must not ride on a connection that the server is about to close: the loss would look like a
        // spent token. gunicorn closes idle connections after 2 s, node and Apache after 5 s.
        settings.connectionPool.idleTimeout = .seconds(1)
        // The coordinator limits requests per issuer; the pool must not queue what it lets through.
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        settings.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(FlushGathering(), position: .first)
                try LostPeerDetection.enable(on: channel)
            }
        }
        // The core decides about repetition, and it wants the first error, not a time limit that hides it.
        settings.connectionPool.retryConnectionEstablishment = false
        if route.usesProxy, let server = configuration.proxy.server {
            settings.proxy = .server(
                host: server.host,
                port: server.port,
                authorization: server.credentials.map { .basic(credentials: Base64.encode($0.reveal())) }
            )
        }
        return settings
    }
}
