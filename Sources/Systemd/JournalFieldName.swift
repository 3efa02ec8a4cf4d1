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
