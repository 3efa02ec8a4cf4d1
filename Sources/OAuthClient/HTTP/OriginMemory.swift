import OAuthMessages
import RefreshCore
import Synchronization

/// What the headers of servers' last answers said, by origin, in memory: the nonce for the next proof, and the server's
/// clock.
///
/// A `Date` says nothing about other origins: each may have a clock of its own.
///
/// It uses a lock and not an actor, because every request asks three times, and an actor would need a turn of the event
/// loop each time.
final class OriginMemory: Sendable {
    /// Scheme, host and port (RFC 6454 §4), to which a nonce belongs (RFC 9449 §8.2).
    fileprivate struct Origin: Hashable {
        let host: String
        let port: Int
        let isSecure: Bool

        init(_ endpoint: Endpoint) {
            host = endpoint.host
            port = endpoint.port
            isSecure = endpoint.isSecure
        }
    }

    /// The most origins that are remembered. If there is one more, all are forgotten, which costs each of them one more
    /// request.
    static let limit = 256
    /// The longest nonce that is kept, in bytes. A server chooses it, and it goes into every request. Real nonces have
    /// less than 200 bytes.
    static let nonceLimit = 1024

    fileprivate struct Memory {
        var nonces: [Origin: String] = [:]
        var skews: [Origin: Duration] = [:]
    }

    private let memory = Mutex(Memory())

    /// The nonce for the next DPoP proof to this origin; nil if the server gave none.
    func nonce(for endpoint: Endpoint) -> String? {
        memory.withLock { $0.nonces[Origin(endpoint)] }
    }

    /// The differences between two clocks that mean nothing, because `Date` has whole seconds.
    static let tolerance = Duration.seconds(-2)...Duration.seconds(2)

    /// How far the server's clock is ahead of ours; zero if the server never sent a date.
    func skew(of endpoint: Endpoint) -> Duration {
        memory.withLock { $0.skews[Origin(endpoint)] } ?? .zero
    }

    /// Remembers the `DPoP-Nonce` (RFC 9449 §8, §8.2) and the `Date` of `answer`, to a request sent at `sentAt`.
    func note(_ answer: Answer, from endpoint: Endpoint, sentAt: Timestamp, now: Timestamp) {
        memory.withLock { $0.note(answer, from: Origin(endpoint), sentAt: sentAt, now: now) }
    }
}

extension OriginMemory.Memory {
    fileprivate mutating func note(
        _ answer: Answer,
        from origin: OriginMemory.Origin,
        sentAt: Timestamp,
        now: Timestamp
    ) {
        if nonces.count >= OriginMemory.limit { nonces = [:] }
        if skews.count >= OriginMemory.limit { skews = [:] }
        if let date = answer.serverDate {
            // A server that takes its time may write the date at any moment of the exchange.
            let skew = date > now ? date - now : min(date - sentAt, .zero)
            skews[origin] = OriginMemory.tolerance.contains(skew) ? .zero : skew
        }
        let found = answer.headers["dpop-nonce"]
        // RFC 9449 §8: exactly one nonce, of visible characters.
        guard found.count == 1, let nonce = found.first, (1...OriginMemory.nonceLimit).contains(nonce.utf8.count),
            nonce.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return }
        nonces[origin] = nonce
    }
}
