internal import AuthRefreshInterface
internal import Basics

/// The daemon's units as this process finds them, and how to reach the service manager that starts them.
extension Surroundings {
    static let socketUnit = "authrefreshd.socket"

    /// Whether the socket's unit exists: in one of the folders of systemd.unit(5), or wherever else the manager found it.
    var haveUnits: Bool {
        let system = ["/etc", "/run", "/usr/local/lib", "/usr/lib"]
        let folders = [settingsFolder].compactMap(\.self) + dataFolders + system
        if folders.contains(where: { file("\($0)/systemd/user/\(Self.socketUnit)") != nil }) { return true }
        let answer = run(systemctl + ["show", "--property=LoadState", "--value", Self.socketUnit])
        return answer.end == .exited(0) && ["loaded\n", "masked\n", "error\n", "bad-setting\n"].contains(answer.text)
    }

    /// How to install them. This `authctl` tells whether it is the package's, which always has them.
    var installationHint: Hint {
        isPackaged ? "the package is damaged: \(installer)" : "not installed yet: run \(installer)"
    }

    /// What to do if nothing answers at a socket.
    func socketHints(for path: String) -> [Hint] {
        let variable = environment("XDG_RUNTIME_DIR")
        let isUsual = path == SocketPath.inside(variable ?? usualRuntimeFolder)
        if isUsual, let hint = foreignRuntimeFolder { return [hint] }
        guard !isUsual || variable != nil || hasRuntimeFolder else {
            return [
                "you have no session here, as in cron and su; to keep a user manager running without one:"
                    + " \(Command(program: "loginctl", "enable-linger"))"
            ]
        }
        let start = Hint(systemctl("start", "authrefreshd"))
        return haveUnits ? [start] : [start, installationHint]
    }

    /// Whether this program is the package's.
    var isPackaged: Bool { ["/usr/bin", "/bin"].contains(programFolder) }

    /// What puts all files of an installation like this program's into place.
    var installer: Command {
        isPackaged ? Command(program: "apt", "reinstall", "authrefreshd") : Command(program: "systemd/install")
    }

    /// The folder that the user's service manager has made, whether a variable names it or not.
    var usualRuntimeFolder: String { "/run/user/\(user)" }

    var hasRuntimeFolder: Bool { file(usualRuntimeFolder) != nil }

    /// `systemctl --user`. Where `XDG_RUNTIME_DIR` is not set (cron, su), it finds the manager only with this variable.
    var systemctl: [String] {
        let prefix =
            environment("XDG_RUNTIME_DIR") == nil && hasRuntimeFolder
            ? ["env", "XDG_RUNTIME_DIR=\(usualRuntimeFolder)"] : []
        return prefix + ["systemctl", "--user"]
    }

    /// A command for the user's service manager that works in this shell.
    func systemctl(_ words: String...) -> Command {
        Command(programWords: systemctl + words)
    }

    /// What to do if `XDG_RUNTIME_DIR` is another user's folder, or is missing; nil if it is neither.
    var foreignRuntimeFolder: Hint? {
        guard let folder = environment("XDG_RUNTIME_DIR") else { return nil }
        guard let found = file(folder) else {
            return "XDG_RUNTIME_DIR names '\(folder)', which does not exist: unset it, or log in again"
        }
        guard found.owner != user else { return nil }
        return "XDG_RUNTIME_DIR belongs to another user, as after su: unset it, or use su -l, ssh or machinectl shell"
    }
}
