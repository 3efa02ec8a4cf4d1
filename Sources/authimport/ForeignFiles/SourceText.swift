internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// The text of another program's file.
enum SourceText {
    /// The text, without a byte order mark, which editors of other systems write.
    ///
    /// - Throws: `tooLarge`, or `wrongFormat` if it is not text.
    static func read(_ bytes: [UInt8], origin: String, expected: String) throws(ProgramError) -> String {
        guard bytes.count <= ImportLimit.sourceBytesMax else { throw .tooLarge(origin) }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw .wrongFormat(origin, expected: expected)
        }
        guard text.unicodeScalars.first == "\u{FEFF}" else { return text }
        return String(text.unicodeScalars.dropFirst())
    }

    /// A value without the quotes that some editors and formatters put around it.
    static func unquoted(_ text: String) -> String {
        guard text.count > 1, let first = text.first, "\"'`".contains(first), text.last == first else { return text }
        let inner = String(text.dropFirst().dropLast())
        return first == "\"" ? inner.replacing("\\\"", with: "\"") : inner
    }
}

extension Substring {
    /// The text without white space around it.
    var trimmed: Substring {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension JSONFields {
    /// Parses an object.
    ///
    /// - Throws: `tooLarge`, or `wrongFormat` if the bytes are not a JSON object.
    init(_ bytes: [UInt8], origin: String, expected: String) throws(ProgramError) {
        guard bytes.count <= ImportLimit.sourceBytesMax else { throw .tooLarge(origin) }
        guard let fields = JSONFields(bytes) else { throw .wrongFormat(origin, expected: expected) }
        self = fields
    }

    func secret(_ name: String) -> Secret? {
        text(name).map { Secret($0) }
    }
}
