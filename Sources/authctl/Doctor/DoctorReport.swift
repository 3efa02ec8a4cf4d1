internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

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
        return text + lines(of: finding)
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
extension DoctorReport {
    /// With fewer columns, there is no room for a column of check names.
    private static let leastWidthForColumns = 60
    /// The column where the text begins. The longest check name has 13 characters.
    private static let textColumn = 18

    /// The lines, each with a newline.
    private func lines(of finding: Finding) -> String {
        let check = PlainText.line(finding.check)
        let said = PlainText.line((finding.subject.map { "\($0): " } ?? "") + finding.text)
        let mark = style.paint(mark(finding.knownLevel), colour(finding.knownLevel))
        if let width = style.width, width < Self.leastWidthForColumns {
            let lines = WrappedText.lines("\(check): \(said)", width: width - 2)
            let more = advice(finding, width: width - 4).map { "    \($0)\n" }
            return mark + " " + lines.joined(separator: "\n  ") + "\n" + more.joined()
        }
        let indent = String(repeating: " ", count: Self.textColumn)
        let room = style.width.map { $0 - Self.textColumn }
        let name = check + String(repeating: " ", count: max(1, Self.textColumn - 4 - check.count))
        let lines = WrappedText.lines(said, width: room)
        let more = advice(finding, width: room).map { indent + $0 + "\n" }
        return "  \(mark) \(name)" + lines.joined(separator: "\n" + indent) + "\n" + more.joined()
    }

    /// The lines that say what to do, below an arrow.
    private func advice(_ finding: Finding, width: Int?) -> [String] {
        guard let advice = finding.help else { return [] }
        let lines = WrappedText.message(advice, by: .here, width: width.map { $0 - arrow.count })
        let margin = String(repeating: " ", count: arrow.count)
        return lines.enumerated().map { ($0.offset == 0 ? arrow : margin) + $0.element }
    }

    private func mark(_ level: Finding.Level) -> String {
        switch (level, style.charset) {
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

    private func colour(_ level: Finding.Level) -> TerminalStyle.Colour {
        switch level {
        case .ok: .green
        case .note: .cyan
        case .warning: .yellow
        case .error: .red
        }
    }
}
