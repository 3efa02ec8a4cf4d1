import CCurl
import OAuthMessages
import RefreshCore

/// The exchanges under way, on their one thread.
actor Exchanges {
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
    private let transfers: Transfers
    private var running: [UInt64: Running] = [:]
    /// The numbers of the exchanges, by the addresses of libcurl's handles.
    private var numbers: [UInt: UInt64] = [:]
    private var lastNumber: UInt64 = 0
    private var lookUps = LookUpGate()
    /// When to give the memory back, if nothing happens until then.
    private var restLimit: SuspendingClock.Instant?
    /// When to look for limits that are over; nil for never. Exchanges that ended may have left it too early.
    private var nextLimit: SuspendingClock.Instant?
    private var isShutDown = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - rest: how long after the last exchange everything is released that the next one does not need.
    ///   - onRest: called then, on the thread.
    init(rest: Duration, onRest: @escaping @Sendable () -> Void) {
        thread = ExchangeThread()
        transfers = Transfers(bell: thread.bell)
        self.rest = rest
        self.onRest = onRest
    }

    /// Starts the thread. Call it once, before anything else.
    nonisolated func begin() {
        thread.begin { [weak self] maySleep in
            self?.assumeIsolated { $0.turn(maySleep: maySleep) }
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
                nextLimit = min(nextLimit ?? limit, now + callersTime)
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
        transfers.release()
        thread.end()
    }

    // MARK: A turn of the thread

    private func turn(maySleep: Bool) {
        passLimits(at: .now)
        transfers.turn(until: maySleep ? nextLimit : .now) { key, code in
            guard let number = numbers[key], let exchange = running[number]?.exchange else { return }
            let reply = exchange.reply(isEnded: code == CURLE_OK)
            finish(number, reply.map(Outcome.success) ?? .failure(exchange.failure(code)))
        }
    }

    /// Ends what has used up its time, and releases what nobody needs any more.
    private func passLimits(at now: SuspendingClock.Instant) {
        guard let limit = nextLimit, limit <= now else { return }
        for (number, item) in running {
            if let callersLimit = item.callersLimit, callersLimit <= now { passCallersLimit(of: number, item.exchange) }
            if item.limit <= now, let item = running[number] { giveUp(number, item.exchange) }
        }
        if running.isEmpty, let limit = restLimit, limit <= now {
            restLimit = nil
            transfers.release()
            onRest()
        }
        nextLimit = running.values.map { min($0.limit, $0.callersLimit ?? $0.limit) }.min() ?? restLimit
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
        if !transfers.begin(exchange) { fail(number, TransportFailure(cause: .other, wasSent: false)) }
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
        transfers.end(ended.exchange)
        leaveLookUp(number, isFound: false)
        ended.end.resume(returning: outcome)
        if running.isEmpty {
            restLimit = .now + rest
            nextLimit = restLimit
        }
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
