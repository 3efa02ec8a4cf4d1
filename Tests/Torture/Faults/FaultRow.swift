internal import DemoIssuer

/// A fault.
enum Trouble: Sendable {
    /// A fault at the token endpoint.
    ///
    /// - Parameter times: the number of requests affected; nil for all during the fault.
    case endpoint(Fault, times: Int? = nil)
    /// The server answers with 503, and a date until which nobody is to ask again, this long after the fault began.
    case retryDate(Duration)
    /// A fault before the server receives anything.
    case door(Reception)
    /// A fault of the name server.
    case name(NameAnswer)
    /// The server's clock, and with it the `Date` of its answers, is wrong by this much.
    case clock(Duration)
}

/// When the fault begins.
enum Situation: String, Sendable, CaseIterable {
    /// The account is new, and has no token.
    case first = "first refresh"
    /// The account has a token that is still valid when the refresh is due.
    case steady = "steady state"
    /// As in the steady state, but the daemon was restarted in between.
    case restart = "after a restart"
}

/// A fault and the expected behaviour: the left and right side of the table.
struct FaultRow: Sendable {
    let name: String
    let trouble: Trouble
    /// How long the server accepts a replaced refresh token. Zero, the strictest, unless the fault loses an answer.
    let grace: Duration
    private let first: Expectation
    private let steady: Expectation
    private let restart: Expectation

    /// - Parameters:
    ///   - first: the expectation for an account's first refresh; nil if it is the same.
    ///   - restart: the expectation after a restart, when the metadata must be fetched again; nil if it is the same.
    init(
        _ name: String,
        _ trouble: Trouble,
        grace: Duration = .zero,
        first: Expectation? = nil,
        restart: Expectation? = nil,
        _ steady: Expectation
    ) {
        self.name = name
        self.trouble = trouble
        self.grace = grace
        self.first = first ?? steady
        self.steady = steady
        self.restart = restart ?? steady
    }

    /// Whether the server uses TLS. The meaning of a strange answer does not depend on TLS, and hundreds of handshakes
    /// take minutes.
    var isSecure: Bool {
        switch trouble {
        case .endpoint(let fault, _): fault.name != "answer"
        case .retryDate: false
        case .door, .name, .clock: true
        }
    }

    func expectation(in situation: Situation) -> Expectation {
        switch situation {
        case .first: first
        case .steady: steady
        case .restart: restart
        }
    }
}
