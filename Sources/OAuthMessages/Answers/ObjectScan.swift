/// Finds the end of the JSON object with which a text begins, in one pass over the text's parts.
///
/// It looks only at brackets and strings. Whether the object is right is for the reader to say.
package struct ObjectScan: Sendable {
    private enum Position {
        case before
        case inside
        case inString(isEscaped: Bool)
        case over
    }

    private var position = Position.before
    private var depth = 0
    private var count = 0

    /// The number of the text's bytes up to the end of the object; nil if it has not ended, or the text does not begin
    /// with an object.
    package private(set) var end: Int?

    package init() {}

    /// The scan of a whole text.
    package init(_ text: some Sequence<UInt8>) {
        take(text)
    }

    /// Continues with the next part of the text.
    package mutating func take(_ part: some Sequence<UInt8>) {
        for byte in part {
            if case .over = position { return }
            count += 1
            take(byte)
        }
    }

    private mutating func take(_ byte: UInt8) {
        switch (position, byte) {
        case (.inString(isEscaped: true), _): position = .inString(isEscaped: false)
        case (.inString, UInt8(ascii: "\\")): position = .inString(isEscaped: true)
        case (.inString, UInt8(ascii: "\"")): position = .inside
        case (.inString, _), (.over, _): break
        case (.before, UInt8(ascii: "{")): (position, depth) = (.inside, 1)
        // White space, and the byte order mark that some servers put before text.
        case (.before, 0...0x20), (.before, 0xef), (.before, 0xbb), (.before, 0xbf): break
        case (.before, _): position = .over
        case (.inside, UInt8(ascii: "\"")): position = .inString(isEscaped: false)
        case (.inside, UInt8(ascii: "{")), (.inside, UInt8(ascii: "[")): depth += 1
        case (.inside, UInt8(ascii: "}")), (.inside, UInt8(ascii: "]")):
            depth -= 1
            if depth == 0 { (position, end) = (.over, count) }
        case (.inside, _): break
        }
    }
}

/// What is an answer although its framing is broken: a length that is wrong, a last chunk that is missing, a connection
/// that was cut. The answer may hold the only refresh token that the server still accepts.
package enum WholeAnswer {
    /// The longest object that is looked for behind a notice or a page, in bytes. Real answers with tokens have a few
    /// KiB.
    package static let trailingBytesMax = 64 << 10
    /// How many beginnings of an object are tried there.
    private static let beginningsMax = 64

    /// Whether `text` begins with an object with which the answer is complete: one with a token, or an error.
    ///
    /// - Parameter end: where the object ends.
    package static func isConclusive(_ text: [UInt8], until end: Int) -> Bool {
        guard let fields = JSONTree.object(inAnswer: start(of: text[..<end])) else { return false }
        return holdsToken(fields) || fields["error"].map { $0 != .null } ?? false
    }

    /// The part of `text` that is an answer, although the text's end did not come as announced; nil if none is.
    ///
    /// A cut object never is.
    package static func part(of text: [UInt8], trustsServer: Bool) -> [UInt8]? {
        if let end = ObjectScan(text).end {
            let object = start(of: text[..<end])
            guard JSONTree.object(inAnswer: object) != nil else { return nil }
            return isConclusive(text, until: end) || text[end...].allSatisfy { $0 <= 0x20 } ? object : nil
        }
        return trustsServer ? trailingTokens(in: text) : nil
    }

    /// The object with tokens with which `text` ends, after a notice of PHP or the beginning of a page; nil if there is
    /// none. Ask only if the server is the one that was meant: a captive portal must not answer so.
    package static func trailingTokens(in text: [UInt8]) -> [UInt8]? {
        guard let last = text.lastIndex(where: { $0 > 0x20 }), text[last] == UInt8(ascii: "}") else { return nil }
        let end = last + 1
        let region = text[max(0, end - trailingBytesMax)..<end]
        var found: [UInt8]?
        for begin in region.indices.filter({ region[$0] == UInt8(ascii: "{") }).suffix(beginningsMax) {
            guard ObjectScan(region[begin...]).end == end - begin else { continue }
            let object = Array(region[begin...])
            if let fields = JSONTree.object(inAnswer: object), holdsToken(fields) {
                found = object
                break
            }
        }
        return found
    }

    /// Whether the text may be a form (RFC 6749, appendix B), which does not show that its end is missing.
    package static func isForm(_ text: [UInt8]) -> Bool {
        guard let first = text.first(where: { $0 > 0x20 }) else { return false }
        return ![UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "[")].contains(first)
            && text.contains(UInt8(ascii: "="))
    }

    private static func holdsToken(_ fields: [String: JSONTree]) -> Bool {
        ["access_token", "refresh_token"].contains { fields[$0]?.text?.isEmpty == false }
    }

    /// The text from its first bracket.
    private static func start(of text: ArraySlice<UInt8>) -> [UInt8] {
        Array(text.drop { $0 != UInt8(ascii: "{") })
    }
}
