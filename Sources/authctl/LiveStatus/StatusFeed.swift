internal import AuthRefreshInterface
internal import Glibc
internal import Synchronization

/// The states of accounts, updated by the daemon's changes. The daemon is never asked again for something that it has
/// reported.
struct StatusFeed: ~Copyable {
    private let connection: ConnectionOptions
    private var changes: FollowedChanges
    /// The connection for asking about the daemon itself, because the other one is busy with the stream of changes; nil
    /// if nothing was asked.
    private var question: DaemonConnection?
    private var states = AccountStates()
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
        var feed = StatusFeed(connection, try FollowedChanges.open(names: names, connection: connection))
        while !feed.states.isComplete {
            switch try feed.changes.take() {
            case .change(let change): feed.states.apply(change)
            case .nothing, .daemonEnded: feed.changes.wait()
            }
        }
        feed.accounts = feed.states.sorted
        var daemon = try connection.connect()
        feed.info = try daemon.ask(.getInfo, GetInfo.Parameters(), for: GetInfo.Reply.self)
        return feed
    }

    private init(_ connection: ConnectionOptions, _ changes: consuming FollowedChanges) {
        self.connection = connection
        self.changes = changes
    }

    /// Whether the daemon has sent the initial state. A restarted daemon may need some time.
    var isAnswered: Bool { states.isComplete }

    /// Whether the daemon has ended, and the next one has been looked for longer than a restart usually takes.
    var isDaemonMissed: Bool { changes.isMissed }

    /// After how many milliseconds `takeChanges` has to be called, though nothing is readable; -1 for never.
    var pauseMilliseconds: Int32 { changes.pauseMilliseconds }

    /// The descriptors to watch. One of them becomes readable when there is a change.
    var pollDescriptors: [Int32] {
        changes.pollDescriptors + (questionDescriptor.map { [$0] } ?? [])
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
        while try !takeChanges() || !isAnswered { changes.wait() }
        while let descriptor = questionDescriptor, try !takeInfo() { StandardOutput.wait(forInputOn: [descriptor]) }
    }

    /// Reads the changes that have arrived, without waiting, because a silent daemon must not block the user's keys.
    ///
    /// - Returns: whether something has to be redrawn.
    @discardableResult mutating func takeChanges() throws(AuthctlError) -> Bool {
        var (hasChanged, hasBegunAgain) = (false, hasEnded)
        if hasEnded { beginAgain() }
        reading: while true {
            switch try changes.take() {
            case .change(let change):
                states.apply(change)
                hasChanged = true
            case .nothing: break reading
            case .daemonEnded where hasChanged && isAnswered:
                hasEnded = true
                break reading
            case .daemonEnded:
                beginAgain()
                (hasChanged, hasBegunAgain) = (false, true)
            }
        }
        guard isAnswered else { return hasBegunAgain }
        if hasChanged {
            accounts = states.sorted
            try askForInfo()
        }
        return try takeInfo() || hasChanged
    }

    /// Forgets what the daemon that has ended told, for the present state of the next one.
    private mutating func beginAgain() {
        question = nil
        hasEnded = false
        states = AccountStates()
    }

    /// Asks about the daemon itself. If the daemon has just ended, the subscription notices that.
    private mutating func askForInfo() throws(AuthctlError) {
        // An answer to an older question would be older than the change.
        question = nil
        do throws(AuthctlError) {
            var question = try connection.connect()
            try question.begin(.getInfo, GetInfo.Parameters())
            self.question = consume question
        } catch {
            switch error {
            case .connection(.unreachable), .connection(.ended): return
            case let other: throw other
            }
        }
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
