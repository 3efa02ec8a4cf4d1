internal import DemoIssuer
internal import NIOCore
internal import NIOSSL
internal import TestSupport

/// An authorization server on this machine behind TLS, with a certificate made for the run.
struct LocalIssuer: Sendable {
    /// Our client, a public one.
    static let clientID = "app"

    let issuer: DemoIssuer
    let url: String
    /// The PEM file that clients have to trust.
    let caFile: String

    /// - Parameter folder: where key and certificate go.
    /// - Throws: `BenchError.failed` if there is no `openssl` to make the certificate, or it makes none.
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
            // The issuer's own idea of its URL is plain HTTP; a port that is known in advance makes it the right one.
            port: try FreePort.any()
        )
        configuration.issuer = "https://localhost:\(configuration.port)"
        configuration.prepareConnection = { channel in
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }
        issuer = DemoIssuer(configuration: configuration)
        url = try await issuer.start()
        caFile = certificate
    }

    /// A grant of a subject of its own: its refresh token.
    func grant() async throws -> String {
        try await issuer.issueGrant(clientID: Self.clientID).refreshToken
    }

    func shutdown() async {
        await issuer.shutdown()
    }

    /// The configuration of a daemon that trusts it and asks it as hard as it can.
    ///
    /// - Parameter concurrency: how many accounts it refreshes at once.
    func configuration(concurrency: Int) -> String {
        """
        ca_file: \(caFile)
        max_concurrent_refreshes: \(concurrency)
        max_refreshes_per_second: 1000000
        """
    }
}
