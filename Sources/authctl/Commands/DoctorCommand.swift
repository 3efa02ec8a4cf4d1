internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl doctor`.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why tokens are not fresh, and say what to do.",
        discussion: """
            Examples:

              \(InvokedAs.here) doctor
              \(InvokedAs.here) doctor work
              \(InvokedAs.here) doctor --json | jq '.findings[] | select(.level == "error")'

            It looks at this shell, the socket, the service and whether it outlives your session. Then the daemon \
            looks at its configuration, clocks, network, store and key, at the accounts and their tokens, and at \
            each authorization server: name, TLS, metadata, clock. No token is sent, and nothing is changed. It \
            also works when the daemon is down.

            Each finding is a line that begins with a mark: ok, a note, a warning (it works now, but not for ever) \
            or an error (it does not work). The line below says what to do. Findings appear as they come.

            Exit status: 0 if nothing is worse than a note. Otherwise the most urgent finding decides, warnings \
            included: 69 the daemon must be started, 77 it does not serve this user, 3 a person must sign in, 78 \
            something is set up wrong, 75 the problem goes away by itself.
            """
    )

    @Argument(help: "The accounts to look at, with their servers. Default: all.", completion: DaemonCompletion.accounts)
    var accounts: [String] = []

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        let (here, socket) = (Surroundings.real, connection.socket)
        let path = try SocketPath.resolve(option: socket)
        let isNamed = socket != nil || here.environment("AUTHREFRESH_SOCKET") != nil
        var report = DoctorReport(style: .standardOutput)
        try tell(here.sessionFindings(isSocketNamed: isNamed), &report)
        if !isNamed { try tell([here.installationFinding], &report) }
        try tell(here.socketFindings(at: path), &report)
        let info = Result { () throws(Report) in
            var daemon = try connection.connect()
            return try daemon.ask(GetInfo.Parameters())
        }
        // This comes after the call, because the call starts a daemon behind a waiting socket.
        try tell(here.serviceFindings(isAnswering: (try? info.get()) != nil), &report)
        if let clock = here.clockFinding { try tell([clock], &report) }
        switch info {
        case .failure(let error): try tell([Finding(error)], &report)
        case .success(let info):
            try tell([Self.version(of: info)], &report)
            if info.proxy == nil, let proxy = UnusedProxy(environment: here.environment) {
                try tell([proxy.finding], &report)
            }
            try askDaemon(&report)
        }
        let answer: Answer = ["findings": report.findings, "exitStatus": report.status.rawValue]
        try output.print(answer, or: report.total)
        guard report.status == .success else { throw .reported(report.status) }
    }

    /// Adds findings to the report, and shows them to people as they come.
    private func tell(_ findings: [Finding], _ report: inout DoctorReport) throws(Report) {
        for finding in findings {
            let text = report.add(finding)
            if !output.json { try StandardOutput.show(text) }
        }
    }

    private static func version(of info: GetInfo.Reply) -> Finding {
        guard info.version == Version.text else {
            return .warning(
                .version,
                "the daemon has version \(PlainText.line(info.version)), authctl has version \(Version.text)",
                needs: .repair,
                advice: Hint(Command(program: "systemctl", "--user", "restart", "authrefreshd"))
            )
        }
        let started = LocalTime.now.relative(info.startedAtUSec)
        return .ok(.daemon, "it answers, version \(info.version), started \(started)")
    }

    /// Runs the daemon's checks.
    private func askDaemon(_ report: inout DoctorReport) throws(Report) {
        let parameters = Diagnose.Parameters(accounts: accounts.isEmpty ? nil : accounts)
        // A failure to print is not the daemon's failure.
        var unprinted: Report?
        do throws(Report) {
            var daemon = try connection.connect()
            try daemon.ask(parameters, waitingFor: "the authorization servers") { reply in
                do throws(Report) { try tell(reply.findings, &report) } catch { unprinted = error }
            }
        } catch {
            if error.isNoSuchAccount { throw error }
            try tell([Finding(error)], &report)
        }
        if let unprinted { throw unprinted }
    }
}
