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
