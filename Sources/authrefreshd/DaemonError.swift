internal import AccountStorage
internal import Systemd
internal import Varlink

/// Why the daemon cannot start.
enum DaemonError: Error {
    case noHome(variable: String)
    case configuration(ConfigurationError)
    case key(StoreKeyError)
    case store(StoreError)
    case socket(VarlinkServerError)
    case system(SystemdError)
    case tooManySockets(Int)
}

extension DaemonError: CustomStringConvertible {
    var description: String {
        switch self {
        case .noHome(let variable): "neither \(variable) nor an option says where the files are"
        case .configuration(let error): error.description
        case .key(let error): error.description
        case .store(let error): error.description
        case .socket(let error): "\(error)"
        case .system(let error): "\(error)"
        case .tooManySockets(let count): "systemd passed \(count) sockets, expected 1"
        }
    }

    /// What the user can do.
    var hint: String {
        switch self {
        case .noHome: "log in through systemd-logind, or name the folders: authrefreshd --state-dir DIR --socket PATH"
        case .configuration: "correct the file, then check it: authrefreshd --check"
        case .key(let error): error.hint
        case .store(let error): error.hint ?? "look at the folder named by --state-dir"
        case .socket(.alreadyListening), .socket(.folderBusy):
            "another authrefreshd may be running: systemctl --user status authrefreshd"
        case .socket: "name another path with --socket, or look at its folder's owner and mode"
        case .system: "look at the journal: journalctl --user -u authrefreshd"
        case .tooManySockets: "keep one ListenStream= in authrefreshd.socket"
        }
    }

    /// The exit status from sysexits(3), as in `authctl`. The unit file does not restart the daemon after 77 and 78.
    var exitStatus: Int32 {
        switch self {
        case .configuration, .noHome, .tooManySockets: 78
        case .key: 77
        case .store(let error):
            switch error {
            case .diskFull, .inputOutput: 75
            default: 78
            }
        case .socket(.notASocket), .socket(.pathTooLong), .socket(.notAListenSocket), .socket(.folderOpenToOthers): 78
        case .socket: 69
        case .system: 71
        }
    }
}
