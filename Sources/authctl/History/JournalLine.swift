/// A line of the daemon's about an account, as `journalctl -o json` prints it.
struct JournalLine: Decodable, Sendable {
    /// The fields that are asked for, beside those that journalctl prints always.
    static let fields = [
        "MESSAGE", "AUTHREFRESH_EVENT", "AUTHREFRESH_ERROR", "AUTHREFRESH_DETAIL", "AUTHREFRESH_REASON",
        "AUTHREFRESH_EXPIRES_AT_USEC", "AUTHREFRESH_CORRELATION_ID",
    ]

    /// µs since 1970.
    let atUSec: Int64
    /// The event's name on the wire: `token-refreshed`.
    let event: String
    let error: String?
    let detail: String?
    /// Why the user must act, or a sign-in has failed.
    let reason: String?
    /// When the token ends, µs since 1970.
    let expiresAtUSec: Int64?
    let correlationID: String?

    private enum CodingKeys: String, CodingKey {
        case at = "__REALTIME_TIMESTAMP"
        case event = "AUTHREFRESH_EVENT"
        case error = "AUTHREFRESH_ERROR"
        case detail = "AUTHREFRESH_DETAIL"
        case reason = "AUTHREFRESH_REASON"
        case expiresAt = "AUTHREFRESH_EXPIRES_AT_USEC"
        case correlationID = "AUTHREFRESH_CORRELATION_ID"
    }

    /// - Throws: if the line is not about something that happened to an account.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        // Numbers are text in the journal, and text that is not printable is an array of bytes: nobody needs those here.
        func text(_ key: CodingKeys) -> String? {
            (try? members.decodeIfPresent(String.self, forKey: key)).flatMap(\.self)
        }
        guard let at = text(.at).flatMap({ Int64($0) }), let event = text(.event) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no event")
            )
        }
        atUSec = at
        self.event = event
        error = text(.error)
        detail = text(.detail)
        reason = text(.reason)
        expiresAtUSec = text(.expiresAt).flatMap { Int64($0) }
        correlationID = text(.correlationID)
    }
}

/// What the journal has of one account.
struct AccountJournal {
    /// In the order of their times.
    let lines: [JournalLine]

    /// Lines that are read at most: a token that lives five minutes has a thousand in two days.
    private static let linesMax = 10_000
    /// Bytes of them: a line has a few hundred.
    private static let bytesMax = 16 << 20
    /// Reading a large journal from a slow disk takes its time.
    private static let limitMilliseconds: Int32 = 30_000

    /// Reads the user's journal.
    ///
    /// - Parameter sinceUSec: µs since 1970.
    /// - Throws: `noJournal`.
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
    ) throws(AuthctlError) -> AccountJournal {
        let output = run([
            "journalctl", "--user", "--unit=authrefreshd", "--output=json", "--no-pager", "--quiet",
            "--output-fields=" + JournalLine.fields.joined(separator: ","), "--since=@\(sinceUSec / 1_000_000)",
            "--lines=\(linesMax)", "AUTHREFRESH_ACCOUNT=\(account)",
        ])
        switch output.end {
        case .exited(0): break
        case .exited:
            let words = output.text.split(separator: "\n").first { !$0.hasPrefix("{") }.map(String.init)
            throw .noJournal(reason: words ?? "journalctl gives no reason")
        case .notStarted(let number): throw .noJournal(reason: "journalctl cannot be run: \(systemText(number))")
        case .timedOut: throw .noJournal(reason: "journalctl has not come to an end in time")
        }
        return AccountJournal(lines: lines(in: output.text))
    }

    /// What is no line about an event is left out.
    static func lines(in text: String) -> [JournalLine] {
        text.split(separator: "\n").compactMap { WireText.decode(JournalLine.self, fromText: String($0)) }
            .sorted { $0.atUSec < $1.atUSec }
    }
}
