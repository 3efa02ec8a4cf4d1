internal import AuthRefreshInterface
internal import Basics

/// The daemon's changes, and those of the next daemon after one has ended: an upgrade restarts the daemon.
///
/// `authctl watch` and `authctl status --watch` read their changes here, so that both wait in the same way.
struct FollowedChanges: ~Copyable {
    /// What a call to `take` finds.
    enum News {
        case change(Subscribe.Reply)
        /// Nothing has arrived.
        case nothing
        /// The daemon has ended. The next calls look for its successor, which tells the present state again.
        case daemonEnded
    }

    private let names: [String]
    private let connection: ConnectionOptions
    /// Nil while there is no daemon.
    private var daemon: DaemonConnection?
    /// Nil while there is a daemon.
    private var search: DaemonSearch?
    /// If this many daemons in a row end without an answer, none will come up. An upgrade may restart the daemon twice in
    /// a row; systemd gives up after five starts.
    private static let endingsMax = 10
    /// How many daemons have ended since one sent the present state; nil if none has sent it yet.
    private var unanswered: Int?

    /// Subscribes.
    ///
    /// - Parameter names: the accounts to follow; empty for all.
    static func open(names: [String], connection: ConnectionOptions) throws(Report) -> FollowedChanges {
        // Not an initializer, because Swift cannot abandon a noncopyable type in the middle of one.
        var daemon = try connection.connect()
        try daemon.subscribe(to: names)
        daemon.tellIfSilent()
        return FollowedChanges(names, connection, daemon)
    }

    private init(_ names: [String], _ connection: ConnectionOptions, _ daemon: consuming DaemonConnection) {
        self.names = names
        self.connection = connection
        self.daemon = consume daemon
    }

    /// Returns the next change, without waiting for one.
    ///
    /// - Throws: the connection's error if nobody answers at the socket for as long as a search lasts, or if the
    ///   daemon ends again and again; the daemon's error.
    mutating func take() throws(Report) -> News {
        if let search, try !connect(search) { return .nothing }
        do throws(Report) {
            guard let change = try daemon?.availableChange() else { return .nothing }
            if change.isReady { unanswered = 0 }
            return .change(change)
        } catch {
            guard error.cause == .ended, let count = unanswered, count < Self.endingsMax else { throw error }
            unanswered = count + 1
            daemon = nil
            search = DaemonSearch()
            return .daemonEnded
        }
    }

    /// Connects to the next daemon, if it is time to try. Where systemd holds the socket, a restart leaves one that
    /// answers. Elsewhere there is none for a moment.
    ///
    /// - Returns: whether there is a daemon.
    private mutating func connect(_ search: DaemonSearch) throws(Report) -> Bool {
        guard search.pauseMilliseconds() == 0 else { return false }
        let isLast = search.isOver()
        do throws(Report) {
            var next = try connection.connect()
            try next.subscribe(to: names)
            daemon = consume next
            self.search = nil
            return true
        } catch {
            switch error.cause {
            case .unreachable, .ended:
                guard !isLast else { throw error }
                self.search?.postpone()
                return false
            case .refused, .notFresh, .other: throw error
            }
        }
    }

    /// The descriptor that becomes readable when there is a change; none while there is no daemon.
    var pollDescriptors: [Int32] {
        switch daemon {
        case .some(let daemon): [daemon.pollDescriptor]
        case nil: []
        }
    }

    /// After how many milliseconds `take` has to be called, though nothing is readable; -1 for never.
    var pauseMilliseconds: Int32 { search?.pauseMilliseconds() ?? -1 }

    /// Whether the daemon has been missing for so long that a person should know.
    var isMissed: Bool { search?.isLong() ?? false }

    /// Waits until `take` has something to do. If the daemon is missing for long, it says so once.
    ///
    /// It ends the process if nobody reads its output any more.
    mutating func wait() {
        if let search, search.isLong(), !search.isTold {
            StandardError.note(Hint(DaemonSearch.announcement))
            self.search?.isTold = true
        }
        StandardOutput.wait(forInputOn: pollDescriptors, milliseconds: pauseMilliseconds)
    }
}

/// How long the next daemon is looked for, and when it is tried again.
struct DaemonSearch {
    /// How long the search lasts, in seconds. A daemon with a million accounts answers within a second.
    static let seconds = 10
    /// What a person is told meanwhile.
    static let announcement = "the daemon has ended; waiting at most \(seconds) s for the next one"
    /// The time in seconds after which a person is told what authctl waits for.
    private static let quiet = 2
    private static let pause = Duration.seconds(1)

    private let start: ContinuousClock.Instant
    private var next: ContinuousClock.Instant
    /// Whether the person was told.
    var isTold = false

    /// Begins with a try at once.
    ///
    /// - Parameter now: the time, for tests.
    init(now: ContinuousClock.Instant = .now) {
        (start, next) = (now, now)
    }

    /// Whether the next try is the last one.
    func isOver(at now: ContinuousClock.Instant = .now) -> Bool { now - start >= .seconds(Self.seconds) }

    /// Whether a person should know.
    func isLong(at now: ContinuousClock.Instant = .now) -> Bool { now - start >= .seconds(Self.quiet) }

    mutating func postpone(now: ContinuousClock.Instant = .now) {
        next = now + Self.pause
    }

    /// The time until the next try, rounded up; 0 if it is due.
    func pauseMilliseconds(at now: ContinuousClock.Instant = .now) -> Int32 {
        guard next > now else { return 0 }
        return Int32(((next - now) / .milliseconds(1)).rounded(.up))
    }
}
