/// The expected behaviour of the daemon for a fault, in one situation.
struct Expectation: Sendable, Equatable {
    enum Course: Sendable, Equatable {
        /// The refresh brings a token as if there were no fault.
        case unnoticed
        /// The daemon tries again by itself, less and less often.
        case retries
        /// The daemon sends no request before the time that the server named. In seconds from the answer, including the
        /// jitter of 10 %.
        case waits(ClosedRange<Double>)
        /// Repeating the request would not help: the daemon tries rarely, and says what must be corrected.
        case misconfigured
        /// The daemon calls the person, with this reason.
        case needsPerson(reason: String)
    }

    /// How the account recovers after the fault.
    enum Recovery: Sendable, Equatable {
        /// The account never lacked a token.
        case none
        case byItself
        /// By itself within the hour, and at once with `authctl refresh`.
        case refresh
        /// By itself at the time that the server named, which is too late for a test.
        case later
        /// Only with a new grant, because the server has ended the old one.
        case grant
    }

    let course: Course
    /// The text in `authctl status`.
    let words: String
    let recovery: Recovery
}

extension Expectation {
    /// The server's grace period in seconds, as configured for the daemon: after a possibly spent refresh token it asks
    /// again soon. Nil for a server without one. Half of it is shorter than `request_timeout`, and becomes the time for
    /// which an answer is awaited.
    var toldGrace: Int64? { recovery == .grant ? nil : 16 }

    static let unnoticed = Expectation(course: .unnoticed, words: "", recovery: .none)

    static func retries(_ words: String) -> Expectation {
        Expectation(course: .retries, words: words, recovery: .byItself)
    }

    static func waits(_ seconds: ClosedRange<Double>, _ words: String, recovery: Recovery = .byItself) -> Expectation {
        Expectation(course: .waits(seconds), words: words, recovery: recovery)
    }

    static func misconfigured(_ words: String) -> Expectation {
        Expectation(course: .misconfigured, words: words, recovery: .refresh)
    }

    static func needsPerson(_ reason: String, _ words: String, recovery: Recovery = .refresh) -> Expectation {
        Expectation(course: .needsPerson(reason: reason), words: words, recovery: recovery)
    }
}

extension Expectation.Course {
    /// Whether the account gets a new token during the fault.
    var bringsToken: Bool {
        switch self {
        case .unnoticed: true
        case .retries, .waits, .misconfigured, .needsPerson: false
        }
    }

    /// `AccountStatus.state`.
    var state: String {
        switch self {
        case .unnoticed: "fresh"
        case .retries, .waits: "retrying"
        case .misconfigured: "misconfigured"
        case .needsPerson: "interaction-required"
        }
    }

    /// Seconds from the first failure to the next attempt; nil if none comes by itself.
    var pause: ClosedRange<Double>? {
        switch self {
        case .unnoticed, .needsPerson: nil
        // `BackOffRule`.
        case .retries: 1...2
        case .waits(let seconds): seconds
        case .misconfigured: 150...300
        }
    }

    /// The exit status of `authctl token` without a valid token.
    var exitStatus: Int32 {
        switch self {
        case .unnoticed: 0
        case .retries, .waits: 75
        case .misconfigured: 78
        case .needsPerson: 3
        }
    }

    /// The most attempts within `seconds` from the first, including the first; nil if there is no limit.
    func mostAttempts(within seconds: Double) -> Int? {
        switch self {
        case .unnoticed: return 1
        case .misconfigured: return 1 + Int(seconds / 150)
        case .waits(let wait): return 1 + Int(seconds / wait.lowerBound)
        // The first, and after a lost answer at most two more to confirm the refusal.
        case .needsPerson: return 3
        case .retries:
            // The shortest waits: half of 2, 4, 8, … s, at most half of 300 s. One more is allowed, because after a
            // lost answer the second wait has the length of the first again.
            var (attempts, time, wait) = (2, 0.0, 1.0)
            while time + wait <= seconds {
                (attempts, time, wait) = (attempts + 1, time + wait, min(wait * 2, 150))
            }
            return attempts
        }
    }

    /// The expectation in the words of the table.
    var text: String {
        switch self {
        case .unnoticed: "refreshes"
        case .retries: "retries"
        case .waits: "waits as asked"
        case .misconfigured: "says what to correct"
        case .needsPerson(let reason): "needs a person (\(reason))"
        }
    }
}
