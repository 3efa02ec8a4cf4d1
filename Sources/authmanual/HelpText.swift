/// A command's discussion, split into the sections of a manual page.
struct HelpText {
    /// A paragraph, or lines that are not reformatted.
    enum Block: Equatable {
        case paragraph(String)
        case literal([String])
    }

    /// The beginnings of sections in a discussion, and their titles in the manual.
    private static let markers = [
        ("Environment:", "ENVIRONMENT"), ("Files:", "FILES"), ("Exit status:", "EXIT STATUS"),
        ("Examples:", "EXAMPLES"),
    ]

    /// The text before the first section.
    private(set) var description: [Block] = []
    /// The sections in the order of manual pages, without missing ones.
    var sections: [(title: String, blocks: [Block])] {
        Self.markers.compactMap { marker in
            byTitle[marker.1].map { (marker.1, $0) }
        }
    }
    private var byTitle: [String: [Block]] = [:]

    init(_ discussion: String) {
        var title: String?
        for part in discussion.split(separator: "\n\n") {
            let lines = part.split(separator: "\n").map(String.init)
            guard let first = lines.first else { continue }
            if let marker = Self.markers.first(where: { first.hasPrefix($0.0) }) {
                title = marker.1
                // The text after the marker is the section's first paragraph, and often its only one.
                let rest = first.dropFirst(marker.0.count).drop { $0 == " " }
                add(
                    rest.isEmpty ? nil : .paragraph(([String(rest)] + lines.dropFirst()).joined(separator: " ")),
                    to: title
                )
            } else {
                // What is not indented after the examples, the exit status or the environment is description again.
                if !first.hasPrefix("  ") { title = nil }
                add(Self.block(lines), to: title)
            }
        }
    }

    private mutating func add(_ block: Block?, to title: String?) {
        guard let block else { return }
        if let title { byTitle[title, default: []].append(block) } else { description.append(block) }
    }

    private static func block(_ lines: [String]) -> Block {
        let indent = "  "
        guard lines.allSatisfy({ $0.hasPrefix(indent) }) else { return .paragraph(lines.joined(separator: " ")) }
        return .literal(lines.map { String($0.dropFirst(indent.count)) })
    }
}
