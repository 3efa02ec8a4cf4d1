internal import AuthRefreshInterface
internal import Glibc
internal import Logging
internal import Systemd

/// Writes log records to the journal, each metadata value in a field of its own; to standard error where there is no journal.
struct JournalLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    private let isJournalConnected: Bool

    init(logLevel: Logger.Level, isJournalConnected: Bool = Journal.isConnected) {
        self.logLevel = logLevel
        self.isJournalConnected = isJournalConnected
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var merged = event.metadata ?? [:]
        if !metadata.isEmpty { merged.merge(metadata) { own, _ in own } }
        if isJournalConnected, (try? Journal.send(fields(event, merged))) != nil { return }
        // journald reads the priority from the front of a line; a person at a terminal would stumble over it.
        var text = isJournalConnected ? "<\(event.level.priority)>" : "authrefreshd: \(event.level): "
        text += line(event, merged)
        text += "\n"
        // Standard error that is gone cannot be told so.
        _ = text.withUTF8 { text in unsafe write(STDERR_FILENO, text.baseAddress, text.count) }
    }

    private func fields(_ event: LogEvent, _ metadata: Logger.Metadata) -> [JournalField] {
        var fields = [
            JournalField("MESSAGE", Self.shown(event.message.description)),
            JournalField("PRIORITY", "\(event.level.priority)"),
            JournalField("SYSLOG_IDENTIFIER", "authrefreshd"),
        ]
        for (key, value) in metadata {
            guard let name = JournalFieldName(key) else { continue }
            fields.append(JournalField(name, Self.shown(value.description)))
        }
        return fields
    }

    /// The message, and the metadata that says more than the journal's bookkeeping, on one line.
    private func line(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        var text = event.message.description
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) where key != JournalEvent.messageIDKey {
            text += " "
            text += key
            text += "="
            text += value.description
        }
        return Self.shown(text)
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
