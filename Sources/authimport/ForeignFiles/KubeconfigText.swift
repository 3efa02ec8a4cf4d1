internal import Yams

/// The users in the text of a kubeconfig file.
///
/// Aliases are followed one by one, where a value is wanted: a few lines of aliases can stand for more than fits into
/// memory.
struct KubeconfigText {
    /// One entry of the list `users`; nil if it cannot be read.
    private(set) var users: [Node?]
    private var anchors: [String: Node] = [:]

    /// The tag that marks an alias before the file is parsed.
    private static let aliasTag = "!alias"
    /// How often an alias may lead to another one.
    private static let depthMax = 8

    /// Reads the file; nil if it is not a kubeconfig file.
    ///
    /// If the file as a whole is not YAML, each user is read alone, so that one bad line hides only its own user.
    init?(_ text: String) {
        let marked = Self.marked(text)
        if let file = Self.node(marked, &anchors)?.mapping {
            users = file["users"]?.sequence?.map(\.self) ?? []
            return
        }
        let entries = Self.entries(in: text)
        guard !entries.isEmpty else { return nil }
        users = []
        for entry in entries { users.append(Self.node(Self.marked(entry), &anchors)?.sequence?.first) }
    }

    /// The value of a key; nil if it is missing. A key that is missing may be in a mapping that is merged (`<<`).
    func value(_ key: String, in mapping: Node.Mapping?, depth: Int = 0) -> Node? {
        guard let mapping, depth < Self.depthMax else { return nil }
        if let value = mapping[key] { return followed(value) }
        guard let merged = mapping["<<"].flatMap({ followed($0) }) else { return nil }
        let others = merged.sequence.map(Array.init) ?? [merged]
        return others.lazy.compactMap { value(key, in: followed($0)?.mapping, depth: depth + 1) }.first
    }

    /// The texts of a list.
    func texts(_ node: Node?) -> [String]? {
        node?.sequence.map { $0.compactMap { followed($0)?.string } }
    }

    private func followed(_ node: Node) -> Node? {
        var node = node
        for _ in 0..<Self.depthMax {
            guard let scalar = node.scalar, node.tag.rawValue == Self.aliasTag else { return node }
            guard let other = anchors[scalar.string] else { return nil }
            node = other
        }
        return nil
    }

    /// The text in which each alias `*name` is a scalar with a tag of its own.
    private static func marked(_ text: String) -> String {
        text.replacing(/(^|[\s\[{,:-])\*([A-Za-z0-9_-]+)(?=[\s,\]}]|$)/.anchorsMatchLineEndings()) {
            "\($0.1)\(aliasTag) \($0.2)"
        }
    }

    private static func node(_ text: String, _ anchors: inout [String: Node]) -> Node? {
        guard let parser = try? Parser(yaml: text), let root = try? parser.singleRoot() else { return nil }
        // The nodes do not keep their anchors, but the parser does.
        withExtendedLifetime(parser) { collect(root, &anchors) }
        return root
    }

    private static func collect(_ node: Node, _ anchors: inout [String: Node]) {
        if let anchor = node.anchor { anchors[anchor.rawValue] = node }
        for child in node.sequence.map(Array.init) ?? [] { collect(child, &anchors) }
        for (key, value) in node.mapping.map(Array.init) ?? [] {
            collect(key, &anchors)
            collect(value, &anchors)
        }
    }

    /// The text of each entry in the list `users`, by the indentation of the dashes.
    private static func entries(in text: String) -> [String] {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("users:") }) else { return [] }
        let isInList = { (line: Substring) in line.first.map { " \t-#".contains($0) } ?? true }
        let list = lines[(start + 1)...].prefix(while: isInList)
        let indentation = { (line: Substring) in line.prefix { $0 == " " }.count }
        guard let first = list.first(where: { $0.trimmed.hasPrefix("-") }).map(indentation) else { return [] }
        var entries: [String] = []
        for line in list {
            if indentation(line) == first, line.trimmed.hasPrefix("-") { entries.append("") }
            if !entries.isEmpty { entries[entries.count - 1] += line + "\n" }
        }
        return entries
    }
}
