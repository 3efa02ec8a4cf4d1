internal import DemoIssuer

/// What goes wrong.
enum Trouble: Sendable {
    /// At the token endpoint.
    ///
    /// - Parameter times: how many requests it befalls; nil: all while the fault lasts.
    case endpoint(Fault, times: Int? = nil)
    /// Before the server has heard anything.
    case door(Reception)
    /// Before the server is found.
    case name(NameAnswer)
    /// The server's clock is wrong by this much, and with it the `Date` of its answers.
    case clock(Duration)
}

/// When it goes wrong.
enum Situation: String, Sendable, CaseIterable {
    /// The account is new, and has no token.
    case first = "first refresh"
    /// The account has a token that is still good when the refresh comes due.
    case steady = "steady state"
    /// The same, but the daemon was restarted in between.
    case restart = "after a restart"
}

/// A fault, and what has to become of it: the table's left and right side.
struct FaultRow: Sendable {
    let name: String
    let trouble: Trouble
    /// How long the server takes a refresh token that it has replaced. Zero, the strictest, unless the fault loses an answer.
    let grace: Duration
    private let first: Expectation
    private let steady: Expectation
    private let restart: Expectation

    /// - Parameters:
    ///   - first: what is expected of an account's first refresh; nil: the same.
    ///   - restart: what is expected after a restart, when the metadata has to be fetched anew; nil: the same.
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

    /// Whether the server has TLS: what a strange answer means does not depend on it, and handshakes by the hundred cost minutes.
    var isSecure: Bool {
        if case .endpoint(.answer, _) = trouble { false } else { true }
    }

    func expectation(in situation: Situation) -> Expectation {
        switch situation {
        case .first: first
        case .steady: steady
        case .restart: restart
        }
    }
}
