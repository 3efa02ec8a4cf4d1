internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// Finds problems: first by local checks, then by asking the daemon.
struct Doctor {
    /// The time limit for the next finding, in seconds. The daemon waits 10 s for each step with a silent server.
    private static let patience: Int32 = 60

    let accounts: [String]
    /// The value of `--socket`, if given.
    let socket: String?
    let surroundings: Surroundings

    /// Runs the checks, and passes on each finding as it comes.
    ///
    /// - Throws: what `tell` throws; the daemon's `NoSuchAccount`; `usage` if `socket` is not a path.
    func run(_ tell: (Finding) throws(Report) -> Void) throws(Report) {
        let path = try SocketPath.resolve(option: socket)
        let isNamed = socket != nil || surroundings.environment("AUTHREFRESH_SOCKET") != nil
        let session = SessionCheck(surroundings: surroundings, isSocketNamed: isNamed)
        for finding in session.findings { try tell(finding) }
        if !isNamed { try tell(InstallationCheck(surroundings: surroundings).finding) }
        for finding in SocketCheck(surroundings: surroundings, path: path).findings { try tell(finding) }
        var info: GetInfo.Reply?
        var failure: Report?
        do throws(Report) {
            var daemon = try DaemonConnection(socket: socket)
            info = try daemon.ask(GetInfo.Parameters())
        } catch {
            failure = error
        }
        // This comes after the call, because the call starts a daemon behind a waiting socket.
        let service = ServiceCheck(surroundings: surroundings, isAnswering: failure == nil)
        for finding in service.findings { try tell(finding) }
        if let clock = session.clock { try tell(clock) }
        if let failure { return try tell(Finding(failure)) }
        if let info { try tell(Self.version(of: info)) }
        if let info, info.proxy == nil, let proxy = UnusedProxy(environment: surroundings.environment) {
            try tell(proxy.finding)
        }
        try ask(tell)
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
    private func ask(_ tell: (Finding) throws(Report) -> Void) throws(Report) {
        let parameters = Diagnose.Parameters(accounts: accounts.isEmpty ? nil : accounts)
        // A failure to print is not the daemon's failure.
        var unprinted: Report?
        do throws(Report) {
            var daemon = try DaemonConnection(socket: socket)
            // Findings of the daemon are passed on at once.
            try daemon.ask(parameters, waitingFor: "the authorization servers") { reply in
                do throws(Report) {
                    for finding in reply.findings { try tell(finding) }
                } catch {
                    unprinted = error
                }
            }
        } catch {
            if error.reply?.name == NoSuchAccountError.name { throw error }
            try tell(Finding(error))
        }
        if let unprinted { throw unprinted }
    }
}

extension Finding {
    /// The finding for a daemon that does not answer.
    init(_ error: Report) {
        let advice = error.hints.reduce(Hint("")) { $0.isEmpty ? $1 : $0 + "; " + $1 }
        self = .error(.daemon, error.message, needs: Need(error.status), advice: advice)
    }
}

extension Finding.Need {
    /// What has to be done after a command with this exit status.
    init(_ status: ExitStatus) {
        self =
            switch status {
            case .interactionRequired, .signedOut, .noSuchAccount: .signIn
            case .success, .tryAgainLater, .cancelled: .time
            case .usage, .badData, .misconfigured, .cannotRunCommand, .commandNotFound, .helperFailed,
                .systemFailed:
                .repair
            case .notPermitted: .permission
            case .unavailable: .start
            }
    }

    var status: ExitStatus {
        switch self {
        case .time: .tryAgainLater
        case .repair: .misconfigured
        case .signIn: .interactionRequired
        case .start: .unavailable
        case .permission: .notPermitted
        }
    }
}

/// The findings, as lines for people and as an exit status.
struct DoctorReport {
    let style: TerminalStyle
    private(set) var findings: [Finding] = []
    private(set) var status = ExitStatus.success
    private var section: String?

    init(style: TerminalStyle) {
        self.style = style
    }

    /// Adds a finding; returns its lines, each with a newline, after the section's heading if a new one begins.
    mutating func add(_ finding: Finding) -> String {
        findings.append(finding)
        if let need = finding.knownNeed { status = .worst(status, need.status) }
        var text = ""
        if finding.section != section {
            text = (section == nil ? "" : "\n") + style.paint(finding.section, .faint) + "\n"
            section = finding.section
        }
        return text + FindingLines(finding: finding, style: style).text
    }

    /// The total `nothing is wrong: 20 ok, 1 note`, with a newline.
    var total: String {
        let levels = Dictionary(grouping: findings, by: \.knownLevel).mapValues(\.count)
        let parts = Finding.Level.allCases.compactMap { level in
            levels[level].map { "\($0) " + ($0 == 1 || level == .ok ? level.rawValue : level.rawValue + "s") }
        }
        let verdict = status == .success ? "nothing is wrong" : "something needs attention"
        return "\n\(verdict): \(parts.joined(separator: ", "))\n"
    }
}

extension Finding {
    /// The section of the report.
    fileprivate var section: String {
        switch Check(rawValue: check) {
        case .environment, .path, .installation, .socket, .service, .linger: "This machine"
        case .clock: subject == nil ? "Daemon" : "Authorization servers"
        case .account, .accounts: "Accounts"
        case .dns, .tls, .discovery, .servers: "Authorization servers"
        case .daemon, .version, .program, .configuration, .network, .proxy, .store, .key, nil: "Daemon"
        }
    }

    /// The level. An unknown one counts as a warning.
    var knownLevel: Level { Level(rawValue: level) ?? .warning }

    /// What has to be done; nil if nothing.
    fileprivate var knownNeed: Need? {
        guard knownLevel > .note else { return nil }
        return needs.flatMap(Need.init) ?? .repair
    }
}

/// A finding as lines: a mark, the check's name, and the result; below that, what to do.
private struct FindingLines {
    /// With fewer columns, there is no room for a column of check names.
    private static let leastWidthForColumns = 60
    /// The column where the text begins. The longest check name has 13 characters.
    private static let textColumn = 18

    let finding: Finding
    let style: TerminalStyle

    /// The lines, each with a newline.
    var text: String {
        let check = PlainText.line(finding.check)
        let said = PlainText.line((finding.subject.map { "\($0): " } ?? "") + finding.text)
        let mark = style.paint(mark, colour)
        if let width = style.width, width < Self.leastWidthForColumns {
            let lines = WrappedText.lines("\(check): \(said)", width: width - 2)
            let more = advice(width: width - 4).map { "    \($0)\n" }
            return mark + " " + lines.joined(separator: "\n  ") + "\n" + more.joined()
        }
        let indent = String(repeating: " ", count: Self.textColumn)
        let room = style.width.map { $0 - Self.textColumn }
        let name = check + String(repeating: " ", count: max(1, Self.textColumn - 4 - check.count))
        let lines = WrappedText.lines(said, width: room)
        let more = advice(width: room).map { indent + $0 + "\n" }
        return "  \(mark) \(name)" + lines.joined(separator: "\n" + indent) + "\n" + more.joined()
    }

    /// The lines that say what to do, below an arrow.
    private func advice(width: Int?) -> [String] {
        guard let advice = finding.help else { return [] }
        let lines = WrappedText.message(advice, by: .here, width: width.map { $0 - arrow.count })
        let margin = String(repeating: " ", count: arrow.count)
        return lines.enumerated().map { ($0.offset == 0 ? arrow : margin) + $0.element }
    }

    private var mark: String {
        switch (finding.knownLevel, style.charset) {
        case (.ok, .utf8): "✓"
        case (.ok, .ascii): "+"
        case (.note, .utf8): "•"
        case (.note, .ascii): "-"
        case (.warning, _): "!"
        case (.error, .utf8): "✗"
        case (.error, .ascii): "X"
        }
    }

    private var arrow: String {
        switch style.charset {
        case .utf8: "→ "
        case .ascii: "-> "
        }
    }

    private var colour: TerminalStyle.Colour {
        switch finding.knownLevel {
        case .ok: .green
        case .note: .cyan
        case .warning: .yellow
        case .error: .red
        }
    }
}
