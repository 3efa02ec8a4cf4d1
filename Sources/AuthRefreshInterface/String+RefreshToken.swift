extension String {
    /// What the text is instead of a refresh token, in words for people; nil if it may be one: printable ASCII (RFC 6749
    /// §A.17). Known servers' tokens contain no blanks, and do not begin like HTML or JSON. A text that cannot be one is
    /// nearly always the content of a wrong file.
    package var flawAsRefreshToken: String? {
        let bytes = utf8
        switch bytes.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "<"): return "HTML"
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): return "JSON"
        default: break
        }
        if bytes.contains(where: { [0x09, 0x0A, 0x0D, 0x20].contains($0) }) { return "several words or lines" }
        return bytes.allSatisfy { (0x21...0x7E).contains($0) } ? nil : "something that is not printable ASCII"
    }
}
