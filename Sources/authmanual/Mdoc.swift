/// Text as mdoc(7) takes it.
enum Mdoc {
    /// Text for a line of its own, or for the arguments of a macro.
    static func text(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            // What groff would set as typographic signs must stay what can be copied into a shell.
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
        // A point at the beginning would be a macro.
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }

    /// A paragraph as lines of a source file: each sentence on a new one, so that the formatter knows where it ends.
    static func paragraph(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            // A name such as AUTHREFRESH_SOCKET is not to be hyphenated.
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

    /// What mandoc(1) likes best.
    private static let width = 80

    /// groff wants at least four digits.
    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
