internal import Foundation
@testable internal import OAuthMessages
@testable internal import TextEncodings

/// One text, parsed in three ways: strictly, by Foundation, and as servers' answers are parsed.
enum StrictJSONTexts {
    private static let nestingMax = 24

    static func run(_ input: [UInt8]) {
        let strict = JSONValue(input[...], nestingMax: nestingMax, valuesMax: 4096)
        let answer = JSONValue(input[...], nestingMax: nestingMax, valuesMax: 4096, reading: .lenient)
        if let strict { checkPlaces(strict) }
        if let answer { checkPlaces(answer) }
        let lenient = answer.flatMap { JSONTree($0, .lenient) }
        require((answer == nil) == (lenient == nil), "each string in an answer has a text")
        // Half a surrogate pair is refused when the string is read.
        guard let strict, let value = PlainValue(strict) else { return }
        // A number that a double cannot hold digit by digit is text in an answer.
        let isSame = lenient.map(PlainValue.init) == value || hasLongNumbers(strict)
        require(isSame, "strict JSON is read as it stands in an answer")
        // If two members have the same name, Foundation uses the last one.
        if !hasRepeatedNames(strict) { compareWithFoundation(input, value) }
    }

    private static func hasRepeatedNames(_ value: JSONValue) -> Bool {
        let members = value.members ?? []
        return Set(members.map(\.key)).count < members.count
            || (members.map(\.value) + (value.elements ?? [])).contains(where: hasRepeatedNames)
    }

    private static func hasLongNumbers(_ value: JSONValue) -> Bool {
        value.numberText.map { $0.utf8.count > 15 } ?? false
            || ((value.members ?? []).map(\.value) + (value.elements ?? [])).contains(where: hasLongNumbers)
    }

    private static func compareWithFoundation(_ input: [UInt8], _ value: PlainValue) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(input), options: .fragmentsAllowed)
        else { return }
        require(value.isEqual(to: object), "Foundation reads the same")
    }

    /// Each value lies within the one around it, after the one before it.
    private static func checkPlaces(_ value: JSONValue) {
        var end = value.whole.startIndex
        let inside = value.isObject ? value.fields.flatMap { [$0.key, $0.value] } : value.elements ?? []
        for next in inside {
            require(next.whole.startIndex > end && !next.whole.isEmpty, "a value begins after the one before it")
            end = next.whole.endIndex
            checkPlaces(next)
        }
        require(end <= value.whole.endIndex, "a value ends within its container")
    }
}

/// A JSON value as every parser should see it.
indirect enum PlainValue: Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([PlainValue])
    case object([String: PlainValue])

    /// Which of two members of the same name counts: the last one, unless it is null.
    private static func kept(_ first: PlainValue, _ second: PlainValue) -> PlainValue {
        second == .null ? first : second
    }

    /// Nil if a string in it is not valid text.
    init?(_ value: JSONValue) {
        if value.isNull {
            self = .null
        } else if let bool = value.bool {
            self = .bool(bool)
        } else if let digits = value.numberText {
            guard let number = Double(digits) else { return nil }
            self = number.isFinite ? .number(number) : .null
        } else if let elements = value.elements {
            let plain = elements.compactMap(PlainValue.init)
            guard plain.count == elements.count else { return nil }
            self = .array(plain)
        } else if value.isObject {
            guard let members = value.members else { return nil }
            let plain = members.compactMap { member in PlainValue(member.value).map { (member.key, $0) } }
            guard plain.count == members.count else { return nil }
            self = .object(Dictionary(plain, uniquingKeysWith: Self.kept))
        } else {
            guard let text = value.string else { return nil }
            self = .string(text)
        }
    }

    init(_ value: JSONTree) {
        self =
            switch value {
            case .null: .null
            case .boolean(let flag): .bool(flag)
            case .number(let number): .number(number)
            case .string(let text): .string(text)
            case .array(let elements): .array(elements.map(PlainValue.init))
            case .object(let fields): .object(fields.mapValues(PlainValue.init))
            }
    }

    /// Whether Foundation parsed the same. A number beyond a double's range is null here.
    func isEqual(to object: Any) -> Bool {
        switch self {
        case .null: object is NSNull || object is NSNumber
        case .bool(let flag): (object as? NSNumber)?.boolValue == flag
        case .number(let number):
            // If digits do not fit into an integer, Foundation makes a decimal of them and rounds it.
            (object as? NSNumber).map { abs($0.doubleValue - number) <= abs(number) * 1e-12 } ?? false
        case .string(let text): (object as? String)?.utf8.elementsEqual(text.utf8) ?? false
        case .array(let elements):
            (object as? [Any]).map { list in
                list.count == elements.count && zip(elements, list).allSatisfy { $0.isEqual(to: $1) }
            } ?? false
        case .object(let fields):
            (object as? [String: Any]).map { found in
                found.count == fields.count
                    && fields.allSatisfy { name, value in
                        found[name].map { value.isEqual(to: $0) } ?? false
                    }
            } ?? false
        }
    }
}
