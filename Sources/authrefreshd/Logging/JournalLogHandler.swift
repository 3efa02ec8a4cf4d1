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

    /// Where all records of the process go.
    static let outlet = LogOutlet(bytesMax: waitingBytesMax) { dropped in
        let event = JournalEvent.logDropped
        let metadata: Logger.Metadata = [
            JournalEvent.messageIDKey: .stringConvertible(event.id), JournalKey.leftOut: .stringConvertible(dropped),
        ]
        JournalRecord(event.level, event.message, metadata).write(toJournal: Journal.isConnected)
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

    /// Returns when everything that was logged is written, or after `drainLimit`; for the end of the daemon.
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

/// What is written of one log event.
private struct JournalRecord: Sendable {
    private let level: Logger.Level
    /// With the account before it, if it is about one: a journal is read without its fields.
    private let message: String
    private let metadata: [String: String]

    init(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
        self.level = level
        self.metadata = metadata.mapValues { Self.shown($0.description) }
        let account = self.metadata[JournalKey.account].map { "\($0): " } ?? ""
        self.message = account + Self.shown(message.description)
    }

    /// About what it takes while it waits.
    var bytes: Int {
        metadata.reduce(message.utf8.count + 64) { $0 + $1.key.utf8.count + $1.value.utf8.count + 32 }
    }

    /// Writes it; may block.
    func write(toJournal isJournalConnected: Bool) {
        if isJournalConnected, (try? Journal.send(fields)) != nil { return }
        // journald reads the priority from the front of a line; a person at a terminal would stumble over it.
        var text = isJournalConnected ? "<\(level.priority)>" : "authrefreshd: \(level): "
        text += line
        text += "\n"
        // Standard error that is gone cannot be told so.
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

    /// The message, and the metadata that says more than the journal's bookkeeping, on one line.
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

    /// Text as it may be read by a person: a caller's executable has any name that the caller likes.
    private static func shown(_ text: String) -> String {
        // Nearly all of it is ASCII, and needs no look at each scalar.
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

/// Writes log lines on a queue of its own, in their order.
///
/// A journal that hangs, or a terminal that was stopped, blocks whoever writes to it. Here that is nobody but this queue. Lines wait in
/// a bounded buffer meanwhile; those that do not fit are dropped and counted, and their number is written when the others are through.
final class LogOutlet: Sendable {
    /// Writes one line, and may block.
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

    /// - Parameters:
    ///   - bytesMax: how much may wait.
    ///   - writeDropped: writes, on the queue, how many lines were dropped.
    init(bytesMax: Int, writeDropped: @escaping @Sendable (Int) -> Void) {
        self.bytesMax = bytesMax
        self.writeDropped = writeDropped
        queue = DispatchQueue(label: "authrefreshd.log")
    }

    /// Has a line written; never blocks.
    ///
    /// - Parameter bytes: how long it is.
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

    /// Returns when everything that was sent until now is written, or when `limit` is over.
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
                // One that is being written still takes its room: what waits in the kernel is not ours to count.
                state.withLock { $0.bytes -= line.bytes }
            }
            if dropped > 0 { writeDropped(dropped) }
        }
    }
}

/// How many lines are written on each subject: so many in each stretch of time; the others are counted, and their number is told with the
/// next line, whatever that is on.
///
/// journald drops what a service says too fast (journald.conf(5), `RateLimitBurst=`): without this, a program that is refused again and
/// again would have it drop what the daemon says of its accounts. A subject has a share of its own, so that who uses it up hides nothing
/// of the others.
final class LineBudget<Subject: Hashable & Sendable>: Sendable {
    private struct State {
        var began: ContinuousClock.Instant?
        /// Lines in this stretch; nil is the share of the subjects that came when enough others had one.
        var written: [Subject?: Int] = [:]
        var leftOut = 0
    }

    private let linesMax: Int
    private let subjectsMax: Int
    private let stretch: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - linesMax: how many lines each stretch takes on one subject.
    ///   - subjectsMax: how many subjects have a share of their own in a stretch; those that come later have one together.
    ///   - stretch: how long one is, the same one for all; it begins with its first line.
    init(linesMax: Int, subjectsMax: Int, stretch: Duration) {
        self.linesMax = linesMax
        self.subjectsMax = subjectsMax
        self.stretch = stretch
    }

    /// Takes one line on `subject`, or counts it.
    ///
    /// - Returns: how many lines, on whatever subject, were left out since the last one; nil if this one is left out, too.
    func spend(on subject: Subject, at now: ContinuousClock.Instant = .now) -> Int? {
        state.withLock { state in
            if state.began.map({ now - $0 >= stretch }) ?? true {
                state.began = now
                state.written.removeAll()
            }
            let hasShare = state.written[subject] != nil || state.written.count < subjectsMax
            let share = hasShare ? subject : nil
            guard state.written[share, default: 0] < linesMax else {
                state.leftOut += 1
                return nil
            }
            state.written[share, default: 0] += 1
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
