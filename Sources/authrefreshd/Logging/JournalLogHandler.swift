internal import Basics
internal import AuthRefreshInterface
internal import Dispatch
internal import Glibc
internal import Logging
internal import Synchronization
internal import Systemd

/// Writes log records to the journal, each metadata value in its own field; without a journal, to standard error.
///
/// Logging never blocks, because the records go through a `LogOutlet`.
struct JournalLogHandler: LogHandler {
    /// How many bytes of records may wait for the journal: some thousand lines.
    static let waitingBytesMax = 1 << 20
    /// How long the daemon waits at its end until the last records are written.
    static let drainLimit = Duration.seconds(2)

    /// The outlet for all records of the process.
    static let outlet = LogOutlet(bytesMax: waitingBytesMax) { dropped in
        let event = JournalEvent.logDropped(dropped)
        JournalRecord(event.level, event.message, event.fields).write(toJournal: Journal.isConnected)
    }

    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let isJournalConnected: Bool
    private let outlet: LogOutlet

    init(
        logLevel: Logger.Level,
        isJournalConnected: Bool = Journal.isConnected,
        outlet: LogOutlet = JournalLogHandler.outlet
    ) {
        self.logLevel = logLevel
        self.isJournalConnected = isJournalConnected
        self.outlet = outlet
    }

    /// Returns when everything logged so far was written, or after `drainLimit`. Call it at the end of the daemon.
    static func drain() async {
        await outlet.drain(within: drainLimit)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var merged = event.metadata ?? [:]
        if !metadata.isEmpty { merged.merge(metadata) { own, _ in own } }
        let record = JournalRecord(event.level, event.message, merged)
        outlet.send(bytes: record.bytes) { [isJournalConnected] in record.write(toJournal: isJournalConnected) }
    }
}

/// A log event, ready to be written.
private struct JournalRecord: Sendable {
    private let level: Logger.Level
    /// The message. If it is about an account, it begins with the account, because people read the journal without its
    /// fields.
    private let message: String
    private let metadata: [String: String]

    init(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
        self.level = level
        self.metadata = metadata.mapValues { Self.shown($0.description) }
        let account = self.metadata[JournalKey.account.rawValue].map { "\($0): " } ?? ""
        self.message = account + Self.shown(message.description)
    }

    /// The approximate size of the record while it waits.
    var bytes: Int {
        metadata.reduce(message.utf8.count + 64) { $0 + $1.key.utf8.count + $1.value.utf8.count + 32 }
    }

    /// Writes the record; may block.
    func write(toJournal isJournalConnected: Bool) {
        if isJournalConnected, (try? Journal.send(fields)) != nil { return }
        // journald reads the priority from the start of the line. On a terminal it would only confuse people.
        var text = isJournalConnected ? "<\(level.priority)>" : "authrefreshd: \(level): "
        text += line
        text += "\n"
        // If standard error is gone, there is no place to report that.
        _ = text.withUTF8 { text in unsafe Glibc.write(STDERR_FILENO, text.baseAddress, text.count) }
    }

    private var fields: [JournalField] {
        var fields = [
            JournalField("MESSAGE", message),
            JournalField("PRIORITY", "\(level.priority)"),
            JournalField("SYSLOG_IDENTIFIER", "authrefreshd"),
        ]
        for (key, value) in metadata {
            guard let name = JournalFieldName(key) else { continue }
            fields.append(JournalField(name, value))
        }
        return fields
    }

    /// The message on one line, with the metadata that is of interest to people.
    private var line: String {
        var text = message
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) where key != JournalEvent.messageIDKey {
            text += " "
            text += key
            text += "="
            text += value
        }
        return text
    }

    /// Text that is safe to show, because a caller can give its executable any name.
    private static func shown(_ text: String) -> String {
        // Most text is ASCII, and need not be checked scalar by scalar.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F }) else { return text }
        return text.replacingSteering(with: " ")
    }
}

extension Logger.Level {
    /// The syslog priority: 7 debug, 6 info, 5 notice, 4 warning, 3 error, 2 critical.
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// Writes log lines in order, on its own queue.
///
/// A journal that hangs, or a stopped terminal, blocks its writer, and that is only this queue. Meanwhile, lines wait
/// in a limited buffer. Lines that do not fit are dropped and counted, and the count is written after the waiting
/// lines.
final class LogOutlet: Sendable {
    /// Writes one line; may block.
    typealias Write = @Sendable () -> Void

    private struct State {
        var waiting: [(write: Write, bytes: Int)] = []
        var bytes = 0
        var dropped = 0
        var isWriting = false
    }

    private let bytesMax: Int
    private let writeDropped: @Sendable (Int) -> Void
    private let queue: DispatchQueue
    private let state = Mutex(State())

    /// Creates an outlet.
    ///
    /// - Parameters:
    ///   - bytesMax: how many bytes may wait.
    ///   - writeDropped: writes, on the queue, how many lines were dropped.
    init(bytesMax: Int, writeDropped: @escaping @Sendable (Int) -> Void) {
        self.bytesMax = bytesMax
        self.writeDropped = writeDropped
        queue = DispatchQueue(label: "authrefreshd.log")
    }

    /// Queues a line; never blocks.
    ///
    /// - Parameter bytes: the length of the line.
    func send(bytes: Int, _ write: @escaping Write) {
        let begins = state.withLock { state in
            guard state.bytes + bytes <= bytesMax else {
                state.dropped += 1
                return false
            }
            state.bytes += bytes
            state.waiting.append((write, bytes))
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { queue.async { self.writeAll() } }
    }

    /// Returns when everything sent so far was written, or after `limit`.
    func drain(within limit: Duration) async {
        await queue.drain(within: limit)
    }

    private func writeAll() {
        while true {
            let (lines, dropped) = state.withLock { state in
                let next = (state.waiting, state.waiting.isEmpty ? state.dropped : 0)
                state.waiting = []
                if next.0.isEmpty { state.dropped = 0 }
                state.isWriting = !next.0.isEmpty || next.1 > 0
                return next
            }
            if lines.isEmpty, dropped == 0 { return }
            for line in lines {
                line.write()
                // A line counts until it has been written.
                state.withLock { $0.bytes -= line.bytes }
            }
            if dropped > 0 { writeDropped(dropped) }
        }
    }
}

/// Limits the number of log lines for each subject per stretch of time. Further lines are counted, and the count is
/// written with the next line of any subject.
///
/// journald drops lines of a service that writes too many (journald.conf(5), `RateLimitBurst=`). Without this limit, a
/// program that is refused again and again would make journald drop the daemon's messages about accounts. Each subject
/// has its own share, so that one subject cannot hide lines of the others.
struct LineBudget<Subject: Hashable> {
    private let linesMax: Int
    private let subjectsMax: Int
    private let stretch: Duration
    private var began: ContinuousClock.Instant?
    /// The lines in this stretch. The share under nil is for all subjects that came after the limit of subjects was
    /// reached.
    private var written: [Subject?: Int] = [:]
    private var leftOut = 0

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - linesMax: the most lines for one subject per stretch.
    ///   - subjectsMax: how many subjects get their own share in a stretch. Later ones have a common share.
    ///   - stretch: its length, the same for all subjects; it begins with the first line.
    init(linesMax: Int, subjectsMax: Int, stretch: Duration) {
        self.linesMax = linesMax
        self.subjectsMax = subjectsMax
        self.stretch = stretch
    }

    /// Uses up one line for `subject`, or counts it as omitted.
    ///
    /// - Returns: how many lines, of any subject, were omitted since the last one; nil if this one is omitted as well.
    mutating func spend(on subject: Subject, at now: ContinuousClock.Instant = .now) -> Int? {
        if began.map({ now - $0 >= stretch }) ?? true {
            began = now
            written.removeAll()
        }
        let hasShare = written[subject] != nil || written.count < subjectsMax
        let share = hasShare ? subject : nil
        guard written[share, default: 0] < linesMax else {
            leftOut += 1
            return nil
        }
        written[share, default: 0] += 1
        defer { leftOut = 0 }
        return leftOut
    }
}
