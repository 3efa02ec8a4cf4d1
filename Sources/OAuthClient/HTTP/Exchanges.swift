import CCurl
import Glibc
import OAuthMessages
import RefreshCore

/// The exchanges under way, on their one thread.
@safe actor Exchanges {
    /// What a caller hears when its exchange is over.
    typealias Outcome = Result<Exchange.Reply, TransportFailure>

    private struct Running {
        let exchange: Exchange
        let end: CheckedContinuation<Outcome, Never>
        /// When to give up.
        let limit: SuspendingClock.Instant
        /// When the callers' time is over, if the answer is awaited longer; nil if that has been handled.
        var callersLimit: SuspendingClock.Instant?
    }

    nonisolated let thread: ExchangeThread
    private let rest: Duration
    private let onRest: @Sendable () -> Void
    private var multi: UnsafeMutableRawPointer?
    /// The TLS sessions that the next connections to the same servers resume.
    private var sessions: UnsafeMutableRawPointer?
    private var running: [UInt64: Running] = [:]
    /// The numbers of the exchanges, by the addresses of libcurl's handles.
    private var numbers: [UInt: UInt64] = [:]
    private var lastNumber: UInt64 = 0
    private var lookUps = LookUpGate()
    /// When to give the memory back, if nothing happens until then.
    private var restLimit: SuspendingClock.Instant?
    private var isShutDown = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - rest: how long after the last exchange everything is released that the next one does not need.
    ///   - onRest: called then, on the thread.
    init(rest: Duration, onRest: @escaping @Sendable () -> Void) {
        thread = ExchangeThread()
        self.rest = rest
        self.onRest = onRest
    }

    /// Starts the thread. Call it once, before anything else.
    nonisolated func begin() {
        thread.begin { [weak self] bell, maySleep in
            self?.assumeIsolated { $0.turn(bell, maySleep: maySleep) }
        }
    }

    /// Runs one exchange.
    ///
    /// - Parameters:
    ///   - callersTime: how long callers wait.
    ///   - patience: how long to read on after that; nil to stop then.
    func run(
        _ plan: ExchangePlan,
        within callersTime: Duration,
        _ patience: HTTPTransport.Patience?
    ) async -> Outcome {
        guard !isShutDown else { return .failure(TransportFailure(cause: .other, wasSent: false)) }
        let exchange: Exchange
        do throws(TransportFailure) {
            exchange = try Exchange(plan)
        } catch {
            return .failure(error)
        }
        lastNumber += 1
        let number = lastNumber
        let now = SuspendingClock.now
        let limit = now + max(callersTime, patience?.limit ?? .zero)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                numbers[exchange.key] = number
                running[number] = Running(
                    exchange: exchange,
                    end: continuation,
                    limit: limit,
                    callersLimit: patience == nil ? nil : now + callersTime
                )
                admit(number)
            }
        } onCancel: {
            thread.execute { [weak self] in self?.assumeIsolated { $0.cancel(number) } }
        }
    }

    /// Ends everything. Exchanges under way fail, and later ones are refused.
    func shutDown() {
        isShutDown = true
        for (number, item) in running {
            fail(number, TransportFailure(cause: .other, wasSent: item.exchange.mayHaveSpent))
        }
        release()
        thread.end()
    }

    // MARK: A turn of the thread

    private func turn(_ bell: Int32, maySleep: Bool) {
        if let multi = unsafe multi {
            var count: Int32 = 0
            unsafe curl_multi_perform(multi, &count)
            unsafe takeEnded(from: multi)
        }
        let next = passLimits(at: .now)
        // What a limit has ended may have left work behind.
        sleep(until: maySleep ? next : .now, bell)
    }

    /// Waits until a connection is ready, the bell rings or the time has come.
    private func sleep(until limit: SuspendingClock.Instant?, _ bell: Int32) {
        var timeout = Int32.max
        if let limit {
            // Rounded up, so that the time has come when the thread wakes.
            let wait = SuspendingClock.now.duration(to: limit) + .microseconds(999)
            timeout = Int32(clamping: max(0, Int64(wait / .milliseconds(1))))
        }
        guard let multi = unsafe multi else {
            var watched = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
            unsafe poll(&watched, 1, timeout == .max ? -1 : timeout)
            return
        }
        var watched = curl_waitfd(fd: bell, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        unsafe curl_multi_poll(multi, &watched, 1, timeout, nil)
    }

    private func takeEnded(from multi: UnsafeMutableRawPointer) {
        var rest: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &rest) {
            let (handle, code) = unsafe (message.pointee.easy_handle, message.pointee.data.result)
            guard unsafe message.pointee.msg == CURLMSG_DONE, let handle = unsafe handle,
                let number = numbers[UInt(bitPattern: handle)], let exchange = running[number]?.exchange
            else { continue }
            let reply = exchange.reply(isEnded: code == CURLE_OK)
            finish(number, reply.map(Outcome.success) ?? .failure(exchange.failure(code)))
        }
    }

    /// Ends what has used up its time, and releases what nobody needs any more.
    ///
    /// - Returns: the next limit; nil if there is none.
    private func passLimits(at now: SuspendingClock.Instant) -> SuspendingClock.Instant? {
        for (number, item) in running {
            if let callersLimit = item.callersLimit, callersLimit <= now { passCallersLimit(of: number, item.exchange) }
            if item.limit <= now, let item = running[number] { giveUp(number, item.exchange) }
        }
        if running.isEmpty, let limit = restLimit, limit <= now {
            restLimit = nil
            release()
            onRest()
        }
        return running.values.map { min($0.limit, $0.callersLimit ?? $0.limit) }.min() ?? restLimit
    }

    /// Handles the end of the callers' time. What was not sent is not sent any more. Else the reading goes on, unless
    /// all that matters is there.
    private func passCallersLimit(of number: UInt64, _ exchange: Exchange) {
        guard exchange.isSent else { return giveUp(number, exchange) }
        if let reply = exchange.reply(isEnded: false) { return finish(number, .success(reply)) }
        running[number]?.callersLimit = nil
        exchange.plan.request.patience?.onOverdue()
    }

    private func giveUp(_ number: UInt64, _ exchange: Exchange) {
        let reply = exchange.reply(isEnded: false)
        let failure = TransportFailure(cause: .timeLimit, wasSent: exchange.mayHaveSpent)
        finish(number, reply.map(Outcome.success) ?? .failure(failure))
    }

    // MARK: The beginning and the end of an exchange

    /// Begins an exchange, or lets it wait until its name may be looked up.
    private func admit(_ number: UInt64) {
        guard let exchange = running[number]?.exchange else { return }
        let host = exchange.plan.hostToLookUp
        guard lookUps.enter(number, for: host, at: .now) else { return }
        exchange.onNameFound = { [unowned self] in
            // libcurl calls this on the thread of this actor, within a turn.
            assumeIsolated { $0.leaveLookUp(number, isFound: true) }
        }
        begin(exchange, number)
    }

    private func begin(_ exchange: Exchange, _ number: UInt64) {
        restLimit = nil
        if unsafe multi == nil {
            unsafe multi = curl_multi_init()
            unsafe sessions = curl_share_init()
            unsafe authrefresh_curl_share_sessions(sessions)
        }
        unsafe exchange.share(sessions)
        guard let multi = unsafe multi, unsafe curl_multi_add_handle(multi, exchange.handle) == CURLM_OK else {
            return fail(number, TransportFailure(cause: .other, wasSent: false))
        }
    }

    private func leaveLookUp(_ number: UInt64, isFound: Bool) {
        let next = lookUps.leave(number, isFound: isFound, at: .now)
        // They begin in a later turn, because libcurl adds nothing within a call of its own.
        guard !next.isEmpty else { return }
        thread.execute { [weak self] in self?.assumeIsolated { actor in next.forEach { actor.admit($0) } } }
    }

    private func cancel(_ number: UInt64) {
        guard let exchange = running[number]?.exchange else { return }
        giveUp(number, exchange)
    }

    private func fail(_ number: UInt64, _ failure: TransportFailure) {
        finish(number, .failure(failure))
    }

    private func finish(_ number: UInt64, _ outcome: Outcome) {
        guard let ended = running.removeValue(forKey: number) else { return }
        numbers[ended.exchange.key] = nil
        if let multi = unsafe multi { unsafe curl_multi_remove_handle(multi, ended.exchange.handle) }
        leaveLookUp(number, isFound: false)
        ended.end.resume(returning: outcome)
        if running.isEmpty { restLimit = .now + rest }
    }

    /// Gives back what only exchanges need.
    private func release() {
        unsafe curl_multi_cleanup(multi)
        unsafe curl_share_cleanup(sessions)
        unsafe (multi, sessions) = (nil, nil)
    }
}

/// Decides when an exchange may look up its host's name.
///
/// libcurl has a thread for each look-up. A name server that is silent holds it for as long as the resolver takes. So
/// there is one look-up for each name, and a limited number in all: names that hang hold up only those who need them.
/// For a while after a name was found, it may be looked up freely.
struct LookUpGate {
    /// The most look-ups at the same time.
    static let lookUpsMax = 16
    /// How long a name counts as found: as long as one refresh takes, with its metadata and with those of other
    /// accounts. A name server that falls silent within this time can still hold up others, once.
    static let memory = Duration.seconds(5)
    /// The most names that are remembered. If there is one more, all are forgotten.
    static let rememberedMax = 4096

    private var lookedUp: [UInt64: String] = [:]
    private var waiting: [(number: UInt64, host: String)] = []
    private var found: [String: SuspendingClock.Instant] = [:]

    /// Whether the exchange may begin now. If not, it is among those that `leave` returns later.
    ///
    /// - Parameter host: the name; nil if there is nothing to look up.
    mutating func enter(_ number: UInt64, for host: String?, at now: SuspendingClock.Instant) -> Bool {
        guard let host else { return true }
        if let last = found[host], last.duration(to: now) < Self.memory { return true }
        if lookedUp.count < Self.lookUpsMax, !lookedUp.values.contains(host) {
            lookedUp[number] = host
            return true
        }
        waiting.append((number, host))
        return false
    }

    /// Notes that an exchange has its address, or has ended.
    ///
    /// - Returns: those that may ask again, in their order.
    mutating func leave(_ number: UInt64, isFound: Bool, at now: SuspendingClock.Instant) -> [UInt64] {
        guard let host = lookedUp.removeValue(forKey: number) else {
            waiting.removeAll { $0.number == number }
            return []
        }
        if found.count >= Self.rememberedMax { found = [:] }
        found[host] = isFound ? now : nil
        defer { waiting = [] }
        return waiting.map(\.number)
    }
}
