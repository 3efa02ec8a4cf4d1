/// Escapes text for mdoc(7).
enum Mdoc {
    /// Text for a separate line, or for the arguments of a macro.
    static func text(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            // Characters that groff would typeset must stay as they are, so that they can be copied into a shell.
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "\"": escaped += "\\(dq"
            default:
                if scalar.isASCII {
                    escaped.unicodeScalars.append(scalar)
                } else {
                    escaped += "\\[u" + hexadecimal(scalar) + "]"
                }
            }
        }
        // A leading dot would be a macro.
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }

    /// A paragraph as source lines: each sentence begins on a new line, so that the formatter knows where it ends.
    static func paragraph(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            // A name such as AUTHREFRESH_SOCKET must not be hyphenated.
            let word = (word.contains("_") ? "\\%" : "") + Self.text(String(word))
            if !line.isEmpty, line.count + word.count >= width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
            if [".", "?", "!"].contains(word.last) {
                lines.append(line)
                line = ""
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// The line length that mandoc(1) recommends.
    private static let width = 80

    /// groff requires at least four digits.
    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
