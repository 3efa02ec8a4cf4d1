/// A look at a list or mapping in brackets that a caller wrote (YAML's flow style), before YAML's composer sees it.
///
/// The composer copies what an alias names, so that some hundred bytes of aliases of aliases stand for more than memory holds. Anchors,
/// aliases and tags are therefore refused unless they stand in quotes, and so is all that the composer could see quotes differently in:
/// quotes in the midst of a text, comments, line breaks.
struct PlainFlowText {
    /// Brackets in brackets: no key of a profile has more than two, and the composer takes stack for each.
    static let depthMax = 4

    private var depth = 0
    /// The quotes that are open; nil outside.
    private var quote: Unicode.Scalar?
    private var isEscaped = false
    /// The last one outside of quotes that was no space, or the quotes that were closed last; nil at the start.
    private var last: Unicode.Scalar?
    /// Whether spaces stand behind `last`.
    private var isSpaced = false
    /// Whether `last` is a colon behind a key in quotes: that needs no space.
    private var endsQuotedKey = false

    /// Whether `text` is brackets that close, with texts alone in them, and can be composed without growing.
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
        // Nothing stands behind the brackets.
        guard takesPlain(scalar), last == nil || depth > 0 || scalar == "]" || scalar == "}" else { return false }
        endsQuotedKey = scalar == ":" && (last == "\"" || last == "'")
        (last, isSpaced) = (scalar, false)
        return true
    }

    /// Two single quotes stand for one: they close and open again here, which ends at the same place.
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
        // A key is a text.
        case ":": return last != "]" && last != "}"
        default: break
        }
        return true
    }

    /// Whether a text may begin here, so that YAML takes quotes for quotes.
    private func opensQuotes(_ quote: Unicode.Scalar) -> Bool {
        switch last {
        case "[", "{", ",": true
        case ":": isSpaced || endsQuotedKey
        case "'": quote == "'" && !isSpaced
        default: false
        }
    }
}
