import Dispatch
import Glibc
import OAuthMessages
import RefreshCore
import Synchronization

/// Lets a request go on to the HTTP client once its host's name is known to have an answer.
///
/// NIO looks names up one after the other, each as long as the resolver takes: one name whose name server is silent (that of a VPN
/// that is down) would hold up the requests to every other host until their time is over. So it is asked only for names that have just
/// been found, and those that hang, hang here, each on a thread of its own.
final class NameResolution: Sendable {
    /// How long a name that was found is taken to have an answer: as long as one refresh, with its metadata, and those of other accounts
    /// beside it. A name server that falls silent within it can still hold up others, once.
    static let memory = Duration.seconds(5)
    /// Look-ups under way at once; each holds a thread. Further names wait until one ends.
    static let lookUpsMax = 16
    /// Names that are remembered; beyond it all are forgotten, and looked up again.
    static let rememberedLimit = 4096

    private struct State {
        var found: [String: ContinuousClock.Instant] = [:]
        var waiters: [String: [Waiter]] = [:]
        var lookUps = 0
        /// Names that wait for a thread, the first to come first.
        var queued: [String] = []
    }

    private let state = Mutex(State())
    private let isFound: @Sendable (String) -> Bool
    /// Where limits end. Not Task.sleep, whose timer stays when it is cancelled, and is on a queue that libdispatch looks after every
    /// second (`Decisions/Tasks-run-on-a-queue-of-our-own`).
    private let limits = DispatchQueue(label: "authrefreshd.name-limits")

    /// - Parameter isFound: whether a name has an address; blocks for as long as that takes.
    init(isFound: @escaping @Sendable (String) -> Bool = NameResolution.hasAddress) {
        self.isFound = isFound
    }

    /// Returns when `host` may be asked for.
    ///
    /// - Throws: `nameResolution` if it has no address; `timeLimit` if it is not known before `deadline`, or the caller has given up.
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
        // A look-up that hangs is not to gather those who have given up.
        if isFound == nil { state.withLock { $0.waiters[host]?.removeAll { $0 === waiter } } }
        guard let isFound else { throw TransportFailure(cause: .timeLimit, wasSent: false) }
        guard isFound else { throw TransportFailure(cause: .nameResolution, wasSent: false) }
    }

    /// Has `host` looked up again at the next request: it could not be reached.
    func forget(_ host: String) {
        state.withLock { $0.found[host] = nil }
    }

    /// How many wait for `host`.
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
            // Who has gone meanwhile has taken itself off already.
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

    /// On a queue of its own, which ends with its work: nobody waits behind a name that hangs.
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

/// One request that waits; it goes on once, with what comes first: the answer, or nil when its time is over or it is not wanted any more.
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

    /// - Returns: whether it waits; an end that came first holds.
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
