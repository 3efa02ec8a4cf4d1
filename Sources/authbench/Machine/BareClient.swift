internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// The daemon's HTTP client without the daemon: it sends refresh requests, and knows no accounts.
struct BareClient: Sendable {
    private let client: HTTPClient
    private let url: String

    /// Creates a client.
    ///
    /// - Parameter connections: the most connections that it keeps open.
    init(for issuer: LocalIssuer, connections: Int) throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(issuer.caFile))]
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        url = issuer.url + "/token"
    }

    /// One exchange with rotation.
    ///
    /// - Returns: the whole answer.
    /// - Throws: `BenchError` if the server refuses.
    @discardableResult func refresh(_ refreshToken: String) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        let form = "grant_type=refresh_token&refresh_token=\(refreshToken)&client_id=\(LocalIssuer.clientID)"
        request.body = .bytes(ByteBuffer(string: form))
        let response = try await client.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 20)
        guard response.status == .ok else {
            throw BenchError.failedToServe("the issuer answers \(response.status.code)")
        }
        return Array(body.readableBytesView)
    }

    func shutdown() async throws {
        try await client.shutdown()
    }
}
