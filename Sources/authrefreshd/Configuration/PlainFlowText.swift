/// Checks a caller's list or mapping in brackets (YAML's flow style) before YAML's composer reads it.
///
/// The composer copies what an alias refers to, so some hundred bytes of nested aliases can expand to more than the
/// memory holds. Anchors, aliases and tags are therefore refused outside quotes. So is everything about which the
/// composer could have a different view of quotes: quotes inside a text, comments, line breaks.
struct PlainFlowText {
    /// The deepest nesting of brackets. No key of a profile has more than two levels, and the composer uses stack for
    /// each.
    static let depthMax = 4

    private var depth = 0
    /// The open quote; nil outside of quotes.
    private var quote: Unicode.Scalar?
    private var isEscaped = false
    /// The last character outside of quotes that is not a space, or the last closing quote; nil at the start.
    private var last: Unicode.Scalar?
    /// Whether spaces follow `last`.
    private var isSpaced = false
    /// Whether `last` is a colon after a quoted key, which needs no space after it.
    private var endsQuotedKey = false

    /// Whether `text` is a closed pair of brackets that contains only texts and does not grow when it is composed.
    static func isPlain(_ text: String) -> Bool {
        var look = PlainFlowText()
        guard text.unicodeScalars.allSatisfy({ look.takes($0) }), look.depth == 0 else { return false }
        return look.last == "]" || look.last == "}"
    }

    private mutating func takes(_ scalar: Unicode.Scalar) -> Bool {
        let breaking: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
        guard !breaking.contains(scalar.properties.generalCategory) else { return false }
        if let quote {
            takeQuoted(scalar, in: quote)
            return true
        }
        if scalar == " " {
            isSpaced = true
            return true
        }
        // Nothing may follow the closing bracket.
        guard takesPlain(scalar), last == nil || depth > 0 || scalar == "]" || scalar == "}" else { return false }
        endsQuotedKey = scalar == ":" && (last == "\"" || last == "'")
        (last, isSpaced) = (scalar, false)
        return true
    }

    /// Reads a quoted character. Two single quotes stand for one: here they close and open again, with the same end.
    private mutating func takeQuoted(_ scalar: Unicode.Scalar, in quote: Unicode.Scalar) {
        if isEscaped {
            isEscaped = false
        } else if scalar == "\\", quote == "\"" {
            isEscaped = true
        } else if scalar == quote {
            self.quote = nil
        }
    }

    private mutating func takesPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "&", "*", "!", "#", "?": return false
        case "\"", "'":
            guard opensQuotes(scalar) else { return false }
            quote = scalar
        case "[", "{":
            depth += 1
            return depth <= Self.depthMax && (depth > 1 || last == nil)
        case "]", "}":
            depth -= 1
            return depth >= 0
        // A key must be a text.
        case ":": return last != "]" && last != "}"
        default: break
        }
        return true
    }

    /// Whether a text may begin here, so that YAML reads a quote as a quote.
    private func opensQuotes(_ quote: Unicode.Scalar) -> Bool {
        switch last {
        case "[", "{", ",": true
        case ":": isSpaced || endsQuotedKey
        case "'": quote == "'" && !isSpaced
        default: false
        }
    }
}
