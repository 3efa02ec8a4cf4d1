/// A JSON value that goes into a token of ours.
indirect enum JSONText: Sendable {
    case text(String)
    case number(Int64)
    case texts([String])
    case object([(name: String, value: JSONText)])
    /// JSON that somebody else wrote, checked already.
    case raw(String)

    /// The value as JSON without white space, members in the order given: RFC 7638 hashes these bytes.
    var written: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .number(let number): "\(number)"
        case .texts(let texts): "[" + texts.map(Self.quoted).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.written }.joined(separator: ",") + "}"
        case .raw(let json): json
        }
    }

    /// RFC 8259 §7: quotes, backslashes and control characters are escaped, all else stands for itself.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5C: quoted += "\\" + String(Character(scalar))
            case 0..<0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
