internal import AuthRefreshInterface

/// Checks the environment of this shell: the user, the variables, and which `authctl` it finds.
struct SessionCheck {
    let surroundings: Surroundings
    /// Whether the user named a socket. Then what only helps to find it does not matter.
    let isSocketNamed: Bool

    var findings: [Finding] {
        [identity, runtimeFolder, socketVariable, path, managerPath].compactMap(\.self)
    }

    /// The finding about the user; nil if nothing is wrong.
    private var identity: Finding? {
        guard surroundings.user == 0, let name = surroundings.environment("SUDO_USER"), name != "root" else {
            return nil
        }
        return SessionFinding.rootBySudo(user: name).finding
    }

    private var runtimeFolder: Finding? {
        guard !isSocketNamed else { return nil }
        let own = "/run/user/\(surroundings.user)"
        guard let folder = surroundings.environment("XDG_RUNTIME_DIR") else {
            guard surroundings.file(own) == nil else {
                return SessionFinding.runtimeFolderGuessed(own).finding
            }
            return SessionFinding.noRuntimeFolder(own).finding
        }
        guard let file = surroundings.file(folder) else { return SessionFinding.runtimeFolderMissing(folder).finding }
        guard file.owner == surroundings.user else {
            return SessionFinding.runtimeFolderOfOther(folder, owner: file.owner).finding
        }
        return SessionFinding.runtimeFolder.finding
    }

    private var socketVariable: Finding? {
        surroundings.environment("AUTHREFRESH_SOCKET").map { SessionFinding.socketVariable(path: $0).finding }
    }

    private var folder: String { surroundings.programFolder }

    private var path: Finding {
        guard let found = surroundings.program(named: "authctl") else {
            return PathFinding.notFound(folder: folder).finding
        }
        // Ubuntu's authd has a program of the same name, and there may be two installations.
        guard surroundings.target(found) == surroundings.program else {
            // The same test as in systemd/install: each of our programs contains the name of our interface.
            guard surroundings.run(["grep", "-qsF", Interface.name, found]).end != .exited(1) else {
                return PathFinding.otherProject(found: found, own: surroundings.program).finding
            }
            return PathFinding.otherInstallation(found: found, own: surroundings.program, folder: folder).finding
        }
        return PathFinding.found(by: .shell, found).finding
    }

    /// Checks the PATH of the user's units, which differs from the shell's; nil if there is no systemd, or if it does
    /// not answer.
    private var managerPath: Finding? {
        let answer = surroundings.run(["systemctl", "--user", "show-environment"])
        guard answer.end == .exited(0),
            let line = answer.text.split(separator: "\n").first(where: { $0.hasPrefix("PATH=") })
        else { return nil }
        // systemctl quotes values with special characters for a shell.
        let path = line.dropFirst(5).drop { "$'".contains($0) }.prefix { $0 != "'" }
        guard let found = surroundings.program(named: "authctl", in: String(path)) else {
            return PathFinding.unitsFindNone(path: String(path), own: surroundings.program, folder: folder).finding
        }
        guard surroundings.target(found) == surroundings.program else {
            return PathFinding.unitsFindOther(found: found, own: surroundings.program).finding
        }
        return PathFinding.found(by: .units, found).finding
    }

    /// Checks the clock; nil if there is no systemd, or if it does not answer.
    var clock: Finding? {
        let answer = surroundings.run(["timedatectl", "show", "--property=NTPSynchronized", "--value"])
        return switch answer.text {
        case "yes\n": SessionFinding.clockSynchronised.finding
        case "no\n": SessionFinding.clockNotSynchronised.finding
        default: nil
        }
    }
}

/// Checks the socket's file and its folder.
struct SocketCheck {
    let surroundings: Surroundings
    let path: String

    var findings: [Finding] {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return [folderFinding(folder), socketFinding].compactMap(\.self)
    }

    /// The finding about the folder; nil if nothing is wrong.
    private func folderFinding(_ folder: String) -> Finding? {
        // A socket in /tmp or in the current folder is an experiment. Then only the socket itself is checked.
        guard folder.hasSuffix("/authrefreshd"), let file = surroundings.file(folder) else { return nil }
        guard file.owner == surroundings.user else {
            return SocketFinding.folderOfOther(folder, owner: file.owner).finding(at: path)
        }
        guard file.mode & 0o077 != 0 else { return nil }
        return SocketFinding.folderOpen(folder, mode: String(file.mode, radix: 8)).finding(at: path)
    }

    private var socketFinding: Finding { kind.finding(at: path) }

    private var kind: SocketFinding {
        // sockaddr_un has room for 107 bytes and a NUL (unix(7)).
        guard path.utf8.count <= 107 else { return .tooLong }
        guard let file = surroundings.file(path) else { return .missing }
        guard file.kind == .socket else { return .notASocket }
        guard file.owner == surroundings.user else { return .ofOther(owner: file.owner) }
        return file.mode & 0o077 == 0 ? .well : .open(mode: String(file.mode, radix: 8))
    }
}
