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
        let found = surroundings.program(named: "authctl")
        let folder = surroundings.program.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
        guard let found else {
            return .note(
                .path,
                "programs do not find authctl: '\(folder)' is not in PATH",
                advice: "export PATH=\"\(folder):$PATH\" in ~/.profile, and log in anew"
            )
        }
        return .ok(.path, "programs find '\(found)'")
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
