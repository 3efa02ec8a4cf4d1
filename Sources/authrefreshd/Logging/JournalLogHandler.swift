internal import AuthRefreshInterface
internal import Glibc
internal import Logging
internal import Systemd

/// Writes log records to the journal, each metadata value in a field of its own; to standard error where there is no journal.
///
/// Logging never blocks: the records go through a `LogOutlet`.
struct JournalLogHandler: LogHandler {
    /// Bytes of records that may wait for the journal: some thousand lines.
    static let waitingBytesMax = 1 << 20
    /// How long the end of the daemon waits for the records before it to be written.
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
    private let message: String
    private let metadata: [String: String]

    init(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
        self.level = level
        self.message = Self.shown(message.description)
        self.metadata = metadata.mapValues { Self.shown($0.description) }
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
