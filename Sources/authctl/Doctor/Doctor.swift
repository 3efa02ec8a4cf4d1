internal import AuthRefreshInterface

/// Finds out what is wrong: first what can be seen from here, then what the daemon sees.
struct Doctor {
    /// Seconds for the next finding. The daemon gives a silent server 10 s for each of its steps.
    private static let patience: Int32 = 60

    let accounts: [String]
    /// The value of `--socket`, if given.
    let socket: String?
    let surroundings: Surroundings

    /// Hands over each finding as it comes.
    ///
    /// - Throws: what `tell` throws; `refused` with `NoSuchAccount`; `usage` if `socket` is no path.
    func run(_ tell: (Finding) throws(AuthctlError) -> Void) throws(AuthctlError) {
        let path = try SocketPath.resolve(option: socket)
        let isNamed = socket != nil || surroundings.environment("AUTHREFRESH_SOCKET") != nil
        let session = SessionCheck(surroundings: surroundings, isSocketNamed: isNamed)
        for finding in session.findings { try tell(finding) }
        for finding in SocketCheck(surroundings: surroundings, path: path).findings { try tell(finding) }
        var info: GetInfo.Reply?
        var failure: AuthctlError?
        do throws(AuthctlError) {
            var daemon = try DaemonConnection(socket: socket)
            info = try daemon.ask(.getInfo, GetInfo.Parameters(), for: GetInfo.Reply.self)
        } catch {
            failure = error
        }
        // After the question: it starts a daemon that waits behind its socket.
        let service = ServiceCheck(surroundings: surroundings, isAnswering: failure == nil)
        for finding in service.findings { try tell(finding) }
        if let clock = session.clock { try tell(clock) }
        if let failure { return try tell(Finding(failure)) }
        if let info { try tell(Self.version(of: info)) }
        try ask(tell)
    }

    private static func version(of info: GetInfo.Reply) -> Finding {
        guard info.version != Version.text else {
            return .ok(
                .daemon,
                "it answers, version \(info.version), started \(LocalTime.now.relative(info.startedAtUSec))"
            )
        }
        return .warning(
            .version,
            "the daemon is of version \(PlainText.line(info.version)), authctl of \(Version.text)",
            needs: .repair,
            advice: "systemctl --user restart authrefreshd"
        )
    }

    /// Has the daemon look.
    private func ask(_ tell: (Finding) throws(AuthctlError) -> Void) throws(AuthctlError) {
        let parameters = Diagnose.Parameters(accounts: accounts.isEmpty ? nil : accounts)
        // What could not be printed is no failure of the daemon's.
        var unprinted: AuthctlError?
        do throws(AuthctlError) {
            var daemon = try DaemonConnection(socket: socket)
            try daemon.ask(.diagnose, parameters, forEach: Diagnose.Reply.self) { reply in
                do throws(AuthctlError) {
                    for finding in reply.findings { try tell(finding) }
                } catch {
                    unprinted = error
                }
            }
        } catch {
            if case .refused(let refusal) = error, refusal.name == NoSuchAccountError.name { throw error }
            try tell(Finding(error))
        }
        if let unprinted { throw unprinted }
    }
}

extension Finding {
    /// The daemon's failure to answer.
    init(_ error: AuthctlError) {
        let report = error.report
        let advice = report.hints.filter { !$0.isEmpty }.joined(separator: "; ")
        self = .error(.daemon, report.message, needs: Need(report.status), advice: advice)
    }
}

extension Finding.Need {
    /// What it takes after a command that ended so.
    init(_ status: ExitStatus) {
        self =
            switch status {
            case .interactionRequired, .signedOut, .noSuchAccount: .signIn
            case .success, .tryAgainLater, .cancelled: .time
            case .usage, .badData, .misconfigured: .repair
            case .notPermitted: .permission
            case .daemonUnreachable: .start
            }
    }

    var status: ExitStatus {
        switch self {
        case .time: .tryAgainLater
        case .repair: .misconfigured
        case .signIn: .interactionRequired
        case .start: .daemonUnreachable
        case .permission: .notPermitted
        }
    }
}
