internal import DemoIssuer
internal import NIOCore
internal import NIOSSL
internal import TestSupport

/// An authorization server with TLS, for any number of accounts.
struct FleetServer: Sendable {
    /// The server's port, which must be known before it listens because its name contains it. In a network namespace of
    /// its own every port is free.
    private static let port = 20_443

    let issuer: DemoIssuer
    let url: String
    private let authority: TestAuthority

    var caFile: String { authority.caFile }

    /// - Parameters:
    ///   - policy: the rules of its grants.
    ///   - now: its time since 1970; nil for the machine's.
    init(policy: GrantPolicy, now: (@Sendable () -> Duration)? = nil) async throws {
        authority = try TestAuthority()
        let context = try authority.server(for: "DNS:localhost")
        var configuration = IssuerConfiguration(clients: [DemoClient(id: "app")], policy: policy, port: Self.port)
        configuration.issuer = "https://localhost:\(Self.port)"
        configuration.prepareConnection = { channel in
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }
        if let now { configuration.now = now }
        issuer = DemoIssuer(configuration: configuration)
        url = try await issuer.start()
    }

    func shutdown() async {
        await issuer.shutdown()
        try? authority.remove()
    }
}
