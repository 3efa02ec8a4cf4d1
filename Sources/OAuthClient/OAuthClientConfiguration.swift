import FoundationEssentials
package import NIOCore
import NIOPosix
import OAuthMessages
package import RefreshCore

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
