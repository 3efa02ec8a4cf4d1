internal import AuthRefreshInterface

/// Looks at what this shell gives its programs: who they are, what variables say, which `authctl` they find.
struct SessionCheck {
    let surroundings: Surroundings
    /// Whether the user named a socket: what only serves to find it is no concern then.
    let isSocketNamed: Bool

    var findings: [Finding] {
        [identity, runtimeFolder, socketVariable, path, managerPath].compactMap(\.self)
    }

    /// Nil if there is nothing to say.
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
        // Ubuntu's authd has a program of this name, and there may be two installations.
        guard surroundings.target(found) == surroundings.program else {
            // As systemd/install tells ours from others: the name of our interface is in every program of ours.
            guard surroundings.run(["grep", "-qsF", Interface.name, found]).end != .exited(1) else {
                return PathFinding.otherProject(found: found, own: surroundings.program).finding
            }
            return PathFinding.otherInstallation(found: found, own: surroundings.program, folder: folder).finding
        }
        return PathFinding.found(by: .shell, found).finding
    }

    /// What units of the user's find, whose PATH is not the shell's. Nil if nobody says: there is no systemd, or it does not answer.
    private var managerPath: Finding? {
        let answer = surroundings.run(["systemctl", "--user", "show-environment"])
        guard answer.end == .exited(0),
            let line = answer.text.split(separator: "\n").first(where: { $0.hasPrefix("PATH=") })
        else { return nil }
        // systemctl quotes for a shell what has other characters in it.
        let path = line.dropFirst(5).drop { "$'".contains($0) }.prefix { $0 != "'" }
        guard let found = surroundings.program(named: "authctl", in: String(path)) else {
            return PathFinding.unitsFindNone(path: String(path), own: surroundings.program, folder: folder).finding
        }
        guard surroundings.target(found) == surroundings.program else {
            return PathFinding.unitsFindOther(found: found, own: surroundings.program).finding
        }
        return PathFinding.found(by: .units, found).finding
    }

    /// Nil if nobody says: there is no systemd, or it does not answer.
    var clock: Finding? {
        let answer = surroundings.run(["timedatectl", "show", "--property=NTPSynchronized", "--value"])
        return switch answer.text {
        case "yes\n": SessionFinding.clockSynchronised.finding
        case "no\n": SessionFinding.clockNotSynchronised.finding
        default: nil
        }
    }
}

/// Looks at the socket's file and its folder.
struct SocketCheck {
    let surroundings: Surroundings
    let path: String

    var findings: [Finding] {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return [folderFinding(folder), socketFinding].compactMap(\.self)
    }

    /// Nil if there is nothing to say.
    private func folderFinding(_ folder: String) -> Finding? {
        // A socket in /tmp or in the present folder is somebody's experiment; what counts is the socket itself.
        guard folder.hasSuffix("/authrefreshd"), let file = surroundings.file(folder) else { return nil }
        guard file.owner == surroundings.user else {
            return SocketFinding.folderOfOther(folder, owner: file.owner).finding(at: path)
        }
        guard file.mode & 0o077 != 0 else { return nil }
        return SocketFinding.folderOpen(folder, mode: String(file.mode, radix: 8)).finding(at: path)
    }

    private var socketFinding: Finding { kind.finding(at: path) }

    private var kind: SocketFinding {
        // sockaddr_un holds 107 bytes and a NUL (unix(7)).
        guard path.utf8.count <= 107 else { return .tooLong }
        guard let file = surroundings.file(path) else { return .missing }
        guard file.kind == .socket else { return .notASocket }
        guard file.owner == surroundings.user else { return .ofOther(owner: file.owner) }
        return file.mode & 0o077 == 0 ? .well : .open(mode: String(file.mode, radix: 8))
    }
}
