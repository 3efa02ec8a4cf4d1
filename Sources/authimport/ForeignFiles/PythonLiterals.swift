/// The literals in a Python script: what is assigned to a name at the top level. It reads no more of the language.
struct PythonLiterals {
    /// A value in the script.
    enum Value: Equatable {
        case text(String)
        /// Anything that Python has to compute. The name is that of an environment variable, if it is read from one.
        case expression(environmentVariable: String?)
        case list([String])
        case dictionary([String: Value])
    }

    private enum Token: Equatable {
        case text(String)
        case word(String)
        case sign(Character)
    }

    private var tokens: ArraySlice<Token>

    /// The value that is assigned to `name`; nil if there is none.
    ///
    /// - Parameter place: what to look for before the value, as words and signs.
    static func value(after place: [String], in script: String) -> Value? {
        let all = tokens(in: script)
        let wanted = place.map {
            $0.count == 1 && !$0.contains(where: \.isLetter) ? Token.sign(Character($0)) : .word($0)
        }
        guard all.count > wanted.count,
            let start = all.indices.first(where: { all[$0...].starts(with: wanted) })
        else { return nil }
        var reader = PythonLiterals(tokens: all[(start + wanted.count)...])
        return reader.value()
    }

    private mutating func value() -> Value? {
        switch tokens.first {
        case .sign("{"): return .dictionary(dictionary())
        case .sign("["):
            let texts = expression().compactMap(Self.text)
            return .list(texts)
        case nil: return nil
        case .text, .word, .sign: return Self.literal(expression())
        }
    }

    /// The tokens up to the comma, or the end of the brackets, after a value.
    private mutating func expression() -> [Token] {
        var taken: [Token] = []
        var depth = 0
        while let token = tokens.first {
            if case .sign(let sign) = token {
                if depth == 0, ",}])\n".contains(sign) { break }
                if "([{".contains(sign) { depth += 1 }
                if ")]}".contains(sign) { depth -= 1 }
            }
            taken.append(token)
            tokens.removeFirst()
        }
        return taken
    }

    private mutating func dictionary() -> [String: Value] {
        tokens.removeFirst()
        var values: [String: Value] = [:]
        while let token = tokens.first, token != .sign("}") {
            guard case .text(let key) = token, tokens.dropFirst().first == .sign(":") else {
                // A comma, a line's end, or an entry that is not of this form.
                tokens.removeFirst()
                continue
            }
            tokens = tokens.dropFirst(2)
            while tokens.first == .sign("\n") { tokens.removeFirst() }
            values[key] = value()
        }
        tokens = tokens.dropFirst()
        return values
    }

    private static func literal(_ tokens: [Token]) -> Value {
        let isLiteral = tokens.allSatisfy { token in
            switch token {
            case .text: true
            case .sign(let sign): "()+\n".contains(sign)
            case .word: false
            }
        }
        let texts = tokens.compactMap(text)
        if isLiteral { return .text(texts.joined()) }
        if tokens == [.word("None")] { return .text("") }
        let readsEnvironment = tokens.contains(.word("environ")) || tokens.contains(.word("getenv"))
        return .expression(environmentVariable: readsEnvironment ? texts.first : nil)
    }

    private static func text(_ token: Token) -> String? {
        guard case .text(let text) = token else { return nil }
        return text
    }

    /// Splits a script. A line's end is a token, except in brackets, where it means nothing.
    private static func tokens(in script: String) -> [Token] {
        var tokens: [Token] = []
        var rest = script[...]
        var depth = 0
        while let first = rest.first {
            if first == "#" {
                rest = rest.drop { !$0.isNewline }
            } else if first == "\"" || first == "'" {
                tokens.append(.text(takeText(&rest, first)))
            } else if first.isLetter || first == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                rest = rest.dropFirst(word.count)
                // The prefixes of texts, except of those that Python fills in.
                let isPrefix = ["r", "u", "b"].contains(word.lowercased()) && "\"'".contains(rest.first ?? " ")
                if !isPrefix { tokens.append(.word(String(word))) }
            } else {
                rest.removeFirst()
                if "([{".contains(first) { depth += 1 }
                if ")]}".contains(first) { depth = max(0, depth - 1) }
                if first.isNewline, depth == 0 { tokens.append(.sign("\n")) }
                if !first.isWhitespace { tokens.append(.sign(first)) }
            }
        }
        return tokens
    }

    /// A text in quotes. One that is not closed ends with its line.
    private static func takeText(_ rest: inout Substring, _ quote: Character) -> String {
        let triple = String(repeating: quote, count: 3)
        if rest.hasPrefix(triple) {
            rest = rest.dropFirst(3)
            let end = rest.firstRange(of: triple)
            let text = rest[..<(end?.lowerBound ?? rest.endIndex)]
            rest = rest[(end?.upperBound ?? rest.endIndex)...]
            return String(text)
        }
        rest.removeFirst()
        var text = ""
        while let character = rest.first, !character.isNewline {
            rest.removeFirst()
            if character == quote { return text }
            text.append(character == "\\" ? rest.popFirst() ?? character : character)
        }
        return text
    }
}
