internal import BlockingWork
internal import Foundation
internal import Yams

/// Reads YAML files, and says by file, line and key what is wrong in them.
enum ConfigurationFile {
    /// The largest file that is read; real ones have a few KiB.
    private static let largestFile = 1 << 20

    /// - Throws: `ConfigurationError` with the first thing that is wrong.
    static func decode<T: Decodable>(_ type: T.Type, at path: String) throws(ConfigurationError) -> T {
        try decode(type, from: text(at: path), path: path)
    }

    /// - Throws: `unreadable`.
    static func text(at path: String) throws(ConfigurationError) -> String {
        do throws(RegularFile.Fault) {
            return String(decoding: try RegularFile.contents(of: path, limit: largestFile), as: UTF8.self)
        } catch {
            throw .unreadable(path: path, reason: error.description)
        }
    }

    /// - Parameter path: what error messages name.
    static func decode<T: Decodable>(_ type: T.Type, from text: String, path: String) throws(ConfigurationError) -> T {
        do {
            // An empty file, or one of comments only, says nothing and so changes nothing.
            guard let root = try Yams.compose(yaml: text) else { return try YAMLDecoder().decode(type, from: "{}") }
            do {
                return try YAMLDecoder().decode(type, from: root)
            } catch let error as DecodingError {
                throw invalid(error, in: root, path: path)
            }
        } catch let error as ConfigurationError {
            throw error
        } catch let error as YamlError {
            throw .invalid(path: path, line: error.line, key: "", reason: "this is not YAML: \(error.problem)")
        } catch {
            throw .invalid(path: path, line: 1, key: "", reason: "this is not YAML")
        }
    }

    private static func invalid(_ error: DecodingError, in root: Node, path: String) -> ConfigurationError {
        let (codingPath, reason) = error.place
        let keys = codingPath.map(\.stringValue)
        return .invalid(
            path: path,
            line: line(of: keys, in: root),
            key: keys.joined(separator: "."),
            reason: reason
        )
    }

    /// The line, from 1, of the key that `keys` lead to; of the innermost that is there, if not all of them are.
    private static func line(of keys: [String], in root: Node) -> Int {
        var node = root
        var line = root.mark?.line ?? 1
        for key in keys {
            guard let mapping = node.mapping, let pair = mapping.first(where: { $0.key.string == key }) else { break }
            line = pair.key.mark?.line ?? line
            node = pair.value
        }
        return line
    }
}

extension DecodingError {
    /// Where it happened, and what is wrong there.
    var place: (path: [any CodingKey], reason: String) {
        switch self {
        case .typeMismatch(let type, let context): (context.codingPath, "must be \(Self.name(of: type))")
        case .valueNotFound(let type, let context): (context.codingPath, "must be \(Self.name(of: type)), it is empty")
        case .keyNotFound(let key, let context): (context.codingPath + [key], "is missing")
        case .dataCorrupted(let context): (context.codingPath, context.debugDescription)
        @unknown default: ([], "cannot be used")
        }
    }

    private static func name(of type: Any.Type) -> String {
        switch type {
        case is String.Type: "text"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        default: "a mapping of keys to values"
        }
    }
}

extension YamlError {
    /// From 1.
    fileprivate var line: Int {
        switch self {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        default: 1
        }
    }

    fileprivate var problem: String {
        switch self {
        case .scanner(_, let problem, _, _), .parser(_, let problem, _, _), .composer(_, let problem, _, _): problem
        default: "it cannot be parsed"
        }
    }
}
