import TextEncodings

/// Decodes a JSON value into a `Decodable`. It records which members were read, so that it can report the unknown ones.
///
/// Failures are `DecodingError`s whose path leads to the invalid value.
final class ParameterDecoder: Decoder {
    let value: JSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private var members: [String: JSONValue]?
    private var asked: Set<String> = []
    private var children: [ParameterDecoder] = []
    /// Whether the type reads the value as a whole and checks its content itself.
    private var isReadAsOne = false

    private init(_ value: JSONValue, at path: [any CodingKey]) {
        self.value = value
        self.codingPath = path
    }

    /// Decodes `value` as `type`.
    ///
    /// - Throws: `DecodingError` for a missing, misplaced, repeated or unknown member.
    static func decode<T: Decodable>(_ type: T.Type, from value: JSONValue, at path: [any CodingKey] = []) throws -> T {
        let decoder = ParameterDecoder(value, at: path)
        let decoded = try T(from: decoder)
        // A type without members never asks for a container.
        if decoder.members == nil, !decoder.isReadAsOne, value.isObject {
            _ = try decoder.container(keyedBy: ParameterKey.self)
        }
        try decoder.refuseUnaskedMembers()
        return decoded
    }

    private func refuseUnaskedMembers() throws {
        for key in (members ?? [:]).keys.sorted() where !asked.contains(key) {
            throw mismatch("no such parameter", at: codingPath + [ParameterKey(key)])
        }
        for child in children {
            try child.refuseUnaskedMembers()
        }
    }

    func mismatch(_ cause: String, at path: [any CodingKey]? = nil) -> DecodingError {
        .dataCorrupted(.init(codingPath: path ?? codingPath, debugDescription: cause))
    }

    /// A decoder for a value inside this one. Its unknown members are reported together with this one's.
    func child(_ value: JSONValue, _ key: some CodingKey) -> ParameterDecoder {
        let child = ParameterDecoder(value, at: codingPath + [key])
        children.append(child)
        return child
    }

    /// The member `key`; nil if there is none.
    func member(_ key: some CodingKey) -> JSONValue? {
        asked.insert(key.stringValue)
        return members?[key.stringValue]
    }

    var memberNames: [String] { members.map { $0.keys.sorted() } ?? [] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if members == nil {
            guard let found = value.members else { throw mismatch("not an object") }
            var unique: [String: JSONValue] = [:]
            for (key, value) in found where unique.updateValue(value, forKey: key) != nil {
                // RFC 8259 §4 leaves open which of two equal names counts. A caller who sends both made a mistake.
                throw mismatch("given twice", at: codingPath + [ParameterKey(key)])
            }
            members = unique
        }
        return KeyedDecodingContainer(MemberContainer(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = value.elements else { throw mismatch("not an array") }
        return ElementContainer(decoder: self, elements: elements)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        isReadAsOne = true
        return ScalarContainer(decoder: self)
    }

    /// Reads a scalar directly, and any other type with a decoder of its own.
    static func read<T: Decodable>(_ type: T.Type, from value: JSONValue, at path: [any CodingKey]) throws -> T {
        let read: Any?
        switch type {
        case is String.Type: read = value.string
        case is Bool.Type: read = value.bool
        case is Double.Type: read = value.numberText.flatMap(Double.init)
        case let integer as any FixedWidthInteger.Type: read = value.numberText.flatMap { integer.parsed($0) }
        default: return try decode(type, from: value, at: path)
        }
        guard let scalar = read as? T else {
            throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: "not a \(type)"))
        }
        return scalar
    }
}

extension FixedWidthInteger {
    /// Parses `digits`; nil if they are out of range or not an integer. The result is boxed, because the type is known
    /// only at run time.
    fileprivate static func parsed(_ digits: String) -> Any? { Self(digits) }
}

/// A coding key that is only a text.
struct ParameterKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "[\(index)]"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }
}

extension DecodingError {
    /// The path of the invalid parameter as a person writes it, such as `grant.scopes[2]`; `parameters` for the whole.
    var parameterName: String {
        let path: [any CodingKey]
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            path = context.codingPath
        case .keyNotFound(let key, let context):
            path = context.codingPath + [key]
        @unknown default:
            path = []
        }
        guard !path.isEmpty else { return "parameters" }
        return path.reduce(into: "") { name, key in
            if key.intValue == nil, !name.isEmpty { name += "." }
            name += key.stringValue
        }
    }
}

/// The members of an object, for the compiler's `init(from:)`.
struct MemberContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ParameterDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.memberNames.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { decoder.member(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try ParameterDecoder.read(type, from: value(key), at: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder.child(value(key), key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.child(value(key), key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder.child(value(key), key) }

    private func value(_ key: Key) throws -> JSONValue {
        guard let value = decoder.member(key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "missing"))
        }
        return value
    }
}

/// The values of an array, in order.
struct ElementContainer: UnkeyedDecodingContainer {
    let decoder: ParameterDecoder
    let elements: [JSONValue]
    private(set) var currentIndex = 0

    init(decoder: ParameterDecoder, elements: [JSONValue]) {
        self.decoder = decoder
        self.elements = elements
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (value, key) = try next()
        return try ParameterDecoder.read(type, from: value, at: codingPath + [key])
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let (value, key) = try next()
        return try decoder.child(value, key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let (value, key) = try next()
        return try decoder.child(value, key).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        let (value, key) = try next()
        return decoder.child(value, key)
    }

    private mutating func next() throws -> (JSONValue, ParameterKey) {
        let key = ParameterKey(index: currentIndex)
        guard !isAtEnd else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "missing"))
        }
        defer { currentIndex += 1 }
        return (elements[currentIndex], key)
    }
}

/// A value that is read as a whole: a scalar, or a type that wraps another one.
struct ScalarContainer: SingleValueDecodingContainer {
    let decoder: ParameterDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.value.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try ParameterDecoder.read(type, from: decoder.value, at: codingPath)
    }
}
