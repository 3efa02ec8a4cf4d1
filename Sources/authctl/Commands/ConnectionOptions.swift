internal import ArgumentParser

/// The options of every command that speaks to the daemon.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The daemon's socket; otherwise AUTHREFRESH_SOCKET, else this user's.", valueName: "path"),
        completion: .file()
    )
    var socket: String?

    func connect() throws(AuthctlError) -> DaemonConnection {
        try DaemonConnection(socket: socket)
    }
}
