internal import FoundationEssentials
package import NIOCore

/// What a `DemoIssuer` is started with.
package struct IssuerConfiguration: Sendable {
    package var clients: [DemoClient]
    package var policy: GrantPolicy
    /// TCP port on 127.0.0.1; 0 lets the system choose.
    package var port: Int
    /// The issuer identifier to publish; nil means `http://127.0.0.1:PORT`.
    package var issuer: String?
    /// Whether `/admin/…` answers. Whoever reaches the port can then issue grants, so it belongs on loopback only.
    package var isAdministrable: Bool
    /// Added to the true time in `Date` headers, to stand for a server whose clock is wrong.
    package var dateOffset: Duration
    /// The time since the Unix epoch.
    package var now: @Sendable () -> Duration
    /// Runs on the event loop for each accepted connection before HTTP is set up: the place for a TLS layer.
    package var prepareConnection: @Sendable (any Channel) throws -> Void

    package init(
        clients: [DemoClient],
        policy: GrantPolicy = GrantPolicy(),
        port: Int = 0,
        issuer: String? = nil,
        isAdministrable: Bool = true,
        dateOffset: Duration = .zero,
        now: @escaping @Sendable () -> Duration = { .seconds(Date().timeIntervalSince1970) },
        prepareConnection: @escaping @Sendable (any Channel) throws -> Void = { _ in }
    ) {
        self.clients = clients
        self.policy = policy
        self.port = port
        self.issuer = issuer
        self.isAdministrable = isAdministrable
        self.dateOffset = dateOffset
        self.now = now
        self.prepareConnection = prepareConnection
    }
}

/// Why the demo issuer could not do what it was asked.
package enum DemoIssuerError: Error, Equatable {
    /// `start` was called twice, or after `shutdown`.
    case startedBefore
    /// The port is taken or not ours to take; `errno` as the system gave it, 0 if it gave none.
    case cannotListen(port: Int, errno: Int32)
    case noSuchClient(id: String)
    case noSuchGrant(family: Int)
    /// No request fitted within this time.
    case noRequest(within: Duration)
    /// More faults are scripted than the queue holds.
    case tooManyFaults
}
