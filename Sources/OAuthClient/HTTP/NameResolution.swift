import Dispatch
import Glibc
import OAuthMessages
import RefreshCore
import Synchronization

/// Holds a request back from the HTTP client until its host's name has been looked up.
///
/// NIO looks names up one after the other, each for as long as the resolver takes. One name with a silent name server
/// (such as that of a VPN that is down) would hold up the requests to all other hosts until their time is over. So NIO
/// is asked only for names that have just been found. A name that hangs only blocks its own thread here.
final class NameResolution: Sendable {
    /// How long a found name counts as known: as long as one refresh takes, with its metadata and with those of other
    /// accounts. A name server that falls silent within this time can still hold up others, once.
    static let memory = Duration.seconds(5)
    /// The most look-ups at the same time. Each keeps a thread. Further names wait until one ends.
    static let lookUpsMax = 16
    /// The most names that are remembered. If there is one more, all are forgotten and looked up again.
    static let rememberedLimit = 4096

    private struct State {
        var found: [String: ContinuousClock.Instant] = [:]
        var waiters: [String: [Waiter]] = [:]
        var lookUps = 0
        /// Names that wait for a thread, in the order in which they came.
        var queued: [String] = []
    }

    private let state = Mutex(State())
    private let isFound: @Sendable (String) -> Bool
    /// The queue for the time limits. `Task.sleep` is not used, because its timer remains after it was cancelled, in a
    /// queue that libdispatch checks every second (`Decisions/Tasks-run-on-a-queue-of-our-own`).
    private let limits = DispatchQueue(label: "authrefreshd.name-limits")

    /// - Parameter isFound: returns whether a name has an address; blocks until that is known.
    init(isFound: @escaping @Sendable (String) -> Bool = NameResolution.hasAddress) {
        self.isFound = isFound
    }

    /// Returns when `host` has been found, so that the HTTP client may be asked to connect to it.
    ///
    /// - Throws: `nameResolution` if it has no address; `timeLimit` if that is not known before `deadline`, or the
    ///   caller was cancelled.
    func pass(_ host: String, before deadline: ContinuousClock.Instant) async throws(TransportFailure) {
        let now = ContinuousClock.now
        guard !state.withLock({ $0.found[host].map { now - $0 < Self.memory } ?? false }) else { return }
        let waiter = Waiter()
        let limit = limit(of: waiter, after: now.duration(to: deadline))
        let isFound = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if waiter.begin(continuation) { wait(waiter, for: host) }
            }
        } onCancel: {
            waiter.resume(nil)
        }
        limit.cancel()
        // Waiters that have given up must not accumulate at a look-up that hangs.
        if isFound == nil { state.withLock { $0.waiters[host]?.removeAll { $0 === waiter } } }
        guard let isFound else { throw TransportFailure(cause: .timeLimit, wasSent: false) }
        guard isFound else { throw TransportFailure(cause: .nameResolution, wasSent: false) }
    }

    /// Makes the next request look `host` up again, because it could not be reached.
    func forget(_ host: String) {
        state.withLock { $0.found[host] = nil }
    }

    /// The number of requests that wait for `host`.
    func waiting(for host: String) -> Int {
        state.withLock { $0.waiters[host]?.count ?? 0 }
    }

    /// Ends `waiter` after `time`, unless it is cancelled.
    private func limit(of waiter: Waiter, after time: Duration) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: limits)
        timer.schedule(deadline: .now() + max(0, time / .seconds(1)))
        timer.setEventHandler { waiter.resume(nil) }
        timer.activate()
        return timer
    }

    private func wait(_ waiter: Waiter, for host: String) {
        let mayStart = state.withLock { state in
            // A waiter that was cancelled meanwhile has already removed itself.
            guard !waiter.isOver else { return false }
            let isFirst = state.waiters[host] == nil
            state.waiters[host, default: []].append(waiter)
            guard isFirst else { return false }
            guard state.lookUps < Self.lookUpsMax else {
                state.queued.append(host)
                return false
            }
            state.lookUps += 1
            return true
        }
        if mayStart { lookUp(host) }
    }

    /// Looks up `host` on its own queue, which ends with the look-up, so that no other name waits behind one that
    /// hangs.
    private func lookUp(_ host: String) {
        DispatchQueue(label: "authrefreshd.name").async { [self] in answer(host, isFound(host)) }
    }

    private func answer(_ host: String, _ isFound: Bool) {
        let (waiters, next) = state.withLock { state in
            if state.found.count >= Self.rememberedLimit { state.found = [:] }
            state.found[host] = isFound ? ContinuousClock.now : nil
            let next = state.queued.isEmpty ? nil : state.queued.removeFirst()
            if next == nil { state.lookUps -= 1 }
            return (state.waiters.removeValue(forKey: host) ?? [], next)
        }
        if let next { lookUp(next) }
        for waiter in waiters { waiter.resume(isFound) }
    }

    @Sendable private static func hasAddress(_ host: String) -> Bool {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return false }
        unsafe freeaddrinfo(list)
        return true
    }
}

/// One waiting request. It continues once, with whatever comes first: the answer, or nil if its time is over or it was
/// cancelled.
private final class Waiter: Sendable {
    private enum State {
        case begins
        case waits(CheckedContinuation<Bool?, Never>)
        case ended(Bool?)
    }

    private let state = Mutex(State.begins)

    var isOver: Bool {
        state.withLock { if case .ended = $0 { true } else { false } }
    }

    /// - Returns: whether it has to wait. If it has ended already, it does not.
    func begin(_ continuation: CheckedContinuation<Bool?, Never>) -> Bool {
        let end: Bool?? = state.withLock { state in
            switch state {
            case .begins, .waits:
                state = .waits(continuation)
                return nil
            case .ended(let isFound): return .some(isFound)
            }
        }
        guard let end else { return true }
        continuation.resume(returning: end)
        return false
    }

    func resume(_ isFound: Bool?) {
        let continuation: CheckedContinuation<Bool?, Never>? = state.withLock { state in
            switch state {
            case .begins:
                state = .ended(isFound)
                return nil
            case .waits(let continuation):
                state = .ended(isFound)
                return continuation
            case .ended: return nil
            }
        }
        continuation?.resume(returning: isFound)
    }
}
