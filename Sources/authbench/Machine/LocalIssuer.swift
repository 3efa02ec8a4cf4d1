internal import DemoIssuer
internal import Glibc
internal import NIOCore
internal import NIOSSL
internal import TestSupport

/// An authorization server on this machine with TLS and a newly made certificate.
struct LocalIssuer: Sendable {
    /// Our client, a public one.
    static let clientID = "app"

    let issuer: DemoIssuer
    let url: String
    /// The PEM file that clients must trust.
    let caFile: String

    /// Starts the server.
    ///
    /// - Parameter folder: where key and certificate are written.
    /// - Throws: `BenchError` if `openssl` is missing or fails.
    init(in folder: TemporaryFolder, tokenLifetime: Duration) async throws {
        let (key, certificate) = (folder.path + "/issuer.key", folder.path + "/issuer.pem")
        _ = try await FloorPrograms.output(
            of: "/usr/bin/env",
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2",
                "-keyout", key, "-out", certificate,
            ],
            environment: ["PATH": "/usr/bin:/bin"]
        )
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            )
        )
        var configuration = IssuerConfiguration(
            clients: [DemoClient(id: Self.clientID), OIDCAgent.client],
            policy: GrantPolicy(accessTokenLifetime: tokenLifetime),
            // The issuer assumes that its URL is plain HTTP. A port that is known in advance gives it the right URL.
            port: try Self.freePort()
        )
        configuration.issuer = "https://localhost:\(configuration.port)"
        configuration.prepareConnection = { channel in
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }
        issuer = DemoIssuer(configuration: configuration)
        url = try await issuer.start()
        caFile = certificate
    }

    private static func freePort() throws -> Int {
        guard let (descriptor, port) = try? LoopbackSocket.listening() else {
            throw BenchError.failedToServe("there is no free TCP port")
        }
        close(descriptor)
        return Int(port)
    }

    /// The refresh token of a grant for a new subject.
    func grant() async throws -> String {
        try await issuer.issueGrant(clientID: Self.clientID).refreshToken
    }

    func shutdown() async {
        await issuer.shutdown()
    }

    /// The configuration of a daemon that trusts it and asks it as fast as it can.
    ///
    /// - Parameter concurrency: how many accounts are refreshed at the same time.
    func configuration(concurrency: Int) -> String {
        """
        ca_file: \(caFile)
        max_concurrent_refreshes: \(concurrency)
        max_refreshes_per_second: 1000000
        """
    }
}
