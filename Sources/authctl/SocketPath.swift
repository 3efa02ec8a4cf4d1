internal import Glibc

/// Where the daemon listens.
enum SocketPath {
    /// The first that is given: `--socket`, `AUTHREFRESH_SOCKET`, the runtime directory of the user.
    ///
    /// - Throws: `usage` if the option is no path.
    static func resolve(option: String?) throws(AuthctlError) -> String {
        if let option {
            guard !option.isEmpty, !option.utf8.contains(0) else {
                throw .usage(message: "'--socket' needs a path", hint: "see 'authctl --help'")
            }
            return option
        }
        if let path = environment("AUTHREFRESH_SOCKET") { return path }
        // Without a login session the variable is missing, but a lingering user manager has made the folder.
        let runtime = environment("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
        return "\(runtime)/authrefreshd/io.authrefresh"
    }

    private static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }
}
