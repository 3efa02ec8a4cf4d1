internal import CSystemd
internal import Glibc

/// The system's journal, written to by its native protocol (sd_journal_sendv(3)).
package enum Journal {
    /// Whether standard error goes to the journal, so that writing to the journal directly takes nothing from anyone.
    ///
    /// A variable alone proves nothing: it is inherited by children whose standard error was redirected.
    package static var isConnected: Bool {
        guard let stream = unsafe getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return unsafe String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one entry; where no journald runs it goes nowhere, without an error.
    ///
    /// libsystemd length-prefixes values that hold a line break, and passes an entry too large for a datagram as a sealed
    /// memory file, so a value may be any bytes of any length.
    ///
    /// - Throws: `journalRefused`. The entry is lost; standard error is the place to say so.
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
        guard result >= 0 else { throw .journalRefused(errno: -result) }
    }
}

/// One field of a journal entry: a name and bytes that may be anything (systemd.journal-fields(7)).
package struct JournalField: Hashable, Sendable {
    package let name: JournalFieldName
    /// The value; line breaks and zero bytes are kept.
    package let value: [UInt8]

    package init(_ name: JournalFieldName, _ value: String) {
        self.init(name, bytes: Array(value.utf8))
    }

    package init(_ name: JournalFieldName, _ id: MessageID) {
        self.init(name, id.description)
    }

    package init(_ name: JournalFieldName, bytes: [UInt8]) {
        self.name = name
        self.value = bytes
    }

    /// `NAME=value`, the form that `sd_journal_sendv` takes whatever the value holds.
    var assignment: [UInt8] {
        Array(name.text.utf8) + [UInt8(ascii: "=")] + value
    }
}

/// The name of a field that a client may set in the journal.
///
/// 1 to 64 of `A`–`Z`, `0`–`9` and `_`, beginning with a letter: journald drops a field whose name breaks that rule, and a
/// leading underscore marks what journald itself vouches for.
package struct JournalFieldName: Hashable, Sendable {
    package let text: String

    /// The name `text`; nil if journald would not take it.
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
    /// The name written in the source; traps if journald would not take it, for then the source is wrong.
    package init(stringLiteral text: StaticString) {
        guard let name = JournalFieldName(text.description) else {
            preconditionFailure("journald takes no field named \"\(text)\"")
        }
        self = name
    }
}

/// A 128-bit id that marks all journal entries of one kind; the catalog explains each (`journalctl -x`).
package struct MessageID: Hashable, Sendable, CustomStringConvertible {
    /// The first 16 hexadecimal digits of the text.
    package let high: UInt64
    /// The last 16 hexadecimal digits of the text.
    package let low: UInt64

    package init(_ high: UInt64, _ low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id written as `text`; nil unless that is 32 hexadecimal digits.
    package init?(text: String) {
        let digits = text.utf8
        guard digits.count == 32, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high, low)
    }

    /// 32 lower-case hexadecimal digits, as `MESSAGE_ID=` and the catalog have them.
    package var description: String {
        Self.digits(high) + Self.digits(low)
    }

    private static func digits(_ half: UInt64) -> String {
        let digits = String(half, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
