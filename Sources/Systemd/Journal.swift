internal import CSystemd
internal import Glibc

/// Writes to the system's journal by its native protocol (sd_journal_sendv(3)).
package enum Journal {
    /// Whether standard error is connected to the journal, so that writing directly to the journal takes nothing away
    /// from anyone.
    ///
    /// The environment variable alone proves nothing: children inherit it even if their standard error was redirected.
    package static var isConnected: Bool {
        guard let stream = unsafe getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return unsafe String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one entry. If no journald runs, the entry is lost without an error.
    ///
    /// libsystemd adds a length to values with a line break, and passes an entry that is too large for a datagram as a
    /// sealed memory file. So a value may have any bytes and any length.
    ///
    /// - Throws: if the journal refuses the entry. It is lost; report that on standard error.
    package static func send(_ fields: [JournalField]) throws(SystemdError) {
        guard !fields.isEmpty else { return }
        let assignments = fields.map(\.assignment)
        var entry = assignments.flatMap { $0 }
        let result = unsafe entry.withUnsafeMutableBytes { bytes in
            var offset = 0
            let vectors = unsafe assignments.map { assignment in
                defer { offset += assignment.count }
                return unsafe iovec(iov_base: bytes.baseAddress?.advanced(by: offset), iov_len: assignment.count)
            }
            return unsafe sd_journal_sendv(vectors, Int32(clamping: vectors.count))
        }
        guard result >= 0 else { throw SystemdError("cannot write to the journal", errno: -result) }
    }
}

/// One field of a journal entry: a name and any bytes (systemd.journal-fields(7)).
package struct JournalField: Hashable, Sendable {
    package let name: JournalFieldName
    /// The value; line breaks and zero bytes are kept.
    package let value: [UInt8]

    package init(_ name: JournalFieldName, _ value: String) {
        self.init(name, bytes: Array(value.utf8))
    }

    package init(_ name: JournalFieldName, bytes: [UInt8]) {
        self.name = name
        self.value = bytes
    }

    /// `NAME=value`, the form of `sd_journal_sendv`, for any value.
    var assignment: [UInt8] {
        Array(name.text.utf8) + [UInt8(ascii: "=")] + value
    }
}

/// The name of a journal field that a client may set.
///
/// It has 1 to 64 of `A`–`Z`, `0`–`9` and `_`, and begins with a letter. journald drops a field whose name breaks that
/// rule. A leading underscore marks fields that journald itself sets.
package struct JournalFieldName: Hashable, Sendable {
    package let text: String

    /// Creates a name; nil if journald would not accept `text`.
    package init?(_ text: String) {
        let name = Array(text.utf8)
        guard let first = name.first, Self.letters.contains(first), name.count <= Self.maximumLength,
            name.allSatisfy({ Self.letters.contains($0) || Self.digits.contains($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        self.text = text
    }

    /// journald's own limit.
    package static let maximumLength = 64

    private static let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
}

extension JournalFieldName: ExpressibleByStringLiteral {
    /// Creates a name from a literal. It traps if journald would not accept the name, because that is a bug in the
    /// source.
    package init(stringLiteral text: StaticString) {
        guard let name = JournalFieldName(text.description) else {
            preconditionFailure("journald takes no field named \"\(text)\"")
        }
        self = name
    }
}
