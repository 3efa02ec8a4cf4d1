/// Lines of name and value, lined up.
enum NamedLines {
    /// Where values begin; longer names push theirs to the right.
    private static let width = 16

    /// The lines, each with its newline. What has no value is left out.
    static func text(_ lines: [(name: String, value: String?)]) -> String {
        lines.reduce(into: "") { text, line in
            guard let value = line.value else { return }
            let padding = String(repeating: " ", count: max(1, width - line.name.count))
            text += line.name + padding + PlainText.line(value) + "\n"
        }
    }

    /// A line for each member, in the order of their names.
    static func members(_ name: String, _ members: [String: String]?) -> [(name: String, value: String?)] {
        (members ?? [:]).sorted { $0.key < $1.key }.map { (name, "\($0.key)=\($0.value)") }
    }
}
