internal import Basics
internal import Glibc

/// Finds the daemon's socket.
enum SocketPath {
    /// The first that is set: `--socket`, `AUTHREFRESH_SOCKET`, the user's runtime directory.
    ///
    /// - Throws: `usage` if the option is not a path.
    static func resolve(option: String?) throws(Report) -> String {
        if let option {
            guard !option.isEmpty, !option.utf8.contains(0) else {
                throw .usage("'--socket' needs a path", hint: "see '\(Command("--help"))'")
            }
            return option
        }
        if let path = environmentValue("AUTHREFRESH_SOCKET") { return path }
        // Without a login session the variable is missing, but the user manager of a lingering user has created the
        // folder.
        let runtime = environmentValue("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
        return inside(runtime)
    }

    /// The socket in a user's runtime directory.
    static func inside(_ runtime: String) -> String { "\(runtime)/authrefreshd/io.authrefresh" }
}
