internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import Dispatch
internal import RefreshCore
internal import TextEncodings
internal import Synchronization
internal import Systemd
internal import Varlink

/// The entry of all calls: it passes them to the coordinator, or replies why the store is not open. It lives on the
/// coordinator's queue.
actor CallRouter {
    /// The shortest time in µs between calls that trigger another attempt to open the store, because each attempt may
    /// start a program.
    private static let patience: Int64 = 1_000_000

    nonisolated let executor: DispatchQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// The coordinator, whose tokens may be given out on any thread; nil while the store is locked.
    private nonisolated let shortcut = Mutex<RefreshCoordinator?>(nil)
    private nonisolated let pace = Mutex(CallPace())
    private nonisolated let calls = Mutex(CallQueue<(call: VarlinkCall, responder: VarlinkResponder)>())
    /// Nobody is let in before the first attempt to open the store has ended.
    private var coordinator = Result<RefreshCoordinator, StoreError>.failure(.key(.secretServiceLocked))
    private let onAsked: @Sendable () -> Void
    /// When a caller last got the reply that the store is not open, on the boot-time clock.
    private var askedAt: Int64?

    /// Creates the router.
    ///
    /// - Parameter onAsked: called when somebody calls while the store is not open.
    init(executor: DispatchQueueExecutor, onAsked: @escaping @Sendable () -> Void) {
        self.executor = executor
        self.onAsked = onAsked
    }

    func close(_ error: StoreError) {
        shortcut.withLock { $0 = nil }
        coordinator = .failure(error)
    }

    func open(_ coordinator: RefreshCoordinator) {
        self.coordinator = .success(coordinator)
        shortcut.withLock { $0 = coordinator }
    }

    /// Answers one call. May be called on any thread.
    nonisolated func handle(_ call: VarlinkCall, from peer: PeerCredentials, _ responder: VarlinkResponder) {
        if let reply = answerAtOnce(call) { return responder.reply(encoded: reply) }
        let cost = Method(rawValue: call.method)?.cost ?? 0
        guard let wait = pace.withLock({ $0.wait(for: cost, by: peer.pid) }) else {
            let most = Shares.Crowding(capacity: CallPace.waitingMax, process: peer.pid, amount: CallPace.waitingMax)
            return responder.fail(LimitExceededError(.pacedCalls, most).error)
        }
        let add = { @Sendable [self] in if calls.withLock({ $0.add((call, responder), of: peer.pid) }) { serveNext() } }
        guard wait > .zero else { return add() }
        executor.queue.asyncAfter(deadline: .now() + .microseconds(Int(wait.microseconds)), execute: add)
    }

    /// Answers one call, and re-queues itself for the next. Refreshes and other work get their turn in between.
    private nonisolated func serveNext() {
        executor.queue.async { [self] in
            guard let next = calls.withLock({ $0.next() }) else { return }
            assumeIsolated { $0.answer(next.call, next.responder) }
            serveNext()
        }
    }

    private nonisolated func answerAtOnce(_ call: VarlinkCall) -> [UInt8]? {
        guard let question = PlainAcquireToken(call), let coordinator = shortcut.withLock(\.self),
            let answer = question.answer(from: coordinator.tokens, at: coordinator.timebase.now())
        else { return nil }
        // Its timer should have woken it. A clock that stood still or was set may have kept the timer from firing.
        if answer.isNewlyDue { coordinator.later { $0.wake() } }
        return answer.reply
    }

    private func answer(_ call: VarlinkCall, _ responder: VarlinkResponder) {
        switch coordinator {
        case .success(let coordinator): coordinator.assumeIsolated { $0.answer(call, responder) }
        case .failure(let error):
            let (reason, hint) = (error.description, error.hint ?? Hint(Command("status")))
            let refusal =
                error.isLocked
                ? StoreLockedError(reason: reason, hint: hint).error
                : StoreUnavailableError(reason: reason, hint: hint).error
            responder.fail(refusal)
            let now = Int64(DispatchTime.now().uptimeNanoseconds / 1000)
            guard askedAt.map({ now - $0 >= Self.patience }) ?? true else { return }
            askedAt = now
            onAsked()
        }
    }
}

/// Calls that wait for the coordinator. Processes take turns, so a process with hundreds of waiting calls delays the
/// others by only one call.
struct CallQueue<Call> {
    /// The waiting calls of each process, in the order of arrival. No entry is empty.
    private var calls: [Int32: [Call]] = [:]
    /// The processes with waiting calls; the next one is first.
    private var turns: [Int32] = []
    private var isServed = false

    /// Adds a call.
    ///
    /// - Returns: whether the queue was idle; the caller then has to start serving it.
    mutating func add(_ call: Call, of process: Int32) -> Bool {
        if calls[process] == nil { turns.append(process) }
        calls[process, default: []].append(call)
        defer { isServed = true }
        return !isServed
    }

    /// The next call to answer; nil if there is none, and the queue becomes idle.
    mutating func next() -> Call? {
        guard let process = turns.first, var waiting = calls.removeValue(forKey: process) else {
            isServed = false
            return nil
        }
        turns.removeFirst()
        let call = waiting.removeFirst()
        guard !waiting.isEmpty else { return call }
        calls[process] = waiting
        turns.append(process)
        return call
    }
}

extension PlainAcquireToken {
    /// The reply's parameters as JSON, and whether to wake the coordinator; nil if the coordinator has to answer.
    func answer(from tokens: TokenMap, at now: Moment) -> (reply: [UInt8], isNewlyDue: Bool)? {
        guard let (entry, isNewlyDue) = tokens.find(account, at: now),
            entry.terms.times.suffices(for: minimumValidity, at: now), let reply = entry.reply(at: now)
        else { return nil }
        return (reply, isNewlyDue)
    }
}

extension TokenMap.Entry {
    /// The parameters of `AcquireToken.Reply` as JSON, byte for byte as its encoder writes them; nil if that would need
    /// escapes.
    fileprivate func reply(at now: Moment) -> [UInt8]? {
        guard token.scheme.utf8.allSatisfy(Self.isPlain) else { return nil }
        return unsafe token.secret.withBytes { secret in
            guard unsafe secret.allSatisfy(Self.isPlain) else { return nil }
            var reply: [UInt8] = []
            reply.reserveCapacity(secret.count + token.scheme.utf8.count + 80)
            reply += #"{"accessToken":""#.utf8
            unsafe reply += secret
            reply += #"","expiresAtUSec":"#.utf8
            reply += String(terms.times.expiresAt(at: now).microseconds).utf8
            reply += #","tokenType":""#.utf8
            reply += token.scheme.utf8
            reply += #""}"#.utf8
            return reply
        }
    }

    /// Whether the byte needs no escape in a JSON string (RFC 8259 §7).
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
