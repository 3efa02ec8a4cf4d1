/// What the daemon is to do about a fault, in one situation.
struct Expectation: Sendable, Equatable {
    enum Course: Sendable, Equatable {
        /// The refresh brings a token as if nothing were wrong.
        case unnoticed
        /// The first attempt fails, the next brings a token, although the fault lasts.
        case hiccup
        /// It tries again by itself, ever more seldom.
        case retries
        /// It asks nothing before the time that the server named; seconds from the answer, the jitter of 10 % included.
        case waits(ClosedRange<Double>)
        /// Asking the same again would not help: it tries seldom, and says what is to be mended.
        case misconfigured
        /// It asks for the person, with this reason.
        case needsPerson(reason: String)
    }

    /// How the account comes back when the fault has gone.
    enum Recovery: Sendable, Equatable {
        /// Nothing was missing.
        case none
        case byItself
        /// By itself within the hour; sooner when somebody types `authctl refresh`.
        case refresh
        /// By itself, when the time that the server named has come: too late for a test to wait for.
        case later
        /// Only by a new grant: the old one is lost at the server.
        case grant
    }

    let course: Course
    /// What `authctl status` has to say about it; of a hiccup, what subscribers are told.
    let words: String
    let recovery: Recovery
}

extension Expectation {
    /// What the daemon is told of the server's grace period, in seconds: it asks soon again where it may have spent a refresh token. Not of
    /// a server that has none. Half of it is shorter than `request_timeout`, which then is how long an answer is waited for.
    var toldGrace: Int64? { recovery == .grant ? nil : 16 }

    static let unnoticed = Expectation(course: .unnoticed, words: "", recovery: .none)

    static func hiccup(_ words: String) -> Expectation {
        Expectation(course: .hiccup, words: words, recovery: .none)
    }

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
    /// Whether it ends in a new token while the fault lasts.
    var bringsToken: Bool {
        switch self {
        case .unnoticed, .hiccup: true
        case .retries, .waits, .misconfigured, .needsPerson: false
        }
    }

    /// `AccountStatus.state`.
    var state: String {
        switch self {
        case .unnoticed, .hiccup: "fresh"
        case .retries, .waits: "retrying"
        case .misconfigured: "misconfigured"
        case .needsPerson: "interaction-required"
        }
    }

    /// Seconds from the first failure to the next attempt; nil if there is none to come by itself.
    var pause: ClosedRange<Double>? {
        switch self {
        case .unnoticed, .hiccup, .needsPerson: nil
        // `BackOffRule`.
        case .retries: 1...2
        case .waits(let seconds): seconds
        case .misconfigured: 150...300
        }
    }

    /// How `authctl token` ends without a token that is still good.
    var exitStatus: Int32 {
        switch self {
        case .unnoticed, .hiccup: 0
        case .retries, .waits: 75
        case .misconfigured: 78
        case .needsPerson: 3
        }
    }

    /// The most attempts that may be made within `seconds` of the first, that one included; nil says nothing about it.
    func mostAttempts(within seconds: Double) -> Int? {
        switch self {
        case .unnoticed: return 1
        case .hiccup: return 2
        case .misconfigured: return 1 + Int(seconds / 150)
        case .waits(let wait): return 1 + Int(seconds / wait.lowerBound)
        // The first, and at most two to find out whether the refusal is meant, after an answer that was lost.
        case .needsPerson: return 3
        case .retries:
            // The shortest waits: half of 2, 4, 8, … s, at most half of 300 s. One is left out: after an answer that was lost the
            // second wait begins at the first again.
            var (attempts, time, wait) = (2, 0.0, 1.0)
            while time + wait <= seconds {
                (attempts, time, wait) = (attempts + 1, time + wait, min(wait * 2, 150))
            }
            return attempts
        }
    }

    /// In the words of the table.
    var text: String {
        switch self {
        case .unnoticed: "refreshes"
        case .hiccup: "retries, refreshes"
        case .retries: "retries"
        case .waits: "waits as asked"
        case .misconfigured: "says what to mend"
        case .needsPerson(let reason): "needs a person (\(reason))"
        }
    }
}
