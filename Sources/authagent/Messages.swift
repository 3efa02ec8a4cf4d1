internal import Glibc
internal import Systemd
internal import VarlinkClient

// All texts of this program: its errors, its log lines, and its notifications.

/// Why the agent cannot do its work. Without a session bus it ends; if the daemon does not answer, it keeps trying.
enum AgentError: Error, Equatable {
    case usage
    case noDaemon(VarlinkClientError)
    /// The daemon refuses the subscription.
    case refused(name: String)
    /// The daemon's answer is not what the interface says.
    case unreadable
    case noBus(SystemdError)
    /// The session bus has no portal that opens addresses.
    case noPortal
    /// The person closed the portal's dialog.
    case portalCancelled
    /// The portal opened nothing, for a reason that it does not tell.
    case portalFailed
    /// Standard input contains no address.
    case noAddress

    /// As sysexits has it: 64 wrong arguments, 65 bad data, 69 nobody answers, 78 no portal, 130 cancelled.
    var status: Int32 {
        switch self {
        case .usage: 64
        case .unreadable, .noAddress: 65
        case .noDaemon, .refused, .noBus, .portalFailed: 69
        case .noPortal: 78
        case .portalCancelled: 130
        }
    }

    /// What failed, on what, and why. Lower case, no full stop.
    var message: String {
        switch self {
        case .usage: "wrong arguments"
        case .noDaemon(let error): "the daemon does not answer: \(error.reason)"
        case .refused(let name): "the daemon refuses the subscription with the error '\(name)'"
        case .unreadable: "the daemon's answer is not one that this version understands"
        case .noBus(let error): "the session bus does not answer: \(error)"
        case .noPortal: "the session bus has no desktop portal that opens addresses"
        case .portalCancelled: "the portal's dialog was closed"
        case .portalFailed: "the desktop portal did not open the address"
        case .noAddress: "standard input has no line with an http or https address"
        }
    }

    /// What to do, with the command; nil where the person has just decided.
    var hint: String? {
        switch self {
        case .usage: "authagent [--socket PATH], or authagent --open [PARENT-WINDOW]"
        case .noDaemon: "systemctl --user status authrefreshd"
        case .refused, .unreadable:
            "the programs may be of different versions: systemctl --user restart authrefreshd authrefresh-agent"
        case .noBus: "start it in a desktop session: systemctl --user start authrefresh-agent"
        case .noPortal: "install the portal of your desktop, for instance: sudo apt install xdg-desktop-portal-gtk"
        case .portalCancelled: nil
        case .portalFailed: "'journalctl --user -t xdg-desktop-portal' may say why"
        case .noAddress: "pass the address on one line: echo https://example.org | authagent --open"
        }
    }
}

/// What the agent logs while it works. The service manager takes it to the journal.
enum AgentNote: Equatable {
    /// The daemon does not answer, and did not at once after a restart.
    case retrying(AgentError)
    /// The person has answered a question, and the daemon could not be told.
    case answerNotDelivered(AgentError)

    /// Lower case, no full stop.
    var message: String {
        switch self {
        case .retrying(let error): "\(error.message); retrying at growing intervals of up to 5 minutes"
        case .answerNotDelivered(let error):
            "your answer did not reach the daemon, so the program gets nothing: \(error.message)"
        }
    }
}

/// What notifications say. Names in them are cleaned by the caller.
enum NotificationWords {
    static let signIn = "Sign in"
    static let allowOnce = "Allow once"
    static let allowForAnHour = "Allow for an hour"
    static let deny = "Deny"
    /// Why a click on "Sign in" did nothing.
    static let noAuthctl = "The sign-in did not start: authctl is missing, or cannot run."

    static func signInSummary(_ account: String) -> String { "Sign in to \(account)" }

    /// - Parameter reason: the daemon's words; nil if it gives none.
    static func signInBody(server: String, reason: String?) -> String {
        "\(server) wants you to sign in again" + (reason.map { ": \($0)" } ?? "")
    }

    static let parkedSummary = "Accounts are parked"
    static let parkedBody =
        "They came with a store from another machine. Two machines must not use the same grants."
        + " If the other one no longer uses them, run: authctl account resume --all"

    /// - Parameter host: the machine on which the program runs; nil for this one.
    static func tokenQuestion(_ account: String, host: String?) -> (summary: String, body: String) {
        let (place, others) = host.map { (" on \($0)", "all programs there") } ?? ("", "all programs of your session")
        return (
            "Give a program\(place) a token of \(account)?",
            "A program\(place) asks for this account's token. \"\(allowForAnHour)\" opens the account's tokens to "
                + "\(others) for an hour."
        )
    }

    static func exportQuestion(_ account: String) -> (summary: String, body: String) {
        (
            "Give a program the grant of \(account)?",
            "A program asks for this account's refresh token and secrets. With them, it gets tokens without the daemon."
        )
    }

    /// - Parameter fields: the fields that would change, in words.
    static func changeQuestion(_ account: String, _ fields: [String]) -> (summary: String, body: String) {
        ("Change the account \(account)?", "A program asks to change: \(fields.joined(separator: ", ")).")
    }

    static func removalQuestion(_ account: String) -> (summary: String, body: String) {
        ("Remove the account \(account)?", "A program asks to remove this account and its tokens.")
    }

    /// - Parameter derived: the name of the new account.
    static func derivationQuestion(_ account: String, of derived: String) -> (summary: String, body: String) {
        (
            "Derive \(derived) from \(account)?",
            "A program asks to set up the account \(derived). It gets its tokens with those of \(account), and nobody "
                + "asks you again."
        )
    }
}

extension VarlinkClientError {
    /// Why the daemon could not be asked. Lower case, no full stop.
    fileprivate var reason: String {
        switch self {
        case .notRunning(let path, let number), .cannotConnect(let path, let number):
            "cannot connect to '\(path)': \(Self.text(number))"
        case .permissionDenied(let path): "this user may not open the socket '\(path)'"
        case .unusablePath(let path): "'\(path)' is not the path of a socket"
        case .otherUser(let path, let uid): "the socket '\(path)' belongs to another user (uid \(uid))"
        case .pathTooLong(let path, let limit):
            "the path '\(path)' is longer than the \(limit) bytes of a socket's path"
        case .timedOut: "no reply came in time"
        case .connectionClosed: "it closed the connection"
        case .malformedReply: "its reply is not Varlink"
        case .replyTooLarge(let limit): "its reply is longer than \(limit) bytes"
        }
    }

    private static func text(_ number: Int32) -> String {
        let text = unsafe String(cString: strerror(number))
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
