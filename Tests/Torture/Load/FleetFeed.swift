internal import AuthRefreshInterface
internal import TextEncodings
internal import Synchronization
internal import TestSupport

/// A subscriber that checks from the changes that none is missing, and that no account was ever without a token.
final class FleetFeed: Sendable {
    /// What is known about one account.
    fileprivate struct Known {
        var generation: Int64
        var expiresAt: Int64?
        var nextAttemptAt: Int64?
        /// Whether its last change is the beginning of a refresh.
        var isRefreshing = false
    }

    fileprivate struct State {
        var accounts: [String: Known] = [:]
        var isReady = false
        var isCounting = false
        var refreshes = 0
        var surprises: [String] = []
        /// The error with which the subscription was refused or ended.
        var error: String?
    }

    /// The most surprises kept. The first ones show what is wrong.
    fileprivate static let surprisesMax = 5

    private let state = Mutex(State())
    private let progress = EventLog<Int>()

    /// Subscribes on a thread of its own, until the daemon ends.
    ///
    /// - Parameter accounts: the accounts; nil for all.
    init(_ stage: DaemonStage, accounts: [String]? = nil) {
        let names = accounts.map { JSONText.array($0) }
        let parameters = names.map { "{\"accounts\":\($0)}" } ?? "{}"
        Task { [self, socket = stage.socket] in
            try? await onOwnThread { self.follow(socket, parameters) }
            progress.end()
        }
    }

    /// Waits until the present state has arrived, or cannot arrive any more.
    func ready() async {
        _ = try? await progress.first("the present state", within: .patience) { _ in true }
    }

    /// Waits until each account that it was shown has a token.
    func allFresh(within limit: Duration) async throws {
        try await progress.first("a token for each account", within: limit) { $0 == 0 }
    }

    /// Whether no account is being refreshed, or due at `now`, in µs since 1970.
    func isSettled(at now: Int64) -> Bool {
        state.withLock { state in
            state.accounts.values.allSatisfy { !$0.isRefreshing && $0.nextAttemptAt ?? .max > now }
        }
    }

    /// Begins to count refreshes and surprises.
    func begin() {
        state.withLock { state in
            state.isCounting = true
            (state.refreshes, state.surprises) = (0, [])
        }
    }

    /// Stops counting, because the daemon's end follows.
    func end() {
        state.withLock { $0.isCounting = false }
    }

    var refreshes: Int { state.withLock { $0.refreshes } }
    var surprises: [String] { state.withLock { $0.surprises } }
    var isReady: Bool { state.withLock { $0.isReady } }
    /// The error with which the subscription was refused; nil if it was not.
    var error: String? { state.withLock { $0.error } }

    private func follow(_ socket: String, _ parameters: String) {
        do {
            var connection = try VarlinkConnection(path: socket)
            try connection.callMore(Method.subscribe.rawValue, parameters: parameters) { reply in
                guard reply.error == nil else {
                    state.withLock { $0.error = "\(reply.error ?? "") \(reply.parameters.text)" }
                    return false
                }
                take(reply.parameters)
                return true
            }
        } catch {
            state.withLock { state in
                if state.isCounting { state.error = "\(error)" }
            }
        }
    }

    private func take(_ change: JSONValue) {
        let event = change["event"]?.string ?? ""
        let at = change["atUSec"]?.integer ?? 0
        let statuses = change["accounts"]?.elements ?? []
        let left = state.withLock { state -> Int? in
            for status in statuses { state.take(event, status, at: at) }
            if event == "ready" { state.isReady = true }
            guard !state.isCounting, state.isReady else { return nil }
            return state.accounts.values.count { $0.expiresAt == nil }
        }
        if let left { progress.append(left) }
    }
}

extension FleetFeed.State {
    fileprivate mutating func take(_ event: String, _ status: JSONValue, at: Int64) {
        guard let name = status["account"]?.string, let generation = status["generation"]?.integer else { return }
        let before = accounts[name]
        accounts[name] = FleetFeed.Known(
            generation: generation,
            expiresAt: status["expiresAtUSec"]?.integer,
            nextAttemptAt: status["nextAttemptAtUSec"]?.integer ?? before?.nextAttemptAt,
            isRefreshing: event == "refresh-started"
        )
        guard isCounting, let before else { return }
        switch event {
        case "refresh-started": break
        case "token-refreshed":
            refreshes += 1
            if generation != before.generation + 1 {
                surprise("\(name): generation \(generation) came after \(before.generation)")
            }
            if let end = before.expiresAt, end < at { surprise("\(name): no token for \((at - end) / 1000) ms") }
        default: surprise("\(name): \(event)")
        }
    }

    private mutating func surprise(_ text: String) {
        if surprises.count < FleetFeed.surprisesMax { surprises.append(text) }
    }
}
