internal import FoundationEssentials
package import TextEncodings

/// Any JSON value, for answers whose fields may have more than one type.
///
/// It owns what it holds, so that it can be made, compared and written. `JSONValue` is a view of a text that
/// was read.
package enum JSONTree: Equatable, Sendable {
    case null
    case boolean(Bool)
    /// JSON numbers are IEEE 754 doubles for most servers; whole numbers are exact up to 2⁵³.
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// The deepest nesting that is accepted. Token answers have two levels at most, metadata three.
    static let depthLimit = 32

    /// The JSON object in `bytes`; nil if they are not JSON, are another JSON value, or nested deeper than `depthLimit`.
    package static func object(in bytes: [UInt8]) -> [String: JSONTree]? {
        object(in: bytes, .strict)
    }

    /// The JSON object with which a server's answer begins; nil if it does not begin with a whole one.
    ///
    /// Everything that can be read is accepted (`JSONValue.Reading.lenient`), because a refused answer may contain
    /// the only valid refresh token. Text before the object is not skipped: it may be a page, of a captive portal for
    /// example, and the objects in its scripts are no answer.
    ///
    /// Foundation's decoder refuses such answers. It also takes ten times as long, because it makes a container for
    /// each guess at a value's type.
    package static func object(inAnswer bytes: [UInt8]) -> [String: JSONTree]? {
        object(in: bytes, .lenient)
    }

    private static func object(in bytes: [UInt8], _ reading: JSONValue.Reading) -> [String: JSONTree]? {
        let value = JSONValue(bytes[...], nestingMax: depthLimit, reading: reading)
        guard let value, case .object(let fields)? = JSONTree(value, reading) else { return nil }
        return fields
    }

    /// Nil if a string in it is not valid text. A number beyond the range of a double becomes null. If a name occurs
    /// twice, its last value other than null is kept, as most parsers keep the last.
    package init?(_ value: JSONValue, _ reading: JSONValue.Reading = .strict) {
        let tree = value.fold(
            scalar: { JSONTree(scalar: $0, reading) },
            array: JSONTree.array,
            object: { members in
                var fields: [String: JSONTree] = [:]
                for (name, value) in members {
                    guard let name = name.string(reading) else { return nil }
                    if value != .null || fields[name] == nil { fields[name] = value }
                }
                return .object(fields)
            }
        )
        guard let tree else { return nil }
        self = tree
    }

    private init?(scalar value: JSONValue, _ reading: JSONValue.Reading) {
        if value.isNull {
            self = .null
        } else if let flag = value.bool {
            self = .boolean(flag)
        } else if let digits = value.numberText {
            self = .number(writtenAs: digits)
        } else {
            guard let text = value.string(reading) else { return nil }
            self = .string(text)
        }
    }

    /// The value of a number. One whose digits a double would not keep becomes text, because it may be a token. Null for
    /// a word that is no number.
    private static func number(writtenAs digits: String) -> JSONTree {
        guard let number = Double(digits), number.isFinite else { return .null }
        let isWhole = digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isWhole && JSONTree.number(number).word != digits ? .string(digits) : .number(number)
    }

    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var fields: [String: JSONTree]? {
        if case .object(let fields) = self { fields } else { nil }
    }

    /// The value of a name in an object, or at an index of an array, from 0.
    package func member(_ step: String) -> JSONTree? {
        switch self {
        case .object(let fields): fields[step]
        case .array(let elements): Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        case .null, .boolean, .number, .string: nil
        }
    }

    /// The value as text if it is text, a whole number or a truth value.
    package var word: String? {
        switch self {
        case .string(let text): text
        case .number(let number): Int64(exactly: number).map { String($0) }
        case .boolean(let flag): String(flag)
        case .null, .array, .object: nil
        }
    }

    /// The value in seconds, from a number or from text: PayPal and others write numbers as strings, some with a
    /// fraction. Nil if it is not finite.
    package var seconds: Double? {
        switch self {
        case .number(let number):
            return number.isFinite ? number : nil
        case .string(let text):
            let word = text.filter { !$0.isWhitespace }
            guard word.utf8.allSatisfy({ "0123456789.eE+-".utf8.contains($0) }), let number = Double(word),
                number.isFinite
            else { return nil }
            return number
        case .null, .boolean, .array, .object:
            return nil
        }
    }

    /// The strings of an array; nil if this is not an array or has other values.
    package var texts: [String]? {
        guard case .array(let elements) = self else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }
}

extension JSONTree: Encodable {
    /// The value as a JSON document, with names in alphabetical order.
    package var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only NaN or infinity could fail, and JSON that was read holds neither.
        return (try? encoder.encode(self)).map { Array($0) } ?? []
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let fields): try container.encode(fields)
        }
    }
}
