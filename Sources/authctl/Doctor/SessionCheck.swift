internal import AuthRefreshInterface

/// Looks at what this shell gives its programs: who they are, what variables say, which `authctl` they find.
struct SessionCheck {
    let surroundings: Surroundings
    /// Whether the user named a socket: what only serves to find it is no concern then.
    let isSocketNamed: Bool

    var findings: [Finding] {
        [identity, runtimeFolder, socketVariable, path].compactMap(\.self)
    }

    /// Nil if there is nothing to say.
    private var identity: Finding? {
        guard surroundings.user == 0, let name = surroundings.environment("SUDO_USER"), name != "root" else {
            return nil
        }
        return .warning(
            .environment,
            "this is root by sudo: root has a daemon of its own, and sees no account of '\(name)'",
            needs: .repair,
            advice: "run it without sudo"
        )
    }

    private var runtimeFolder: Finding? {
        guard !isSocketNamed else { return nil }
        let own = "/run/user/\(surroundings.user)"
        guard let folder = surroundings.environment("XDG_RUNTIME_DIR") else {
            guard surroundings.file(own) == nil else {
                return .note(.environment, "XDG_RUNTIME_DIR is not set, as in cron and su; '\(own)' is taken")
            }
            return .error(
                .environment,
                "XDG_RUNTIME_DIR is not set, and there is no '\(own)': no session and no user manager runs",
                needs: .start,
                advice: "log in, or have the user manager run without a session: loginctl enable-linger"
            )
        }
        guard let file = surroundings.file(folder) else {
            return .error(
                .environment,
                "XDG_RUNTIME_DIR names '\(folder)', which is not there",
                needs: .repair,
                advice: "unset it, or log in anew"
            )
        }
        guard file.owner == surroundings.user else {
            return .error(
                .environment,
                "XDG_RUNTIME_DIR names '\(folder)', which belongs to another user (uid \(file.owner)), as after su",
                needs: .repair,
                advice: "use a login shell of your own: machinectl shell, ssh, or su -l; or unset XDG_RUNTIME_DIR"
            )
        }
        return .ok(.environment, "XDG_RUNTIME_DIR is your own")
    }

    private var socketVariable: Finding? {
        surroundings.environment("AUTHREFRESH_SOCKET").map { path in
            .note(.environment, "AUTHREFRESH_SOCKET names another socket: '\(path)'")
        }
    }

    private var path: Finding {
        guard let found = surroundings.program(named: "authctl") else {
            let folder = surroundings.programFolder
            return .note(
                .path,
                "programs do not find authctl: '\(folder)' is not in PATH",
                advice: "export PATH=\"\(folder):$PATH\" in ~/.profile, and log in anew"
            )
        }
        let own = surroundings.file(surroundings.program)?.identity
        guard own != surroundings.file(found)?.identity else { return .ok(.path, "programs find '\(found)'") }
        // As systemd/install tells ours from others: the name of our interface is in every program of ours.
        guard surroundings.run(["grep", "-qsF", Interface.name, found]).end != .exited(1) else {
            return .note(
                .path,
                "programs find '\(found)', which is another project's authctl",
                advice: "use the name authrefreshctl for this one, '\(surroundings.program)'"
            )
        }
        return .note(
            .path,
            "programs find '\(found)', of another installation than this one, '\(surroundings.program)'"
        )
    }

    /// Nil if nobody says: there is no systemd, or it does not answer.
    var clock: Finding? {
        let answer = surroundings.run(["timedatectl", "show", "--property=NTPSynchronized", "--value"])
        return switch answer.text {
        case "yes\n": .ok(.clock, "the clock is synchronised")
        case "no\n": .note(.clock, "the clock is not synchronised by NTP", advice: "timedatectl set-ntp true")
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
            return .error(
                .socket,
                "the socket's folder belongs to another user (uid \(file.owner)): who listens in it is not known",
                of: folder,
                needs: .repair,
                advice: "remove the folder, then: systemctl --user restart authrefreshd.socket"
            )
        }
        guard file.mode & 0o077 != 0 else { return nil }
        return .warning(
            .socket,
            "the socket's folder is open to other users (mode 0\(String(file.mode, radix: 8)))",
            of: folder,
            needs: .repair,
            advice: "chmod 700 '\(folder)'"
        )
    }

    private var socketFinding: Finding {
        // sockaddr_un holds 107 bytes and a NUL (unix(7)).
        guard path.utf8.count <= 107 else {
            return .error(
                .socket,
                "the path is longer than 107 bytes",
                of: path,
                needs: .repair,
                advice: "name a shorter one"
            )
        }
        guard let file = surroundings.file(path) else {
            return .error(
                .socket,
                "there is no socket",
                of: path,
                needs: .start,
                advice: "systemctl --user enable --now authrefreshd.socket; not installed yet: systemd/install"
            )
        }
        guard file.kind == .socket else {
            return .error(
                .socket,
                "this is no socket",
                of: path,
                needs: .repair,
                advice: "name the daemon's socket, or remove it"
            )
        }
        guard file.owner == surroundings.user else {
            return .error(
                .socket,
                "it belongs to another user (uid \(file.owner)), whom alone it serves",
                of: path,
                needs: .permission,
                advice: "check --socket and AUTHREFRESH_SOCKET"
            )
        }
        guard file.mode & 0o077 == 0 else {
            let mode = String(file.mode, radix: 8)
            return .note(.socket, "its mode is 0\(mode); the daemon turns other users away all the same", of: path)
        }
        return .ok(.socket, "it is there, and yours alone", of: path)
    }
}
