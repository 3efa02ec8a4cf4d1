/// Recognizes text that cannot be a refresh token, which is nearly always the content of a wrong file.
package enum RefreshTokenText {
    /// What the text is instead. The raw values are words for people.
    package enum Finding: String, Sendable {
        case html = "HTML"
        case json = "JSON"
        case lines = "several words or lines"
        case unprintable = "something that is not printable ASCII"
    }

    /// What is wrong with `text`; nil if it may be a refresh token: printable ASCII (RFC 6749 §A.17). Known servers'
    /// tokens contain no blanks, and do not begin like HTML or JSON.
    package static func flaw(in text: String) -> Finding? {
        let bytes = text.utf8
        switch bytes.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "<"): return .html
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): return .json
        default: break
        }
        if bytes.contains(where: { [0x09, 0x0A, 0x0D, 0x20].contains($0) }) { return .lines }
        return bytes.allSatisfy { (0x21...0x7E).contains($0) } ? nil : .unprintable
    }
}
