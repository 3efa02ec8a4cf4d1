import FoundationEssentials
package import NIOCore
import NIOPosix
package import OAuthMessages
package import RefreshCore

/// How the client connects to authorization servers.
package struct OAuthClientConfiguration: Sendable {
    /// The time limit for one refresh or revocation, with all it needs, including metadata and repeated requests.
    package var totalTimeout: Duration = .seconds(30)
    /// How long to wait for the answer to a refresh that may hold the only refresh token the server still accepts.
    ///
    /// It is shorter than the core's lease, so that two requests for one generation never overlap.
    package var answerTimeout: Duration = .seconds(300)
    /// The time limit for name resolution, TCP and proxy of one connection. Its TLS handshake gets the same time again.
    package var connectTimeout: Duration = .seconds(10)
    /// The time limit for both metadata documents together.
    package var discoveryTimeout: Duration = .seconds(15)
    /// The longest answer that is read, in bytes. Real answers have a few KiB; metadata with embedded keys reaches 100
    /// KiB.
    package var bodyLimit = 1 << 20
    /// Age at which metadata is fetched again.
    package var metadataLifetime: Duration = .seconds(86_400)
    /// The most issuers whose metadata is kept in memory. The metadata that was fetched longest ago is dropped first.
    package var metadataLimit = 256
    /// PEM file with certificate authorities that are trusted for all servers in addition to the system's. A profile's
    /// own file is preferred.
    package var caFile: String?
    /// Reads the files with certificate authorities.
    package var authorities = CertificateAuthorities()
    package var proxy = ProxySettings.direct
    package var userAgent = "authrefreshd"
    /// How long an HTTP client is kept after its last use, with its TLS settings. Its connections are closed by then,
    /// except those that are still waiting for an answer. A client that is made later trusts what the system trusts
    /// then.
    package var clientRest: Duration = .seconds(10)
    /// Called on an event loop when the last HTTP client has been released, and its memory is free.
    package var onRest: @Sendable () -> Void = {}
    /// The event loops of the connections; NIO's shared threads unless the daemon sets its own.
    package var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    /// The wall clock, for comparing with dates in answers and for judging certificates.
    package var now: @Sendable () -> Timestamp = Self.systemTime
    /// The clock for the age of metadata and for time limits. It continues through a suspend.
    package var uptime: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }

    package init() {}

    private static func systemTime() -> Timestamp {
        Timestamp(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6))
    }
}
