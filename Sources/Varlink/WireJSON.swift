internal import FoundationEssentials

/// Values and replies as the bytes that go over the wire.
package enum WireJSON {
    /// `value` as a JSON object, its keys in alphabetical order, so that equal values are equal bytes.
    ///
    /// Traps if `value` does not encode to an object: Varlink parameters are always one, and which types we reply with is
    /// known when we are built.
    package static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let object = Array(try encoder.encode(value))
            precondition(object.first == UInt8(ascii: "{"), "the parameters of a Varlink reply are an object")
            return object
        } catch {
            preconditionFailure("the parameters of a Varlink reply can always be encoded")
        }
    }

    /// A reply, complete with its NUL. `parameters` is a JSON object.
    static func reply(_ parameters: [UInt8], continues: Bool) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(parameters.count + 40)
        message += #"{"parameters":"#.utf8
        message += parameters
        if continues { message += #","continues":true"#.utf8 }
        message += "}\0".utf8
        return message
    }

    /// An error reply, complete with its NUL. The name needs no escapes: Varlink names are letters, digits, dots, hyphens.
    static func reply(_ error: VarlinkError) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(error.parameters.count + error.name.utf8.count + 40)
        message += #"{"error":""#.utf8
        message += error.name.utf8
        message += #"","parameters":"#.utf8
        message += error.parameters
        message += "}\0".utf8
        return message
    }
}
