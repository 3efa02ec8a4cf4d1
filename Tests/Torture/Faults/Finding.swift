/// What happened in one cell of the table, and what of it was not expected.
struct Finding: Sendable {
    let fault: String
    let situation: Situation
    /// What the daemon did, in the words of `Expectation.Course`.
    var course = "-"
    /// What `authctl status` says.
    var status = "-"
    /// How `authctl token` ended right after the failure, and when the old token had ended.
    var token = "-"
    /// Whether the access token from before the fault was still given; nil if there was none, or it was replaced.
    var isOldTokenServed: Bool?
    /// Attempts of the daemon, requests that reached the token endpoint, and in how many seconds.
    var attempts = "-"
    /// Seconds from the failure to the next attempt.
    var next = "-"
    /// How the account came back.
    var recovery = "-"
    private(set) var surprises: [String] = []

    init(_ fault: String, _ situation: Situation) {
        self.fault = fault
        self.situation = situation
    }

    /// Notes a surprise unless `holds`.
    mutating func expect(_ holds: Bool, _ surprise: @autoclosure () -> String) {
        if !holds { surprises.append(surprise()) }
    }

    static let header = [
        "fault", "when", "the daemon", "`authctl status` says", "`authctl token`", "old token served", "asked", "next",
        "after the fault",
    ]

    var cells: [String] {
        let served = isOldTokenServed.map { $0 ? "yes" : "NO" } ?? "-"
        return [fault, situation.rawValue, course, status, token, served, attempts, next, recovery]
    }
}
