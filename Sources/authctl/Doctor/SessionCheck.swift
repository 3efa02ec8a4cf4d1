internal import AuthRefreshInterface
internal import Basics

/// Checks the environment of this shell: the user, the variables, and which `authctl` it finds.
extension Surroundings {
    /// - Parameter isSocketNamed: whether the user named a socket. Then what only helps to find it does not matter.
    func sessionFindings(isSocketNamed: Bool) -> [Finding] {
        [
            userFinding, isSocketNamed ? nil : runtimeFolderFinding, socketVariableFinding, pathFinding,
            managerPathFinding,
        ].compactMap(\.self)
    }

    /// The finding about the user; nil if nothing is wrong.
    private var userFinding: Finding? {
        guard user == 0, let name = environment("SUDO_USER"), name != "root" else {
            return nil
        }
        return .warning(
            .environment,
            "you are root by sudo: root has its own daemon, and does not see the accounts of '\(name)'",
            needs: .repair,
            advice: "run it without sudo"
        )
    }

    private var runtimeFolderFinding: Finding {
        guard let folder = environment("XDG_RUNTIME_DIR") else { return unsetRuntimeFolderFinding }
        guard let file = file(folder) else {
            return .error(
                .environment,
                "XDG_RUNTIME_DIR names '\(folder)', which does not exist",
                needs: .repair,
                advice: "unset it, or log in again"
            )
        }
        guard file.owner == user else {
            return .error(
                .environment,
                "XDG_RUNTIME_DIR names '\(folder)', which belongs to another user (uid \(file.owner)), as after su",
                needs: .repair,
                advice: "use a login shell of your own: machinectl shell, ssh, or su -l; or unset XDG_RUNTIME_DIR"
            )
        }
        return .ok(.environment, "XDG_RUNTIME_DIR is your own")
    }

    private var unsetRuntimeFolderFinding: Finding {
        let own = usualRuntimeFolder
        guard !hasRuntimeFolder else {
            return .note(.environment, "XDG_RUNTIME_DIR is not set, as in cron and su; authctl uses '\(own)'")
        }
        return .error(
            .environment,
            "XDG_RUNTIME_DIR is not set, and '\(own)' does not exist: you have no session and no user manager",
            needs: .start,
            advice:
                "log in, or keep a user manager running without a session: \(Command(program: "loginctl", "enable-linger"))"
        )
    }

    private var socketVariableFinding: Finding? {
        environment("AUTHREFRESH_SOCKET")
            .map { .note(.environment, "AUTHREFRESH_SOCKET names another socket: '\($0)'") }
    }

    private var pathFinding: Finding {
        let (own, folder) = (program, programFolder)
        guard let found = program(named: "authctl") else {
            return .note(
                .path,
                "programs do not find authctl: '\(folder)' is not in PATH",
                advice: "\(Command(verbatim: "export PATH=\"\(folder):$PATH\"")) in ~/.profile, and log in again"
            )
        }
        guard target(found) != own else { return .ok(.path, "a shell finds '\(found)'") }
        // Ubuntu's authd has a program of the same name, and there may be two installations. The same test as in
        // systemd/install: each of our programs contains the name of our interface.
        guard run(["grep", "-qsF", Interface.name, found]).end != .exited(1) else {
            return .note(
                .path,
                "a shell finds '\(found)', which is another project's authctl",
                advice: "use the name authrefreshctl for this one, '\(own)'"
            )
        }
        return .warning(
            .path,
            "a shell finds another authctl, '\(found)'; this one is '\(own)'",
            needs: .repair,
            advice: "call this one by its path, or put '\(folder)' first in PATH"
        )
    }

    /// Checks the PATH of the user's units, which differs from the shell's; nil if there is no systemd, or if it does
    /// not answer.
    private var managerPathFinding: Finding? {
        let answer = run(systemctl + ["show-environment"])
        guard answer.end == .exited(0),
            let line = answer.text.split(separator: "\n").first(where: { $0.hasPrefix("PATH=") })
        else { return nil }
        // systemctl quotes values with special characters for a shell.
        let path = line.dropFirst(5).drop { "$'".contains($0) }.prefix { $0 != "'" }
        let own = program
        guard let found = program(named: "authctl", in: String(path)) else {
            return .note(
                .path,
                "your units do not find authctl: the service manager's PATH is '\(path)'",
                advice: "name '\(own)' in them; or write PATH=\(programFolder):$PATH to"
                    + " ~/.config/environment.d/60-authctl.conf, and log in again"
            )
        }
        guard target(found) == own else {
            return .warning(
                .path,
                "your units find another authctl, '\(found)'",
                needs: .repair,
                advice: "name '\(own)' in them"
            )
        }
        return .ok(.path, "your units find '\(found)'")
    }

    /// Checks the clock; nil if there is no systemd, or if it does not answer.
    var clockFinding: Finding? {
        let answer = run(["timedatectl", "show", "--property=NTPSynchronized", "--value"])
        return switch answer.text {
        case "yes\n": .ok(.clock, "the clock is synchronised")
        case "no\n":
            .note(
                .clock,
                "the clock is not synchronised by NTP",
                advice: Hint(Command(program: "timedatectl", "set-ntp", "true"))
            )
        default: nil
        }
    }
}

/// Checks the socket's file and its folder.
extension Surroundings {
    func socketFindings(at path: String) -> [Finding] {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return [socketFolderFinding(folder), socketFinding(path)].compactMap(\.self)
    }

    /// The finding about the folder; nil if nothing is wrong.
    private func socketFolderFinding(_ folder: String) -> Finding? {
        // A socket in /tmp or in the current folder is an experiment. Then only the socket itself is checked.
        guard folder.hasSuffix("/authrefreshd"), let file = file(folder) else { return nil }
        guard file.owner == user else {
            return .error(
                .socket,
                "the socket's folder belongs to another user (uid \(file.owner)), who may be the one that listens there",
                of: folder,
                needs: .repair,
                advice:
                    "remove the folder, then: \(Command(program: "systemctl", "--user", "restart", "authrefreshd.socket"))"
            )
        }
        guard file.mode & 0o077 != 0 else { return nil }
        return .warning(
            .socket,
            "the socket's folder is open to other users (mode 0\(String(file.mode, radix: 8)))",
            of: folder,
            needs: .repair,
            advice: Hint(Command(program: "chmod", "700", path: folder))
        )
    }

    private func socketFinding(_ path: String) -> Finding {
        func error(_ text: String, needs need: Finding.Need, advice: Hint) -> Finding {
            .error(.socket, text, of: path, needs: need, advice: advice)
        }
        // sockaddr_un has room for 107 bytes and a NUL (unix(7)).
        guard path.utf8.count <= 107 else {
            return error("the path is longer than 107 bytes", needs: .repair, advice: "choose a shorter path")
        }
        guard let file = file(path) else {
            let enable = Hint(systemctl("enable", "--now", Self.socketUnit))
            return error(
                "there is no socket",
                needs: .start,
                advice: haveUnits ? enable : enable + "; " + installationHint
            )
        }
        guard file.kind == .socket else {
            return error("it is not a socket", needs: .repair, advice: "name the daemon's socket, or remove it")
        }
        guard file.owner == user else {
            return error(
                "it belongs to another user (uid \(file.owner)), and serves only that user",
                needs: .permission,
                advice: "check --socket and AUTHREFRESH_SOCKET"
            )
        }
        guard file.mode & 0o077 != 0 else { return .ok(.socket, "it exists, and only you can use it", of: path) }
        let mode = String(file.mode, radix: 8)
        return .note(.socket, "its mode is 0\(mode), but the daemon still refuses other users", of: path)
    }
}
