internal import FoundationEssentials
package import NIOCore

/// The configuration of a `DemoIssuer`.
package struct IssuerConfiguration: Sendable {
    package var clients: [DemoClient]
    package var policy: GrantPolicy
    /// The TCP port on 127.0.0.1; 0 lets the system choose.
    package var port: Int
    /// The published issuer identifier; nil uses `http://127.0.0.1:PORT`.
    package var issuer: String?
    /// The time since the Unix epoch.
    package var now: @Sendable () -> Duration
    /// Runs on the event loop for each accepted connection before HTTP is set up, for example to add TLS.
    package var prepareConnection: @Sendable (any Channel) throws -> Void

    package init(
        clients: [DemoClient],
        policy: GrantPolicy = GrantPolicy(),
        port: Int = 0,
        issuer: String? = nil,
        now: @escaping @Sendable () -> Duration = { .seconds(Date().timeIntervalSince1970) },
        prepareConnection: @escaping @Sendable (any Channel) throws -> Void = { _ in }
    ) {
        self.clients = clients
        self.policy = policy
        self.port = port
        self.issuer = issuer
        self.now = now
        self.prepareConnection = prepareConnection
    }
}
