import AsyncHTTPClient
import Dispatch
import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL
import OAuthMessages
import RefreshCore
import Synchronization
import TextEncodings

/// An HTTP client that is shut down when nobody uses it any more.
final class RoutedClient: Sendable {
    /// This is not a global queue, for the reason that `BlockingCall` gives.
    private static let queue = DispatchQueue(label: "authrefreshd.clients")

    let client: HTTPClient

    init(_ client: HTTPClient) {
        self.client = client
    }

    deinit {
        client.shutdown(queue: Self.queue) { _ in }
    }
}

/// The HTTP clients in use: one for each combination of CA file, proxy and client certificate, because connections of
/// different combinations must not be shared.
///
/// It is protected by a lock, because each request asks for its client and a call to an actor would wait for its turn
/// on the event loop each time. Nothing slow is done under the lock.
final class HTTPClients: Sendable {
    private struct Route: Hashable {
        let caFile: String?
        let usesProxy: Bool
        let identity: ClientIdentity?
    }

    private struct Kept {
        var client: RoutedClient
        var lastUse: NIODeadline
    }

    private struct State {
        var clients: [Route: Kept] = [:]
        var isShutDown = false

        mutating func use(_ route: Route) -> RoutedClient? {
            guard let client = clients[route]?.client else { return nil }
            clients[route]?.lastUse = .now()
            return client
        }

        /// Removes the clients that were last used before `limit` and have no running request.
        mutating func removeUnused(since limit: NIODeadline) -> [Kept] {
            var unused: [Kept] = []
            for route in Array(clients.keys) {
                guard var kept = clients.removeValue(forKey: route) else { continue }
                // A request holds its client.
                if kept.lastUse < limit, isKnownUniquelyReferenced(&kept.client) {
                    unused.append(kept)
                } else {
                    clients[route] = kept
                }
            }
            return unused
        }
    }

    /// The most clients that are kept for later requests. The one that was used longest ago is dropped first, and ends
    /// with its last request. Each keeps its TLS settings, which take some milliseconds to make and hold the system's
    /// certificates: a MiB. So a client is released when nobody has used it for a while.
    static let limit = 64

    private let configuration: OAuthClientConfiguration
    private let state = Mutex(State())

    /// The event loop on which time limits are measured.
    let eventLoop: any EventLoop

    init(configuration: OAuthClientConfiguration) {
        self.configuration = configuration
        eventLoop = configuration.eventLoopGroup.any()
    }

    /// The client for requests to `endpoint`. Hold on to it until the request has ended.
    ///
    /// - Parameter identity: the certificate to present; nil for none.
    /// - Throws: `proxyConfiguration`, `authorityFile` or `clientCertificate` if the settings cannot be used;
    ///   `authorityFileHangs` if the CA file could not be read in time; `other` after `shutDown`.
    func client(
        for endpoint: Endpoint,
        caFile: String?,
        identity: ClientIdentity? = nil
    ) async throws(TransportFailure) -> RoutedClient {
        let usesProxy = configuration.proxy.covers(endpoint)
        if usesProxy, configuration.proxy.server == nil {
            throw TransportFailure(cause: .proxyConfiguration, wasSent: false)
        }
        let route = Route(caFile: caFile ?? configuration.caFile, usesProxy: usesProxy, identity: identity)
        if let client = state.withLock({ $0.use(route) }) { return client }
        let settings = try await settings(for: route)
        return try keep(
            RoutedClient(
                HTTPClient(eventLoopGroupProvider: .shared(configuration.eventLoopGroup), configuration: settings)
            ),
            for: route
        )
    }

    private func keep(_ client: RoutedClient, for route: Route) throws(TransportFailure) -> RoutedClient {
        // Declared outside, so that the client is released after the lock.
        var oldest: Kept?
        var isFirst = false
        let kept = state.withLock { state -> RoutedClient? in
            guard !state.isShutDown else { return nil }
            // Another call may have made one meanwhile.
            if let other = state.use(route) { return other }
            if state.clients.count >= Self.limit,
                let last = state.clients.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                oldest = state.clients.removeValue(forKey: last.key)
            }
            isFirst = state.clients.isEmpty
            state.clients[route] = Kept(client: client, lastUse: .now())
            return client
        }
        withExtendedLifetime(oldest) {}
        guard let kept else { throw TransportFailure(cause: .other, wasSent: false) }
        if isFirst { releaseUnused(after: TimeAmount(configuration.clientRest)) }
        return kept
    }

    /// Releases the clients that nobody has used for `clientRest`. It runs again until there are no clients.
    private func releaseUnused(after time: TimeAmount) {
        eventLoop.scheduleTask(in: time) { [weak self] in
            guard let self else { return }
            let rest = TimeAmount(configuration.clientRest)
            let (unused, nextUse) = state.withLock { state in
                (state.removeUnused(since: .now() - rest), state.clients.values.map(\.lastUse).min())
            }
            withExtendedLifetime(unused) {}
            if let nextUse {
                let remaining = nextUse + rest - .now()
                // A client that should have been released still has a request.
                releaseUnused(after: remaining > .zero ? remaining : rest)
            } else {
                // By then, the clients are shut down.
                eventLoop.scheduleTask(in: .seconds(1), configuration.onRest)
            }
        }
    }

    /// The number of clients kept.
    var count: Int { state.withLock { $0.clients.count } }

    /// The host name to look up for requests to `endpoint`: the endpoint's or the proxy's; nil if that is this machine.
    func nameToLookUp(for endpoint: Endpoint) -> String? {
        guard !endpoint.isLoopback else { return nil }
        return configuration.proxy.covers(endpoint) ? configuration.proxy.address?.host : endpoint.host
    }

    /// Closes all connections. Requests in flight fail, and later ones are refused.
    func shutDown() async throws {
        let ending = state.withLock { state in
            defer { state.clients = [:] }
            state.isShutDown = true
            return state.clients.values.map(\.client)
        }
        for routed in ending { try await routed.client.shutdown() }
    }

    /// The TLS settings of all connections.
    ///
    /// - Parameter authorities: trusted in addition to the system's.
    static func tls(trusting authorities: [NIOSSLCertificate]) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if !authorities.isEmpty { tls.additionalTrustRoots = [.certificates(authorities)] }
        return tls
    }

    private func settings(for route: Route) async throws(TransportFailure) -> HTTPClient.Configuration {
        var trusted: [NIOSSLCertificate] = []
        if let file = route.caFile { trusted = try await configuration.authorities.certificates(in: file) }
        var tls = Self.tls(trusting: trusted)
        try route.identity?.add(to: &tls)
        var settings = HTTPClient.Configuration(tlsConfiguration: tls)
        settings.redirectConfiguration = .disallow
        // HTTP/2 brings no gain for one request an hour; see the decision page "HTTP/1.1 is enough".
        settings.httpVersion = .http1Only
        settings.timeout.connect = TimeAmount(configuration.connectTimeout)
        // A refresh token must not be sent on a connection that the server is about to close: the lost request would
        // look like a spent token. gunicorn closes idle connections after 2 s, node and Apache after 5 s.
        settings.connectionPool.idleTimeout = .seconds(1)
        // The coordinator already limits the requests per issuer. The pool must not queue what the coordinator lets
        // through.
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        settings.http1_1ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(FlushGathering(), position: .first)
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                try pipeline.addHandler(StatusCheck(), position: .after(decoder))
                try LostPeerDetection.enable(on: channel)
            }
        }
        // Some servers compress without being asked. This value limits how much a body may grow; its type belongs to a
        // package that only the HTTP client knows.
        settings.decompression = HTTPClient.Configuration.singletonConfiguration.decompression
        // The core decides about repetition. It needs the first error, and not a time limit that hides it.
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

/// Makes the kernel notice that the other end of a connection is gone. While an answer is awaited, nothing else would
/// notice it.
enum LostPeerDetection {
    /// How long the connection is silent before the first probe and between probes, in seconds.
    static let probeInterval = 15
    /// How long data or probes may remain unacknowledged, in milliseconds. The kernel's own limit is a quarter of an
    /// hour.
    static let acknowledgementLimit = 60_000

    /// Turns on TCP keepalive (tcp(7)). If the peer is gone, the connection ends with an error within about a minute.
    static func enable(on channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        try options.setOption(.socketOption(.so_keepalive), value: 1)
        try options.setOption(.tcpOption(.init(rawValue: TCP_KEEPIDLE)), value: probeInterval)
        try options.setOption(.tcpOption(.init(rawValue: TCP_KEEPINTVL)), value: probeInterval)
        try options.setOption(.tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: acknowledgementLimit)
    }
}

/// Sends all data that one turn of the event loop has for a connection with one system call.
///
/// The HTTP client flushes the head of a request before it asks for the body. Sent separately, they are two segments,
/// and wake the reader twice.
final class FlushGathering: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = ByteBuffer

    private var isFlushPending = false

    func flush(context: ChannelHandlerContext) {
        guard !isFlushPending else { return }
        isFlushPending = true
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.value.eventLoop.assumeIsolated().execute { [self] in
            flushNow(context.value)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // The end of a TLS session also sends data.
        flushNow(context)
        context.close(mode: mode, promise: promise)
    }

    private func flushNow(_ context: ChannelHandlerContext) {
        guard isFlushPending else { return }
        isFlushPending = false
        context.flush()
    }
}

/// Ends a connection whose answer has a status below 100, which does not exist (RFC 9110 §15).
///
/// The HTTP client takes such an answer for an interim one, and the end of the answer then violates a precondition: the
/// whole process ends.
private final class StatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private var isBroken = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The decoder goes on with the bytes that it has.
        guard !isBroken else { return }
        guard case .head(let head) = unwrapInboundIn(data), head.status.code < 100 else {
            return context.fireChannelRead(data)
        }
        isBroken = true
        context.fireErrorCaught(HTTPParserError.invalidStatus)
        context.close(promise: nil)
    }
}

/// Runs tasks on one event loop, so that a task that waits for something there continues without a change of threads.
///
/// Code on it must not block. While it computes, the loop's connections wait.
package final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute {
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
