internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl forward`.
struct ForwardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forward",
        abstract: "Give the tokens of some accounts to another machine, over ssh, or to a container.",
        discussion: """
            Examples:

              \(InvokedAs.here) forward build.example.org work
              \(InvokedAs.here) forward me@build.example.org work home
              \(InvokedAs.here) forward build.example.org work -- ./nightly --verbose
              \(InvokedAs.here) forward build.example.org work --ssh-option Port=2222
              \(InvokedAs.here) forward --listen $XDG_RUNTIME_DIR/box/socket work

            On the other machine '\(InvokedAs.here) token' and '\(InvokedAs.here) challenge' work for the accounts that you name. \
            Nothing else works there: no other account, also if it gets the name of one that you named, no status, \
            no sign-in, no refresh token. Access ends with \
            the ssh connection. Until then, root on that machine can ask for tokens of these accounts, too. If an \
            account asks you first (--confirm), the question names that machine, and your answer is for it alone.

            ssh forwards a separate socket for this, not the daemon's. On the other machine it is \
            /tmp/authctl-..., open to your user only, and AUTHREFRESH_SOCKET names it. That machine needs authctl, \
            but no daemon; its sshd must allow forwarding (AllowStreamLocalForwarding). If the connection breaks \
            while a command without a terminal runs, the socket's file stays until the command ends, but nothing \
            answers there. The next connection removes files that were left behind.

            With '--' and a command, that command runs there instead of a login shell, as with 'ssh HOST COMMAND'.

            With --listen, the socket is on this machine, for a container, a sandbox or a confined service that must \
            not see the daemon's socket. The same calls work at it, for programs of your user. A question (--confirm) \
            names the socket. There is no ssh: the command serves the socket until you interrupt it, and then removes \
            it. Give the container the socket's folder, because each run makes a new socket, and set \
            AUTHREFRESH_SOCKET there.

            Exit status: that of ssh, which is the command's, or 255 if the connection failed; 4 no such account, \
            78 if ssh is not installed. With --listen also 64 if the path is in use.
            """
    )

    @Argument(
        help: """
            The other machine, as ssh takes it: HOST, USER@HOST, ssh://USER@HOST:PORT, or a name in ssh_config. With \
            --listen it is left out.
            """
    )
    var host: String?

    @Argument(
        help: "The accounts. On a terminal they can be left out if there is only one.",
        completion: DaemonCompletion.accounts
    )
    var accounts: [String] = []

    @Option(help: .value("path", "Serve a socket at this path instead of another machine."), completion: .file())
    var listen: String?

    @Option(help: .value("text", "The command to run there instead of a login shell, as after '--'."))
    var command: String?

    @Option(help: .value("name=value", "An option for ssh, as in ssh_config; may be given several times."))
    var sshOption: [String] = []

    @Flag(help: "Print errors as JSON; what the other machine prints stays as it is.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let listen {
            guard !listen.isEmpty, host != nil else { throw ValidationError("'--listen' needs a path and accounts") }
            guard command == nil, sshOption.isEmpty else { throw ValidationError("'--listen' is without ssh") }
            return
        }
        guard let host else { throw ValidationError("name the other machine, or a socket with '--listen'") }
        // ssh would take it as an option, and some options run programs.
        guard !host.isEmpty, !host.hasPrefix("-") else { throw ValidationError("'\(host)' is not a host") }
        guard command?.isEmpty != true else { throw ValidationError("'--command' needs a command") }
    }

    /// Joins the words after `--` to one text, as ssh does. The parser supports one list of words, which is for the
    /// accounts.
    static func adoptCommand(_ arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName, let end = arguments.firstIndex(of: "--") else {
            return arguments
        }
        return arguments[..<end] + ["--command=\(arguments[(end + 1)...].joined(separator: " "))"]
    }

    func run() throws(Report) {
        let accounts = try accountsThatExist()
        let daemon = try SocketPath.resolve(option: connection.socket)
        let words: ((String) -> [String])? = if listen == nil { sshWords(socket:) } else { nil }
        let session = try ForwardSession(
            filter: ForwardedCallFilter(accounts: accounts, host: listen.map { "the socket \($0)" } ?? host ?? ""),
            connect: { () throws(VarlinkClientError) in
                // Nobody else at the other end may wait because the daemon accepts nobody.
                try VarlinkConnection(
                    path: daemon,
                    replyBytesMax: TokenRelay.forwardedReplyBytesMax,
                    timeoutMilliseconds: 0
                )
            },
            socket: makeSocket,
            ssh: words
        )
        if let listen {
            let names = accounts.map { "'\(PlainText.line($0.name))'" }.joined(separator: ", ")
            StandardError.note("'\(listen)' gives tokens of \(names) until you interrupt this command")
        }
        session.run()
    }

    private func makeSocket() throws(Report) -> ForwardSocket {
        if let listen { return try ForwardSocket(at: listen) }
        return try ForwardSocket(in: [Surroundings.real.environment("XDG_RUNTIME_DIR"), "/tmp"].compactMap(\.self))
    }

    /// The named accounts, or the only one.
    ///
    /// - Throws: the daemon's `NoSuchAccount`, before anything is started.
    private func accountsThatExist() throws(Report) -> [(name: String, id: String?)] {
        let given = (listen == nil ? [] : [host].compactMap(\.self)) + accounts
        let names = given.isEmpty ? [try connection.account(named: nil)] : given
        var daemon = try connection.connect()
        return try daemon.allStatuses(accounts: names).map { ($0.account, $0.accountId) }
    }

    private func sshWords(socket: String) -> [String] {
        let command = SSHCommand(
            host: host ?? "",
            options: sshOption,
            localSocket: socket,
            remoteSocket: SSHCommand.freshRemoteSocket(),
            command: command,
            hasTerminal: StandardInput.isTerminal
        )
        return command.words
    }
}
