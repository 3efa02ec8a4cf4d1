internal import Basics
internal import Glibc
internal import TextEncodings
internal import Yams

/// The file of `authctl apply` as JSON. It may be YAML, which authctl cannot read, because it is linked statically.
struct SettingsText {
    /// The most bytes of the file, and of the JSON that it stands for: no call of the daemon may be longer. A few lines
    /// of aliases can stand for more than fits into memory.
    private static let bytesMax = 1 << 20
    /// An account is a mapping of mappings, in a list.
    private static let nestingMax = 16

    private(set) var json = ""
    private let origin: String

    /// Reads the file.
    ///
    /// - Parameter file: its path, or `-` for standard input.
    init(_ file: String) throws(ProgramError) {
        origin = file == "-" ? "standard input" : file
        let text = try SourceText.read(try bytes(of: file), origin: origin, expected: "YAML or JSON")
        // YAML has other escapes than JSON.
        guard JSONValue(text) == nil else {
            json = text
            return
        }
        do {
            guard let root = try Yams.compose(yaml: text) else { throw ProgramError(.badData, "'\(origin)' is empty") }
            try add(root, depth: 0)
        } catch let error as ProgramError {
            throw error
        } catch let error as YamlError {
            throw refusal(error.reason)
        } catch {
            throw refusal("this is neither YAML nor JSON")
        }
    }

    private func refusal(_ reason: String) -> ProgramError {
        ProgramError(.badData, "'\(origin)' cannot be read: \(reason)")
    }

    private func bytes(of file: String) throws(ProgramError) -> [UInt8] {
        let descriptor = file == "-" ? STDIN_FILENO : unsafe open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .unreadable(origin, errno: errno) }
        defer { close(descriptor) }
        guard let bytes = try SourceFile.contents(of: descriptor, origin, atMost: Self.bytesMax) else {
            throw refusal("it has more than \(Self.bytesMax) bytes")
        }
        return bytes
    }

    /// Writes a value of the YAML as JSON.
    private mutating func add(_ node: Node, depth: Int) throws(ProgramError) {
        guard depth < Self.nestingMax, json.utf8.count <= Self.bytesMax else {
            throw refusal("it is nested too deeply, or its aliases stand for too much")
        }
        switch node {
        case .scalar(let scalar): json += Self.value(scalar, node)
        case .sequence(let sequence):
            json += "["
            for (index, element) in sequence.enumerated() {
                if index > 0 { json += "," }
                try add(element, depth: depth + 1)
            }
            json += "]"
        case .mapping(let mapping):
            json += "{"
            for (index, (key, value)) in try members(of: mapping, depth: depth).enumerated() {
                json += (index > 0 ? "," : "") + JSONText.quote(key) + ":"
                try add(value, depth: depth + 1)
            }
            json += "}"
        case .alias: throw refusal("an alias has no anchor before it")
        }
    }

    /// The members of a mapping, after those of the mappings that it merges (`<<`) and does not name itself.
    private func members(of mapping: Node.Mapping, depth: Int) throws(ProgramError) -> [(String, Node)] {
        guard depth < Self.nestingMax else { throw refusal("it is nested too deeply") }
        var members: [(String, Node)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string else { throw refusal("a key is not a text") }
            guard name == "<<" else {
                members.append((name, value))
                continue
            }
            for merged in value.sequence.map(Array.init) ?? [value] {
                guard let other = merged.mapping else { throw refusal("'<<' does not name a mapping") }
                for member in try self.members(of: other, depth: depth + 1)
                where mapping[member.0] == nil && !members.contains(where: { $0.0 == member.0 }) {
                    members.append(member)
                }
            }
        }
        return members
    }

    /// The JSON of a scalar. Whatever is no whole number, Boolean or null stays the text that was written: a version
    /// such as 1.10 is not 1.1.
    private static func value(_ scalar: Node.Scalar, _ node: Node) -> String {
        switch node.tag.rawValue {
        case Tag.Name.null.rawValue: "null"
        case Tag.Name.bool.rawValue: node.bool.map { $0 ? "true" : "false" } ?? JSONText.quote(scalar.string)
        case Tag.Name.int.rawValue: node.int.map(String.init) ?? JSONText.quote(scalar.string)
        default: JSONText.quote(scalar.string)
        }
    }
}

extension YamlError {
    /// What is wrong, and where. The error's own description would repeat the text, which may contain secrets.
    fileprivate var reason: String {
        switch self {
        // Only a second document has a context.
        case .composer(.some, _, let mark, _): "line \(mark.line): a second document begins"
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "line \(mark.line): this is neither YAML nor JSON: \(problem)"
        case .duplicatedKeysInMapping(let names, let context):
            "line \(context.mark.line): '\(names.first ?? "")' stands there twice"
        // All other cases are about the bytes, which were checked, or about writing YAML.
        default: "this is neither YAML nor JSON"
        }
    }
}
