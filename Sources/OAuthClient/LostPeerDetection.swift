import Glibc
import NIOCore

/// Has the kernel find out that the other end of a connection is gone: nothing else tells while an answer is waited for.
enum LostPeerDetection {
    /// How long the connection is silent before the first probe, and between probes, in seconds.
    static let probeInterval = 15
    /// How long data or probes may go unacknowledged, in milliseconds. The kernel's own limit is a quarter of an hour.
    static let acknowledgementLimit = 60_000

    /// Turns on TCP keepalive (tcp(7)): a peer that is gone ends the connection with an error within about a minute.
    static func enable(on channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        try options.setOption(.socketOption(.so_keepalive), value: 1)
        try options.setOption(.tcpOption(.init(rawValue: TCP_KEEPIDLE)), value: probeInterval)
        try options.setOption(.tcpOption(.init(rawValue: TCP_KEEPINTVL)), value: probeInterval)
        try options.setOption(.tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: acknowledgementLimit)
    }
}
