internal import AccountStorage
internal import Systemd
internal import Varlink

/// Why the daemon does not start, or a backup is not restored.
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
    /// What failed, on what, and why. Lower case, no full stop.
    var description: String {
        switch self {
        case .noHome(let variable): "no folder for the daemon's files is known: '\(variable)' is not set"
        case .configuration(let error): error.description
        case .key(let error): error.description
        case .store(let error): error.description
        case .socket(let error): error.description
        case .system(let error): error.description
        case .tooManySockets(let count): "systemd passed \(count) sockets, but the daemon listens on one"
        }
    }

    /// What to do about it, with the command where there is one.
    var hint: String {
        switch self {
        case .noHome: "log in through systemd-logind, or name the folders: authrefreshd --state-dir DIR --socket PATH"
        case .configuration: "correct the file, then check it: authrefreshd --check"
        case .key(let error): error.hint
        case .store(let error): error.hint ?? "look at the folder named by --state-dir"
        case .socket(.alreadyListening), .socket(.folderBusy):
            "another authrefreshd may be running: systemctl --user status authrefreshd"
        case .socket: "name another path with --socket, or look at the owner and the mode of its folder"
        case .system: "look at the journal: journalctl --user -u authrefreshd"
        case .tooManySockets: "keep one ListenStream= in authrefreshd.socket: systemctl --user edit authrefreshd.socket"
        }
    }

    /// The exit status from sysexits(3), as in `authctl`. The unit file does not restart the daemon after 77 and 78.
    var exitStatus: Int32 {
        switch self {
        case .configuration, .noHome, .tooManySockets: 78
        case .key: 77
        case .store(let error):
            switch error {
            case .diskFull, .fileLimit, .inputOutput, .replaced: 75
            default: 78
            }
        case .socket(.notASocket), .socket(.pathTooLong), .socket(.notAListenSocket), .socket(.folderOpenToOthers): 78
        case .socket: 69
        case .system: 71
        }
    }
}

/// What the daemon prints on standard output before it ends.
enum DaemonAnswer {
    /// The answer to `--check`.
    static func checked(profiles: Int) -> String {
        "the configuration is valid, and so \(profiles == 1 ? "is 1 provider profile" : "are \(profiles) provider profiles")"
    }

    /// The answer to `--restore`, in up to four lines.
    static func restored(_ backup: String, _ outcome: StoreRestore.Outcome) -> String {
        let (accounts, newer) = (outcome.accounts, outcome.newerGrants)
        var lines = ["'\(backup)' is restored: \(accounts) \(accounts == 1 ? "account" : "accounts")"]
        if newer > 0 {
            lines.append("\(newer) of them \(newer == 1 ? "keeps its newer grant" : "keep their newer grants")")
        }
        let parked = outcome.parkedGrants
        if parked > 0 {
            lines.append(
                "\(parked) of them \(parked == 1 ? "is" : "are") parked, because the previous store no longer had"
                    + " \(parked == 1 ? "it" : "them"); if no other machine uses the grant: authctl account resume ACCOUNT"
            )
        }
        if let kept = outcome.kept { lines.append("the previous store is kept as '\(kept)'") }
        return lines.joined(separator: "\n")
    }
}
