internal import AuthRefreshInterface
internal import TextEncodings

/// What `authctl doctor` finds in the shell that it was called from.
enum SessionFinding: Hashable, Sendable {
    /// `user` is who called sudo.
    case rootBySudo(user: String)
    case runtimeFolder
    case runtimeFolderGuessed(String)
    case noRuntimeFolder(String)
    case runtimeFolderMissing(String)
    case runtimeFolderOfOther(String, owner: UInt32)
    case socketVariable(path: String)

    case clockSynchronised
    case clockNotSynchronised

    case daemonAnswers(version: String, started: String)
    case versionsDiffer(daemon: String, authctl: String)

    /// The finding, in the words of `authctl doctor`.
    var finding: Finding {
        switch self {
        case .rootBySudo(let user):
            .warning(
                .environment,
                "you are root by sudo: root has its own daemon, and does not see the accounts of '\(user)'",
                needs: .repair,
                advice: "run it without sudo"
            )
        case .runtimeFolder: .ok(.environment, "XDG_RUNTIME_DIR is your own")
        case .runtimeFolderGuessed(let folder):
            .note(.environment, "XDG_RUNTIME_DIR is not set, as in cron and su; authctl uses '\(folder)'")
        case .noRuntimeFolder(let folder):
            .error(
                .environment,
                "XDG_RUNTIME_DIR is not set, and '\(folder)' does not exist: you have no session and no user manager",
                needs: .start,
                advice: "log in, or keep a user manager running without a session: loginctl enable-linger"
            )
        case .runtimeFolderMissing(let folder):
            .error(
                .environment,
                "XDG_RUNTIME_DIR names '\(folder)', which does not exist",
                needs: .repair,
                advice: "unset it, or log in again"
            )
        case .runtimeFolderOfOther(let folder, let owner):
            .error(
                .environment,
                "XDG_RUNTIME_DIR names '\(folder)', which belongs to another user (uid \(owner)), as after su",
                needs: .repair,
                advice: "use a login shell of your own: machinectl shell, ssh, or su -l; or unset XDG_RUNTIME_DIR"
            )
        case .socketVariable(let path): .note(.environment, "AUTHREFRESH_SOCKET names another socket: '\(path)'")
        case .clockSynchronised: .ok(.clock, "the clock is synchronised")
        case .clockNotSynchronised:
            .note(.clock, "the clock is not synchronised by NTP", advice: "timedatectl set-ntp true")
        case .daemonAnswers(let version, let started):
            .ok(.daemon, "it answers, version \(version), started \(started)")
        case .versionsDiffer(let daemon, let authctl):
            .warning(
                .version,
                "the daemon has version \(daemon), authctl has version \(authctl)",
                needs: .repair,
                advice: "systemctl --user restart authrefreshd"
            )
        }
    }
}

/// What `authctl doctor` finds where programs are looked for.
enum PathFinding: Hashable, Sendable {
    case found(by: Seeker, String)
    /// `folder` is where this program is.
    case notFound(folder: String)
    case otherProject(found: String, own: String)
    case otherInstallation(found: String, own: String, folder: String)

    case unitsFindNone(path: String, own: String, folder: String)
    case unitsFindOther(found: String, own: String)

    case noDaemonProgram(folder: String)
    case oneDaemonProgram(InstalledProgram)
    /// `started` is the one that the service starts; nil: not known.
    case severalDaemonPrograms([InstalledProgram], started: String?)

    /// Who looks for a program.
    enum Seeker: String, Hashable, Sendable {
        case shell = "a shell finds"
        case units = "your units find"
    }

    /// The finding, in the words of `authctl doctor`.
    var finding: Finding {
        switch self {
        case .found(let seeker, let path): .ok(.path, "\(seeker.rawValue) '\(path)'")
        case .notFound(let folder):
            .note(
                .path,
                "programs do not find authctl: '\(folder)' is not in PATH",
                advice: "export PATH=\"\(folder):$PATH\" in ~/.profile, and log in again"
            )
        case .otherProject(let found, let own):
            .note(
                .path,
                "a shell finds '\(found)', which is another project's authctl",
                advice: "use the name authrefreshctl for this one, '\(own)'"
            )
        case .otherInstallation(let found, let own, let folder):
            .warning(
                .path,
                "a shell finds another authctl, '\(found)'; this one is '\(own)'",
                needs: .repair,
                advice: "call this one by its path, or put '\(folder)' first in PATH"
            )
        case .unitsFindNone(let path, let own, let folder):
            .note(
                .path,
                "your units do not find authctl: the service manager's PATH is '\(path)'",
                advice: "name '\(own)' in them; or write PATH=\(folder):$PATH to"
                    + " ~/.config/environment.d/60-authctl.conf, and log in again"
            )
        case .unitsFindOther(let found, let own):
            .warning(
                .path,
                "your units find another authctl, '\(found)'",
                needs: .repair,
                advice: "name '\(own)' in them"
            )
        case .noDaemonProgram(let folder):
            .note(.installation, "there is no authrefreshd in '\(folder)', in PATH or in ~/.local/bin")
        case .oneDaemonProgram(let program): .ok(.installation, "\(program.shown) is installed")
        case .severalDaemonPrograms(let programs, let started):
            .note(
                .installation,
                "there are \(programs.count) installations: \(programs.map(\.shown).joined(separator: ", "))"
                    + (started.map { "; the service starts '\($0)'" } ?? ""),
                advice: (["keep one"] + programs.compactMap(\.removal)).joined(separator: "; ")
            )
        }
    }
}

/// A daemon's program in one of the places of installations.
struct InstalledProgram: Hashable, Sendable {
    let folder: String
    let name: String
    let version: String

    var path: String { "\(folder)/\(name)" }

    var shown: String { "'\(path)' (\(version))" }

    /// How to remove it; nil if neither the package nor `systemd/install` puts a program there.
    var removal: String? {
        let command: String
        if ["/usr/bin", "/bin"].contains(folder) {
            command = "apt remove authrefreshd"
        } else if folder.hasSuffix("/bin") {
            command = "systemd/uninstall --prefix \(ShellWord.quoted(String(folder.dropLast("/bin".count))))"
        } else {
            return nil
        }
        return "to remove '\(path)': \(command)"
    }
}
