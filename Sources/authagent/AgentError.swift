internal import Systemd
internal import VarlinkClient

/// Why the agent cannot work: without a bus it ends, for a daemon it waits.
enum AgentError: Error {
    case usage
    case noDaemon(VarlinkClientError)
    /// The daemon refuses the subscription.
    case refused(name: String)
    /// The daemon's answer is not what the interface says.
    case unreadable
    case noBus(SystemdError)

    /// As sysexits has it: 64 wrong arguments, 65 bad data, 69 nobody answers.
    var status: Int32 {
        switch self {
        case .usage: 64
        case .unreadable: 65
        case .noDaemon, .refused, .noBus: 69
        }
    }

    /// Lower case, no full stop.
    var message: String {
        switch self {
        case .usage: "usage: authagent [--socket PATH]"
        case .noDaemon(let error): "the daemon does not answer: \(error)"
        case .refused(let name): "the daemon refuses: \(name)"
        case .unreadable: "the daemon's answer cannot be understood"
        case .noBus(let error): "there is no session bus: \(error)"
        }
    }
}
