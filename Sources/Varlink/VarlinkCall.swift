internal import FoundationEssentials
package import TextEncodings

/// A call as received.
package struct VarlinkCall: Sendable {
    /// The full name of the method: `io.example.Interface.Method`.
    package let method: String
    /// Whether the caller accepts several replies. Each of them except the last is marked `continues`.
    package let wantsMore: Bool
    /// Whether the caller wants no reply, not even an error.
    package let isOneway: Bool
    /// Whether the caller wants to switch to another protocol on this connection after the reply.
    package let wantsUpgrade: Bool
    /// The parameters as received; nil if the call has none.
    package let parameters: JSONValue?

    /// The method's name up to its last dot; nil if it has none.
    package var interface: Substring? {
        method.utf8.lastIndex(of: UInt8(ascii: ".")).map { method[..<$0] }
    }

    /// Decodes the parameters as `type`.
    ///
    /// Members that `type` does not read are refused at any depth, so that a mistyped name is reported and not ignored.
    ///
    /// - Throws: `org.varlink.service.InvalidParameter` with the name of the first invalid parameter. Reply with it.
    package func decodeParameters<T: Decodable>(as type: T.Type = T.self) throws(VarlinkError) -> T {
        do {
            return try ParameterDecoder.decode(type, from: parameters ?? Self.noParameters)
        } catch let error as DecodingError {
            throw .invalidParameter(error.parameterName)
        } catch {
            throw .invalidParameter("parameters")
        }
    }

    private static let noParameters: JSONValue = {
        guard let empty = JSONValue("{}") else { preconditionFailure("the empty object is JSON") }
        return empty
    }()
}

extension VarlinkCall {
    /// Reads a message; nil if it is not a Varlink call.
    ///
    /// Unknown members of the envelope are ignored, so that the protocol can grow.
    init?(message: [UInt8], limits: ServerLimits) {
        let envelope = JSONValue(
            message[...],
            nestingMax: limits.nestingMax,
            valuesMax: limits.valuesMax,
            reading: .strictWhenRead
        )
        guard let envelope, envelope.isObject else { return nil }
        var method: String?
        var parameters: JSONValue?
        var (seen, flags): (Members, Members) = ([], [])
        for (key, value) in envelope.fields {
            // A name that is not valid text makes the call invalid, even if its value is null.
            guard let name = key.string else { return nil }
            let member = Members(name)
            guard !member.isEmpty else { continue }
            // Readers differ in which of two equal names they use, so the call is invalid. A null counts as well.
            guard seen.insert(member).inserted else { return nil }
            guard !value.isNull else { continue }
            if member == .method {
                method = value.string
                guard method != nil else { return nil }
            } else if member == .parameters {
                guard value.isObject else { return nil }
                parameters = value
            } else {
                guard let flag = value.bool else { return nil }
                if flag { flags.insert(member) }
            }
        }
        // A call cannot want several replies and no reply.
        guard let method, !flags.isSuperset(of: [.more, .oneway]) else { return nil }
        self.method = method
        self.parameters = parameters
        wantsMore = flags.contains(.more)
        isOneway = flags.contains(.oneway)
        wantsUpgrade = flags.contains(.upgrade)
    }
}

/// The known members of a call.
private struct Members: OptionSet {
    let rawValue: UInt8
    static let method = Members(rawValue: 1)
    static let parameters = Members(rawValue: 2)
    static let more = Members(rawValue: 4)
    static let oneway = Members(rawValue: 8)
    static let upgrade = Members(rawValue: 16)
}

extension Members {
    /// The member with this name; empty if it is unknown.
    init(_ name: String) {
        switch name {
        case "method": self = .method
        case "parameters": self = .parameters
        case "more": self = .more
        case "oneway": self = .oneway
        case "upgrade": self = .upgrade
        default: self = []
        }
    }
}

/// A reply, ready to be sent.
package struct VarlinkReply: Equatable, Sendable {
    /// The whole message, including its NUL.
    package let message: [UInt8]
    /// Whether more replies to the same call follow.
    package let continues: Bool

    /// Creates a reply from encoded parameters.
    ///
    /// - Parameter encoded: the parameters, a JSON object.
    package init(encoded: [UInt8], continues: Bool = false) {
        message = WireJSON.reply(encoded, continues: continues)
        self.continues = continues
    }

    /// Encodes `parameters` and creates a reply.
    package init(_ parameters: some Encodable, continues: Bool = false) {
        self.init(encoded: WireJSON.encode(parameters), continues: continues)
    }

    /// Creates an error reply, which ends the call.
    package init(_ error: VarlinkError) {
        message = WireJSON.reply(error)
        continues = false
    }
}

/// An error reply: its full name and its parameters, already encoded as JSON.
package struct VarlinkError: Error, Equatable, Sendable {
    /// The full name: `io.example.Interface.ErrorName`.
    package let name: String
    /// The parameters, a JSON object.
    package let parameters: [UInt8]

    package init(_ name: String, parameters: some Encodable) {
        self.name = name
        self.parameters = WireJSON.encode(parameters)
    }

    package init(_ name: String) {
        self.name = name
        self.parameters = Array("{}".utf8)
    }
}

/// The errors of `org.varlink.service`, which every service shares.
extension VarlinkError {
    /// The service has no such interface.
    package static func interfaceNotFound(_ interface: String) -> VarlinkError {
        VarlinkError("org.varlink.service.InterfaceNotFound", parameters: ["interface": interface])
    }

    /// The interface has no such method; `method` is its full name.
    package static func methodNotFound(_ method: String) -> VarlinkError {
        VarlinkError("org.varlink.service.MethodNotFound", parameters: ["method": method])
    }

    /// The named parameter is missing, unknown, of the wrong type or out of range.
    package static func invalidParameter(_ parameter: String) -> VarlinkError {
        VarlinkError("org.varlink.service.InvalidParameter", parameters: ["parameter": parameter])
    }

    /// The caller is not allowed to do that.
    package static let permissionDenied = VarlinkError("org.varlink.service.PermissionDenied")

    /// The method answers only calls with the `more` flag.
    package static let expectedMore = VarlinkError("org.varlink.service.ExpectedMore")
}

/// Encodes values and replies as bytes for the wire.
package enum WireJSON {
    /// Encodes `value` as a JSON object with sorted keys, so that equal values give equal bytes.
    ///
    /// It traps if `value` does not encode to an object. Varlink parameters always are one, and the types of our
    /// replies are known at compile time.
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

    /// Creates a reply, including its NUL. `parameters` is a JSON object.
    static func reply(_ parameters: [UInt8], continues: Bool) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(parameters.count + 40)
        message += #"{"parameters":"#.utf8
        message += parameters
        if continues { message += #","continues":true"#.utf8 }
        message += "}\0".utf8
        return message
    }

    /// Creates an error reply, including its NUL. The name needs no escaping: Varlink names have only letters, digits,
    /// dots and hyphens.
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
