internal import AuthRefreshInterface
internal import Basics

/// A journal line of the daemon about an account, in the format of `journalctl -o json`.
struct JournalLine: Decodable, Sendable {
    /// The requested fields, in addition to those that journalctl always prints.
    static let fields =
        ["MESSAGE"]
        + [JournalKey.event, .error, .detail, .reason, .expiresAt, .correlationID].map(\.rawValue)

    /// The times that a line can have: to the end of the year 9999. With them, nothing overflows.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799_999_999

    /// When it was written, in µs since 1970.
    let atUSec: Int64
    /// An `AccountNews`; text, because a later daemon may have written others.
    let event: String
    let error: String?
    let detail: String?
    /// Why the user is needed, or why a sign-in failed.
    let reason: String?
    /// When the token expires, in µs since 1970.
    let expiresAtUSec: Int64?
    let correlationID: String?

    /// Nil for news that this version does not know.
    var news: AccountNews? { AccountNews(rawValue: event) }

    /// Decodes a line.
    ///
    /// - Throws: an error if the line is not about an event of an account.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: JournalKey.self)
        let journald = try decoder.container(keyedBy: MemberName.self)
        // The journal has numbers as text, and unprintable text as an array of bytes, which is not needed here.
        func text(_ key: JournalKey) -> String? {
            (try? members.decodeIfPresent(String.self, forKey: key)).flatMap(\.self)
        }
        func time(_ text: String?) -> Int64? {
            text.flatMap { Int64($0) }.flatMap { Self.times.contains($0) ? $0 : nil }
        }
        let stamp = try? journald.decodeIfPresent(String.self, forKey: MemberName("__REALTIME_TIMESTAMP"))
        guard let at = time(stamp), let event = text(.event) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no event")
            )
        }
        atUSec = at
        self.event = event
        error = text(.error)
        detail = text(.detail)
        reason = text(.reason)
        expiresAtUSec = time(text(.expiresAt))
        correlationID = text(.correlationID)
    }
}

/// The user's journal.
extension JournalLine {
    /// The most lines that are read. A token that lives five minutes has a thousand lines in two days.
    private static let linesMax = 10_000
    /// The most bytes that are read. A line has a few hundred.
    private static let bytesMax = 16 << 20
    /// The time limit. Reading a large journal from a slow disk takes long.
    private static let limitMilliseconds: Int32 = 30_000

    /// The lines about an account, ordered by time.
    ///
    /// - Parameter sinceUSec: µs since 1970.
    static func read(
        of account: String,
        sinceUSec: Int64,
        run: ([String]) -> CommandOutput = {
            CommandOutput(
                of: $0,
                limitMilliseconds: limitMilliseconds,
                longest: bytesMax,
                waitingFor: "journalctl"
            )
        }
    ) throws(Report) -> [JournalLine] {
        let output = run([
            "journalctl", "--user", "--output=json", "--no-pager", "--quiet",
            "--output-fields=" + fields.joined(separator: ","), "--since=@\(sinceUSec / 1_000_000)",
            // journald sets this field itself. With --unit, journalctl also believes a line that only names the unit.
            "--lines=\(linesMax)", "_SYSTEMD_USER_UNIT=authrefreshd.service",
            "\(JournalKey.account.rawValue)=\(account)",
        ])
        switch output.end {
        case .exited(0): break
        case .exited:
            let words = output.text.split(separator: "\n").first { !$0.hasPrefix("{") }.map(String.init)
            throw unreadable(words ?? "journalctl gives no reason")
        case .notStarted(let number): throw unreadable("journalctl cannot be run: \(systemText(number))")
        case .timedOut, .tooMuch: throw unreadable("journalctl did not end in time")
        }
        return lines(in: output.text)
    }

    private static func unreadable(_ reason: String) -> Report {
        Report(
            status: .unavailable,
            name: "authctl.NoJournal",
            message: "the journal cannot be read: \(PlainText.line(reason))",
            hints: ["\(Command(program: "journalctl", "--user", "-u", "authrefreshd"))"]
        )
    }

    /// The journal lines in the text, without those that are not about an event.
    static func lines(in text: String) -> [JournalLine] {
        text.split(separator: "\n").compactMap { WireText.decode(JournalLine.self, fromText: String($0)) }
            .sorted { $0.atUSec < $1.atUSec }
    }
}
