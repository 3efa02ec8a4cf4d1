internal import Glibc

/// Where the daemon's files are: the XDG Base Directory folders.
struct DaemonPaths: Equatable, Sendable {
    /// The store, its key and its lock. Absolute and without symbolic links: the store's items in the Secret Service go by it.
    var stateDirectory: String
    /// Nil: there is none, the built-in defaults hold.
    var configuration: String?
    /// Folders of provider profiles, the most particular last.
    var profileFolders: [String]
    /// Where callers connect.
    var socket: String
    /// Where accounts' tokens stand in files: beside the socket.
    var tokenFolder: String { DaemonPaths.folder(of: socket) + "/tokens" }
    var credentialsDirectory: String?
    /// `$XDG_RUNTIME_DIR`; nil if it is not set.
    var runtimeDirectory: String?
    /// The D-Bus address of the session bus; nil if nothing says where it is.
    var sessionBus: String?

    /// - Parameters:
    ///   - exists: whether there is a file at a path.
    /// - Throws: `DaemonError.noHome` if neither an option nor the environment says where a folder is.
    init(
        options: DaemonOptions,
        environment: [String: String],
        exists: (String) -> Bool
    ) throws(DaemonError) {
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 }
        func folder(_ variable: String, _ fallback: String) throws(DaemonError) -> String {
            // The XDG specification: a path that is not absolute is to be ignored.
            if let path = environment[variable], path.hasPrefix("/") { return path }
            guard let home else { throw DaemonError.noHome(variable: variable) }
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
            throw .noHome(variable: "XDG_RUNTIME_DIR")
        }
        credentialsDirectory = environment["CREDENTIALS_DIRECTORY"]
        runtimeDirectory = environment["XDG_RUNTIME_DIR"]
        // sd_bus_default_user(3): the variable, else the socket of the user's bus.
        sessionBus =
            environment["DBUS_SESSION_BUS_ADDRESS"]
            ?? environment["XDG_RUNTIME_DIR"].map { "unix:path=\($0)/bus" }
    }

    /// The path without symbolic links, as far as there is something at it.
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
