/// The exit statuses of our programs. If sysexits has a number for the cause, that is used.
package enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    /// A credential helper has no answer: docker's has explained it on standard output, `keyring` has no account.
    case helperFailed = 1
    /// A person is needed: the grant has ended, or the authorization server requires the user.
    case interactionRequired = 3
    case noSuchAccount = 4
    /// The account holds no grant.
    case signedOut = 5
    case usage = 64
    /// Data from a file, from standard input or from the daemon cannot be used.
    case badData = 65
    /// Nobody answers: the daemon, the session bus, the desktop's portal, a socket to listen on.
    case unavailable = 69
    /// The operating system refuses what the daemon needs. `authctl` never has it.
    case systemFailed = 71
    case tryAgainLater = 75
    case notPermitted = 77
    case misconfigured = 78
    /// The command of `authctl exec` cannot be started, or does not exist. The numbers are the shell's.
    case cannotRunCommand = 126
    case commandNotFound = 127
    /// The user cancelled; the shell's number for SIGINT.
    case cancelled = 130

    /// Orders the results of several accounts: what a person must do comes before what passes by itself.
    private var urgency: Int {
        switch self {
        case .success: 0
        case .tryAgainLater: 1
        case .signedOut: 2
        case .noSuchAccount: 3
        case .misconfigured: 4
        case .interactionRequired: 5
        case .notPermitted, .badData, .usage, .cannotRunCommand, .commandNotFound, .helperFailed: 6
        case .unavailable, .systemFailed, .cancelled: 7
        }
    }

    /// The more urgent of two results.
    package static func worst(_ first: ExitStatus, _ second: ExitStatus) -> ExitStatus {
        second.urgency > first.urgency ? second : first
    }
}
