internal import Systemd
internal import VarlinkClient

/// Why the agent cannot work. Without a bus it ends; without a daemon it waits.
enum AgentError: Error {
    case usage
    case noDaemon(VarlinkClientError)
    /// The daemon refuses the subscription.
    case refused(name: String)
    /// The daemon's answer does not follow the interface.
    case unreadable
    case noBus(SystemdError)
    /// The session bus has no portal for opening addresses.
    case noPortal
    /// The person closed the portal's dialog.
    case portalCancelled
    /// The portal opened nothing, and does not say why.
    case portalFailed
    /// There is no address on standard input.
    case noAddress

    /// The exit status from sysexits: 64 wrong arguments, 65 bad data, 69 nobody answers, 78 no portal, 130 cancelled.
    var status: Int32 {
        switch self {
        case .usage: 64
        case .unreadable, .noAddress: 65
        case .noDaemon, .refused, .noBus, .portalFailed: 69
        case .noPortal: 78
        case .portalCancelled: 130
        }
    }

    /// The error text: lower case, no full stop.
    var message: String {
        switch self {
        case .usage: "usage: authagent [--socket PATH] | --open [PARENT-WINDOW]"
        case .noDaemon(let error): "the daemon does not answer: \(error)"
        case .refused(let name): "the daemon refuses: \(name)"
        case .unreadable: "the daemon's answer cannot be understood"
        case .noBus(let error): "there is no session bus: \(error)"
        case .noPortal: "the session bus has no portal that opens addresses"
        case .portalCancelled: "the portal's dialog was closed"
        case .portalFailed: "the portal did not open the address"
        case .noAddress: "standard input holds no address"
        }
    }
}
