/// The content of an interface description, read without any of our own code.
struct InterfaceDescription {
    /// `name: ?type`, with the comment above it.
    struct Field: Equatable {
        var name: String
        /// The type without the `?`.
        var type: String
        var isOptional: Bool
        var comment: String
    }

    enum Kind: String {
        case type, method, error
    }

    /// A type, a method or an error.
    struct Member {
        var kind: Kind
        var name: String
        var comment: String
        /// The fields; of a method, its parameters.
        var fields: [Field]
        /// The fields of a method's reply; empty for types and errors.
        var reply: [Field] = []
    }

    struct SyntaxError: Error {
        var at: String
    }

    private(set) var name = ""
    private(set) var members: [Member] = []
    private var tokens: ArraySlice<Token>

    init(_ text: String) throws {
        tokens = Token.split(text)[...]
        _ = takeComment()
        try expect("interface")
        name = try take()
        while !tokens.isEmpty { members.append(try member()) }
    }

    func members(_ kind: Kind) -> [Member] {
        members.filter { $0.kind == kind }
    }

    private mutating func member() throws -> Member {
        let comment = takeComment()
        guard let kind = Kind(rawValue: try take()) else { throw SyntaxError(at: "a member's kind") }
        var member = Member(kind: kind, name: try take(), comment: comment, fields: try fields())
        if kind == .method {
            try expect("->")
            member.reply = try fields()
        }
        return member
    }

    private mutating func fields() throws -> [Field] {
        try expect("(")
        var fields: [Field] = []
        while tokens.first?.text != ")" {
            let comment = takeComment()
            let name = try take()
            try expect(":")
            var type = ""
            while let next = tokens.first, !next.isComment, next.text != ",", next.text != ")" { type += try take() }
            fields.append(
                Field(
                    name: name,
                    type: type.hasPrefix("?") ? String(type.dropFirst()) : type,
                    isOptional: type.hasPrefix("?"),
                    comment: comment
                )
            )
            if tokens.first?.text == "," { tokens.removeFirst() }
        }
        try expect(")")
        return fields
    }

    private mutating func takeComment() -> String {
        var lines: [String] = []
        while let token = tokens.first, token.isComment {
            lines.append(token.text)
            tokens.removeFirst()
        }
        return lines.joined(separator: " ")
    }

    private mutating func take() throws -> String {
        guard let token = tokens.popFirst(), !token.isComment else { throw SyntaxError(at: "the end, or a comment") }
        return token.text
    }

    private mutating func expect(_ text: String) throws {
        let found = try take()
        guard found == text else { throw SyntaxError(at: "'\(found)' in place of '\(text)'") }
    }

    private struct Token {
        var text: String
        var isComment = false

        static func split(_ text: String) -> [Token] {
            text.split(separator: "\n").flatMap { line in
                let parts = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let words = parts[0].matches(of: /->|[A-Za-z][A-Za-z0-9_.]*|[():,?\[\]]/).map {
                    Token(text: String($0.0))
                }
                guard parts.count > 1 else { return words }
                return words + [Token(text: parts[1].drop { $0 == " " }.description, isComment: true)]
            }
        }
    }
}
