/// A text for people, with the commands in it as values: `"sign in again: \(Command("login", account))"`.
///
/// The name of `authctl` is filled in when the text is shown, and a terminal does not break a command.
package struct Hint: Hashable, Sendable {
    package enum Part: Hashable, Sendable {
        case text(String)
        case command(Command)
    }

    package let parts: [Part]

    package init(parts: [Part]) {
        self.parts = parts
    }

    /// A text without commands, such as one that somebody else wrote.
    package init(_ text: String) {
        self.init(parts: text.isEmpty ? [] : [.text(text)])
    }

    /// A command alone.
    package init(_ command: Command) {
        self.init(parts: [.command(command)])
    }

    /// A hint that came over the wire.
    ///
    /// - Parameter command: the commands in the text, one per line. One that is not in the text is ignored.
    package init(_ text: String, command: String?) {
        var (parts, rest) = ([Part](), text[...])
        for line in (command ?? "").split(separator: "\n") {
            guard let range = rest.firstRange(of: line) else { continue }
            if range.lowerBound > rest.startIndex { parts.append(.text(String(rest[..<range.lowerBound]))) }
            parts.append(.command(Command(verbatim: String(line))))
            rest = rest[range.upperBound...]
        }
        self.init(parts: rest.isEmpty ? parts : parts + [.text(String(rest))])
    }

    /// The same for a field that may be absent.
    package init?(_ text: String?, command: String?) {
        guard let text else { return nil }
        self.init(text, command: command)
    }

    /// The whole text as it goes over the wire, where `authctl` has its usual name.
    package var text: String { text(by: .usual) }

    /// The commands in the text as they go beside it over the wire, one per line; nil if it has none.
    package var command: String? {
        let commands: [String] = parts.compactMap { part in
            if case .command(let command) = part { command.text(by: .usual) } else { nil }
        }
        return commands.isEmpty ? nil : commands.joined(separator: "\n")
    }

    package var isEmpty: Bool { parts.isEmpty }

    /// The whole text.
    package func text(by called: InvokedAs) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .command(let command): command.text(by: called)
            }
        }.joined()
    }

    /// Joins the pieces of a text that is too long for one literal.
    package static func + (first: Hint, second: Hint) -> Hint {
        Hint(parts: first.parts + second.parts)
    }
}

extension Hint: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) {
        self.init(text)
    }

    package init(stringInterpolation: StringInterpolation) {
        self.init(parts: stringInterpolation.parts)
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ text: String) {
            if !text.isEmpty { parts.append(.text(text)) }
        }

        package mutating func appendInterpolation(_ command: Command) {
            parts.append(.command(command))
        }

        package mutating func appendInterpolation(_ hint: Hint) {
            parts += hint.parts
        }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendLiteral(value.description)
        }
    }
}
