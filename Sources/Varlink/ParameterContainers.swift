import StrictJSON

/// The members of an object, as the compiler's own `init(from:)` asks for them.
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

/// The values of an array, one after the other.
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

/// A value that is read as one: a scalar, or a type that wraps another.
struct ScalarContainer: SingleValueDecodingContainer {
    let decoder: ParameterDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.value.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try ParameterDecoder.read(type, from: decoder.value, at: codingPath)
    }
}
