/// Why the daemon does not start, why it ends, or why a backup is not restored: what it prints, and its exit status.
struct DaemonError: Error, Hashable, CustomStringConvertible {
    /// From sysexits(3), as in `authctl`. The unit file does not restart the daemon after 77 and 78.
    enum ExitStatus: Int32 {
        case unavailable = 69
        case system = 71
        case tryAgainLater = 75
        case notPermitted = 77
        case misconfigured = 78
    }

    let exitStatus: ExitStatus
    /// What failed, on what, and why. Lower case, no full stop.
    let description: String
    /// What to do about it, with the command where there is one.
    let hint: String

    init(_ exitStatus: ExitStatus, _ description: String, hint: String) {
        self.exitStatus = exitStatus
        self.description = description
        self.hint = hint
    }
}

extension DaemonError {
    /// The configuration or a provider profile cannot be used.
    static func configuration(_ description: String) -> DaemonError {
        DaemonError(.misconfigured, description, hint: "correct the file, then check it: authrefreshd --check")
    }
}
