internal import Basics
internal import Glibc

/// The places of the daemon's files, in the XDG Base Directory folders.
struct DaemonPaths: Equatable, Sendable {
    /// The folder of the store, its key and its lock. It is absolute and has no symbolic links, because the store's
    /// items in the Secret Service are named after it.
    var stateDirectory: String
    /// The configuration file; nil if there is none, and then the defaults apply.
    var configuration: String?
    /// Folders of provider profiles. Later ones take precedence.
    var profileFolders: [String]
    /// The path of the socket.
    var socket: String
    /// The folder of the token files, next to the socket. `TokenFolder` leaves a folder of the user's alone.
    var tokenFolder: String { DaemonPaths.folder(of: socket) + "/tokens" }
    var credentialsDirectory: String?
    /// `$XDG_RUNTIME_DIR`; nil if it is not set.
    var runtimeDirectory: String?
    /// The D-Bus address of the session bus; nil if it is unknown.
    var sessionBus: String?

    /// Determines the paths.
    ///
    /// - Parameter exists: whether there is a file at a path.
    /// - Throws: an error if neither an option nor the environment names a folder.
    init(
        options: DaemonOptions,
        environment: [String: String],
        exists: (String) -> Bool
    ) throws(ProgramError) {
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 }
        func folder(_ variable: String, _ fallback: String) throws(ProgramError) -> String {
            // The XDG specification: ignore a path that is not absolute.
            if let path = environment[variable], path.hasPrefix("/") { return path }
            guard let home else { throw Self.noFolder(variable) }
            return home + "/" + fallback
        }
        if let directory = options.stateDir {
            stateDirectory = Self.canonical(directory)
        } else {
            stateDirectory = Self.canonical(try folder("XDG_STATE_HOME", ".local/state") + "/authrefreshd")
        }
        let configurationHome = try? folder("XDG_CONFIG_HOME", ".config") + "/authrefreshd"
        if let path = options.config {
            configuration = path
        } else {
            configuration = configurationHome.map { $0 + "/authrefreshd.yaml" }.flatMap { exists($0) ? $0 : nil }
        }
        let dataHome = try? folder("XDG_DATA_HOME", ".local/share") + "/authrefreshd"
        let beside = options.config.map { DaemonPaths.folder(of: $0) }
        profileFolders = ["/usr/share/authrefreshd", dataHome, configurationHome, beside].compactMap { $0 }
            .map { $0 + "/providers.d" }
        if let path = options.socket ?? environment["AUTHREFRESH_SOCKET"] {
            socket = path
        } else if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            socket = runtime + "/authrefreshd/io.authrefresh"
        } else {
            throw Self.noFolder("XDG_RUNTIME_DIR")
        }
        credentialsDirectory = environment["CREDENTIALS_DIRECTORY"]
        runtimeDirectory = environment["XDG_RUNTIME_DIR"]
        // sd_bus_default_user(3): the variable, or else the socket of the user's bus.
        sessionBus =
            environment["DBUS_SESSION_BUS_ADDRESS"]
            ?? environment["XDG_RUNTIME_DIR"].map { "unix:path=\($0)/bus" }
    }

    private static func noFolder(_ variable: String) -> ProgramError {
        ProgramError(
            .misconfigured,
            "no folder for the daemon's files is known: '\(variable)' is not set",
            hint: "log in through systemd-logind, or name the folders:"
                + " \(Command(program: "authrefreshd", "--state-dir", "DIR", "--socket", "PATH"))"
        )
    }

    /// The path without symbolic links, as far as it exists.
    private static func canonical(_ path: String) -> String {
        if let resolved = unsafe realpath(path, nil) {
            defer { unsafe free(resolved) }
            return unsafe String(cString: resolved)
        }
        let parts = path.split(separator: "/")
        guard let last = parts.last else { return path }
        let parent = parts.dropLast().joined(separator: "/")
        let folder = canonical(path.hasPrefix("/") ? "/" + parent : parent.isEmpty ? "." : parent)
        return folder == "/" ? "/" + last : folder + "/" + last
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return String(path[..<slash])
    }
}
