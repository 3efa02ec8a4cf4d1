internal import AuthRefreshInterface
internal import Glibc
internal import Synchronization

/// The states of accounts, updated by the daemon's changes. The daemon is never asked again for something that it has
/// reported.
struct StatusFeed: ~Copyable {
    private let names: [String]
    private let connection: ConnectionOptions
    private var daemon: DaemonConnection
    /// The connection for asking about the daemon itself, because the other one is busy with the stream of changes; nil
    /// if nothing was asked.
    private var question: DaemonConnection?
    private var states = AccountStates()
    private var restarts = Restarts()
    /// Whether the daemon has gone. Its last changes are shown first.
    private var hasEnded = false
    /// The accounts, ordered by the bytes of their names like the daemon's lists. While a restarted daemon does not
    /// answer yet, these are the previous daemon's.
    private(set) var accounts: [AccountStatus] = []
    /// The daemon's own state at the last change.
    private(set) var info: GetInfo.Reply?

    /// Subscribes, and waits for the initial state.
    ///
    /// - Parameter names: the accounts to follow; empty for all.
    static func open(names: [String], connection: ConnectionOptions) throws(AuthctlError) -> StatusFeed {
        // Not an initializer, because Swift cannot abandon a noncopyable type in the middle of one.
        var feed = StatusFeed(names, connection, try connection.connect())
        try feed.daemon.subscribe(to: names)
        feed.daemon.tellIfSilent()
        while !feed.states.isComplete { feed.states.apply(try feed.daemon.nextChange()) }
        feed.restarts.presentStateCame()
        feed.accounts = feed.states.sorted
        var daemon = try connection.connect()
        feed.info = try daemon.ask(.getInfo, GetInfo.Parameters(), for: GetInfo.Reply.self)
        return feed
    }

    private init(_ names: [String], _ connection: ConnectionOptions, _ daemon: consuming DaemonConnection) {
        self.names = names
        self.connection = connection
        self.daemon = daemon
    }

    /// Whether the daemon has sent the initial state. A restarted daemon may need some time.
    var isAnswered: Bool { states.isComplete }

    /// The descriptors to watch. One of them becomes readable when there is a change.
    var pollDescriptors: [Int32] {
        [daemon.pollDescriptor] + (questionDescriptor.map { [$0] } ?? [])
    }

    private var questionDescriptor: Int32? {
        switch question {
        case .some(let question): question.pollDescriptor
        case nil: nil
        }
    }

    /// Waits for a change, and reads all changes and the daemon's own state.
    ///
    /// It ends the process if nobody reads its output any more.
    mutating func waitForChange() throws(AuthctlError) {
        while try !takeChanges() || !isAnswered { StandardOutput.wait(forInputOn: pollDescriptors) }
        while let descriptor = questionDescriptor, try !takeInfo() { StandardOutput.wait(forInputOn: [descriptor]) }
    }

    /// Reads the changes that have arrived, without waiting, because a silent daemon must not block the user's keys.
    ///
    /// - Returns: whether something has to be redrawn.
    @discardableResult mutating func takeChanges() throws(AuthctlError) -> Bool {
        var hasChanged = false
        do throws(AuthctlError) {
            guard !hasEnded else { throw .connection(.ended) }
            while let change = try daemon.availableChange() {
                states.apply(change)
                hasChanged = true
                if isAnswered { restarts.presentStateCame() }
            }
        } catch .connection(.ended) where hasChanged && isAnswered {
            hasEnded = true
        } catch {
            try begin(after: error)
            return true
        }
        guard isAnswered else { return false }
        if hasChanged {
            accounts = states.sorted
            try askForInfo()
        }
        return try takeInfo() || hasChanged
    }

    /// Subscribes again after the daemon has gone. During a restart, for example for an upgrade, the socket stays, and
    /// the next daemon answers there.
    ///
    /// - Throws: `error` itself, unless it is the connection's end and the next daemon may answer.
    private mutating func begin(after error: AuthctlError) throws(AuthctlError) {
        guard case .connection(.ended) = error, restarts.daemonEnded() else { throw error }
        question = nil
        hasEnded = false
        states = AccountStates()
        daemon = try connection.connect()
        try daemon.subscribe(to: names)
    }

    private mutating func askForInfo() throws(AuthctlError) {
        // An answer to an older question would be older than the change.
        var question = try connection.connect()
        try question.begin(.getInfo, GetInfo.Parameters())
        self.question = consume question
    }

    /// Reads the answer about the daemon itself; returns whether there was one.
    private mutating func takeInfo() throws(AuthctlError) -> Bool {
        do throws(AuthctlError) {
            guard let (reply, _) = try question?.availableReply(GetInfo.Reply.self) else { return false }
            info = reply
        } catch .connection(.ended) {
            // The daemon has gone. The subscription notices that as well.
        }
        question = nil
        return true
    }
}

/// The sum of all changes so far.
struct AccountStates {
    private var byName: [String: AccountStatus] = [:]
    /// Whether the initial state is complete.
    private(set) var isComplete = false

    var sorted: [AccountStatus] {
        byName.values.sorted { $0.account.utf8.lexicographicallyPrecedes($1.account.utf8) }
    }

    mutating func apply(_ change: Subscribe.Reply) {
        if change.event == "ready" { isComplete = true }
        if let previous = change.previousName { byName[previous] = nil }
        // A change without a state means that the account was removed.
        if change.accounts.isEmpty, let account = change.account { byName[account] = nil }
        for status in change.accounts { byName[status.account] = status }
    }
}

/// Decides whether to subscribe again after a subscription has ended. An upgrade restarts the daemon, and may do so
/// twice in a row.
struct Restarts {
    /// If this many daemons in a row end without an answer, none will come up. systemd gives up after five starts.
    static let most = 10

    /// How many daemons have ended since one sent the present state; nil if none has sent it yet.
    private var unanswered: Int?

    /// Notes that the daemon has sent the present state.
    mutating func presentStateCame() {
        unanswered = 0
    }

    /// Notes that the daemon has ended the connection.
    ///
    /// - Returns: whether to ask the next daemon.
    mutating func daemonEnded() -> Bool {
        guard let count = unanswered, count < Self.most else { return false }
        unanswered = count + 1
        return true
    }
}

/// The work of `FD_SET`, whose macros Swift cannot use.
struct DescriptorSet {
    var set = fd_set()

    /// Creates a set.
    ///
    /// - Parameter descriptors: each below 1024; this process has only a few.
    init(_ descriptors: [Int32]) {
        unsafe withUnsafeMutableBytes(of: &set) { bytes in
            for descriptor in descriptors { unsafe bytes[Int(descriptor) / 8] |= 1 << (descriptor % 8) }
        }
    }

    func contains(_ descriptor: Int32) -> Bool {
        unsafe withUnsafeBytes(of: set) { unsafe $0[Int(descriptor) / 8] & 1 << (descriptor % 8) != 0 }
    }
}

/// The signals that have arrived and were not handled yet, one bit each. A signal handler may touch nothing else.
private let arrived = Atomic<UInt64>(0)

/// Blocks signals except while the program waits, and reports which one interrupted a wait. There may be only one
/// instance at a time.
struct CaughtSignals: ~Copyable {
    private let numbers: [Int32]
    private var actionsBefore: [sigaction]
    private var maskBefore = sigset_t()

    init(_ numbers: [Int32]) {
        self.numbers = numbers
        arrived.store(0, ordering: .relaxed)
        var held = sigset_t()
        unsafe sigemptyset(&held)
        for number in numbers { unsafe sigaddset(&held, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &held, &maskBefore)

        var note = sigaction()
        unsafe note.__sigaction_handler.sa_handler = { arrived.bitwiseOr(1 << UInt64($0), ordering: .relaxed) }
        actionsBefore = Array(repeating: sigaction(), count: numbers.count)
        for (index, number) in numbers.enumerated() { unsafe sigaction(number, &note, &actionsBefore[index]) }
    }

    deinit {
        var mask = maskBefore
        for (index, number) in numbers.enumerated() {
            var action = actionsBefore[index]
            unsafe sigaction(number, &action, nil)
        }
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// The signals since the last call.
    func take() -> [Int32] {
        let bits = arrived.exchange(0, ordering: .relaxed)
        return numbers.filter { bits & 1 << UInt64($0) != 0 }
    }

    /// Waits until a descriptor is readable, a signal arrives, or the time is over.
    ///
    /// - Returns: the readable descriptors; empty after a signal.
    func wait(for descriptors: [Int32], microseconds: Int64) -> [Int32] {
        var wanted = DescriptorSet(descriptors)
        var time = timespec(tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000 * 1000))
        var mask = maskBefore
        let highest = descriptors.max() ?? -1
        let count = unsafe pselect(highest + 1, &wanted.set, nil, nil, &time, &mask)
        return count > 0 ? descriptors.filter(wanted.contains) : []
    }

    /// Applies the signal's usual effect to this process; returns if the process survives it.
    static func passOn(_ number: Int32) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = SIG_DFL
        var before = sigaction()
        unsafe sigaction(number, &action, &before)
        raise(number)
        var only = sigset_t()
        var maskBefore = sigset_t()
        unsafe sigemptyset(&only)
        unsafe sigaddset(&only, number)
        // The signal is delivered here.
        unsafe pthread_sigmask(SIG_UNBLOCK, &only, &maskBefore)
        unsafe pthread_sigmask(SIG_SETMASK, &maskBefore, nil)
        unsafe sigaction(number, &before, nil)
    }
}
