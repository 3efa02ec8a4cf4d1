internal import ArgumentParser

/// The options of every command that speaks to the daemon.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's socket.",
            discussion: """
                Otherwise AUTHREFRESH_SOCKET, else $XDG_RUNTIME_DIR/authrefreshd/io.authrefresh.
                """,
            valueName: "path"
        )
    )
    var socket: String?

    func connect() throws(AuthctlError) -> DaemonConnection {
        try DaemonConnection(socket: socket)
    }
}
