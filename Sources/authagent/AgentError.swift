internal import Systemd

/// Why the agent cannot do its work. Without a session bus it ends; if the daemon does not answer, it keeps trying.
struct AgentError: Error, Equatable {
    /// As sysexits has it: 64 wrong arguments, 65 bad data, 69 nobody answers, 78 no portal, 130 cancelled.
    let status: Int32
    /// What failed, on what, and why. Lower case, no full stop.
    let message: String
    /// What to do, with the command; nil where the person has just decided.
    let hint: String?

    static func noBus(_ error: SystemdError) -> AgentError {
        AgentError(
            status: 69,
            message: "the session bus does not answer: \(error)",
            hint: "start it in a desktop session: systemctl --user start authrefresh-agent"
        )
    }
}
