import FoundationEssentials
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
    /// The time limit for one connection: name resolution, TCP, proxy and TLS together.
    package var connectTimeout: Duration = .seconds(15)
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
    /// How long after the last exchange its memory is given back.
    package var rest: Duration = .seconds(10)
    /// Called then, on the thread of the exchanges.
    package var onRest: @Sendable () -> Void = {}
    /// Whether connections are used again. Only a test sets it, to see that no request is sent twice all the same.
    var reusesConnections = false
    /// The wall clock, for comparing with dates in answers and for judging certificates.
    package var now: @Sendable () -> Timestamp = Self.systemTime
    /// The clock for the age of metadata and for time limits. It continues through a suspend.
    package var uptime: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }

    package init() {}

    private static func systemTime() -> Timestamp {
        Timestamp(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6))
    }
}
