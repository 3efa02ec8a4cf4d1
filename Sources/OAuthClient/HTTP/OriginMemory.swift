import OAuthMessages
import RefreshCore
import Synchronization

/// What the headers of servers' last answers said, by origin, in memory: the nonce for the next proof, and the server's
/// clock.
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

    /// How far the server's clock is ahead of ours; zero if the server never sent a date.
    func skew(of endpoint: Endpoint) -> Duration {
        memory.withLock { $0.skews[Origin(endpoint)] } ?? .zero
    }

    /// Remembers the `DPoP-Nonce` (RFC 9449 §8, §8.2) and the `Date` of `answer`.
    ///
    /// - Returns: the answer's nonce; nil if it has none that can be used.
    @discardableResult func note(_ answer: Answer, from endpoint: Endpoint, now: Timestamp) -> String? {
        memory.withLock { $0.note(answer, from: Origin(endpoint), now: now) }
    }
}

extension OriginMemory.Memory {
    fileprivate mutating func note(_ answer: Answer, from origin: OriginMemory.Origin, now: Timestamp) -> String? {
        if nonces.count >= OriginMemory.limit { nonces = [:] }
        if skews.count >= OriginMemory.limit { skews = [:] }
        if let date = answer.serverDate {
            // `Date` has whole seconds, so a smaller difference means nothing.
            let skew = date - now
            skews[origin] = (Duration.seconds(-2)...Duration.seconds(2)).contains(skew) ? .zero : skew
        }
        let found = answer.headers["dpop-nonce"]
        // RFC 9449 §8: exactly one nonce, of visible characters.
        guard found.count == 1, let nonce = found.first, (1...OriginMemory.nonceLimit).contains(nonce.utf8.count),
            nonce.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        nonces[origin] = nonce
        return nonce
    }
}
