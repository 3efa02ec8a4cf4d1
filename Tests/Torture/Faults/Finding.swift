/// The events in one cell of the table, and those that were not expected.
struct Finding: Sendable {
    let fault: String
    let situation: Situation
    /// The daemon's behaviour, in the words of `Expectation.Course`.
    var course = "-"
    /// The text in `authctl status`.
    var status = "-"
    /// How `authctl token` ended right after the failure, and after the old token had expired.
    var token = "-"
    /// Whether the access token from before the fault was still returned; nil if there was none, or it was replaced.
    var isOldTokenServed: Bool?
    /// The number of attempts of the daemon, the number of requests at the token endpoint, and the time in seconds.
    var attempts = "-"
    /// Seconds from the failure to the next attempt.
    var next = "-"
    /// How the account recovered.
    var recovery = "-"
    private(set) var surprises: [String] = []

    init(_ fault: String, _ situation: Situation) {
        self.fault = fault
        self.situation = situation
    }

    /// Records a surprise unless `holds`.
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
