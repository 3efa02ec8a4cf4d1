internal import AuthRefreshInterface

/// What `authctl doctor` finds of the socket's file and its folder.
enum SocketFinding: Hashable, Sendable {
    case folderOfOther(String, owner: UInt32)
    /// `mode` has octal digits.
    case folderOpen(String, mode: String)
    case tooLong
    case missing
    case notASocket
    case ofOther(owner: UInt32)
    case open(mode: String)
    case well

    /// The finding, in the words of `authctl doctor`.
    ///
    /// - Parameter path: the socket's.
    func finding(at path: String) -> Finding {
        switch self {
        case .folderOfOther(let folder, let owner):
            .error(
                .socket,
                "the socket's folder belongs to another user (uid \(owner)), who may be the one that listens there",
                of: folder,
                needs: .repair,
                advice: "remove the folder, then: systemctl --user restart authrefreshd.socket"
            )
        case .folderOpen(let folder, let mode):
            .warning(
                .socket,
                "the socket's folder is open to other users (mode 0\(mode))",
                of: folder,
                needs: .repair,
                advice: "chmod 700 '\(folder)'"
            )
        case .tooLong:
            .error(
                .socket,
                "the path is longer than 107 bytes",
                of: path,
                needs: .repair,
                advice: "choose a shorter path"
            )
        case .missing:
            .error(
                .socket,
                "there is no socket",
                of: path,
                needs: .start,
                advice: "systemctl --user enable --now authrefreshd.socket; not installed yet: systemd/install"
            )
        case .notASocket:
            .error(
                .socket,
                "it is not a socket",
                of: path,
                needs: .repair,
                advice: "name the daemon's socket, or remove it"
            )
        case .ofOther(let owner):
            .error(
                .socket,
                "it belongs to another user (uid \(owner)), and serves only that user",
                of: path,
                needs: .permission,
                advice: "check --socket and AUTHREFRESH_SOCKET"
            )
        case .open(let mode):
            .note(.socket, "its mode is 0\(mode), but the daemon still refuses other users", of: path)
        case .well: .ok(.socket, "it exists, and only you can use it", of: path)
        }
    }
}

/// What `authctl doctor` finds of the service manager.
enum ManagerFinding: Hashable, Sendable {
    case noSystemd
    /// Matters only while the daemon does not answer.
    case notAnswering(reason: String, isDaemonAnswering: Bool)
    case lingers
    /// `isServer`: the user comes by ssh, and what needs tokens is there all the time.
    case doesNotLinger(isServer: Bool)
    case lingerUnknown

    /// The finding, in the words of `authctl doctor`.
    var finding: Finding {
        switch self {
        case .noSystemd:
            return .note(.service, "there is no systemd here to start the daemon", advice: "authrefreshd &")
        case .notAnswering(let reason, let isDaemonAnswering):
            let text = "your service manager cannot be asked: \(reason)"
            let advice = "log in through a session (ssh, machinectl shell), or: loginctl enable-linger"
            return isDaemonAnswering
                ? .note(.service, text, advice: advice) : .error(.service, text, needs: .start, advice: advice)
        case .lingers: return .ok(.linger, "the daemon keeps running when you are not logged in")
        case .doesNotLinger(let isServer):
            let text = "the daemon stops when your last session ends"
            let advice = "to keep it running: loginctl enable-linger"
            return isServer
                ? .warning(.linger, text, needs: .repair, advice: advice) : .note(.linger, text, advice: advice)
        case .lingerUnknown: return .note(.linger, "not known: this user has no name here")
        }
    }
}

/// What `authctl doctor` finds of one unit. `state` is systemd's word: `active (running)`.
enum UnitFinding: Hashable, Sendable {
    case changedOnDisk
    case notEnabled
    case notInstalled(isDaemonAnswering: Bool)
    case masked
    case active(state: String, status: String)
    case restarted(state: String, status: String, count: Int)
    case failed(reason: String)
    case waiting(state: String)
    case inactive(state: String, isDaemonAnswering: Bool)
    case other(state: String)

    /// The finding, in the words of `authctl doctor`.
    ///
    /// - Parameter name: the unit's.
    func finding(of name: String) -> Finding {
        switch self {
        case .changedOnDisk:
            warning("its unit file has changed since systemd read it", name, "systemctl --user daemon-reload")
        case .notEnabled: warning("it is not started when you log in", name, "systemctl --user enable \(name)")
        case .notInstalled(true):
            .note(.service, "it is not installed: the daemon was started in another way", of: name)
        case .notInstalled(false): error("it is not installed", name, "run systemd/install")
        case .masked: error("it is masked", name, "systemctl --user unmask \(name)")
        case .active(let state, let status): .ok(.service, state + status, of: name)
        case .restarted(let state, let status, let count):
            .note(
                .service,
                "\(state), restarted \(count == 1 ? "once" : "\(count) times")\(status)",
                of: name,
                advice: "journalctl --user -u \(name)"
            )
        case .failed(let reason):
            error(
                "it has failed: \(reason)",
                name,
                "journalctl --user -u \(name) -n 20, then: systemctl --user restart \(name)"
            )
        case .waiting(let state): .ok(.service, "\(state): the socket starts it when a program asks", of: name)
        case .inactive(let state, true): .note(.service, "\(state): the daemon was started in another way", of: name)
        case .inactive(let state, false): error(state, name, "systemctl --user start \(name)")
        case .other(let state): .note(.service, state, of: name, advice: "systemctl --user status \(name)")
        }
    }

    private func warning(_ text: String, _ name: String, _ advice: String) -> Finding {
        .warning(.service, text, of: name, needs: .repair, advice: advice)
    }

    private func error(_ text: String, _ name: String, _ advice: String) -> Finding {
        .error(.service, text, of: name, needs: .start, advice: advice)
    }
}
