internal import FoundationEssentials
package import StrictJSON

/// A call as it came over the wire.
package struct VarlinkCall: Sendable {
    /// Full name of the method: `io.example.Interface.Method`.
    package let method: String
    /// The caller takes several replies, each but the last marked `continues`.
    package let wantsMore: Bool
    /// The caller takes no reply, not even an error.
    package let isOneway: Bool
    /// The caller wants to speak another protocol on this connection after the reply.
    package let wantsUpgrade: Bool
    /// The parameters as they came; nil if the call has none.
    package let parameters: JSONValue?

    /// The name up to its last dot; nil if there is none.
    package var interface: Substring? {
        method.utf8.lastIndex(of: UInt8(ascii: ".")).map { method[..<$0] }
    }

    /// The parameters as a value of `type`.
    ///
    /// Members that `type` does not ask for are refused, at any depth, so that a mistyped name is told and not ignored.
    ///
    /// - Throws: `org.varlink.service.InvalidParameter` with the name of the first parameter at fault; reply with it.
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
        guard let empty = try? JSONDocument(Array("{}".utf8), nestingMax: 1, valuesMax: 1) else {
            preconditionFailure("the empty object is JSON")
        }
        return empty.root
    }()
}

extension VarlinkCall {
    /// Reads a message; nil if it is not a Varlink call.
    ///
    /// Members of the envelope that we do not know are ignored, so that the protocol may grow.
    init?(message: [UInt8], limits: ServerLimits) {
        guard let document = try? JSONDocument(message, nestingMax: limits.nestingMax, valuesMax: limits.valuesMax),
            document.root.isObject
        else { return nil }
        var method: String?
        var parameters: JSONValue?
        var (seen, flags): (Members, Members) = ([], [])
        for (key, value) in document.root.fields {
            // Also of a member whose value is null a name that is no text is none.
            guard key.isText else { return nil }
            let member = Members(key)
            guard !member.isEmpty else { continue }
            // Which of two was meant, every reader would say otherwise; null is one, too.
            guard seen.insert(member).inserted else { return nil }
            guard !value.isNull else { continue }
            if member == .method {
                guard let name = value.string else { return nil }
                method = name
            } else if member == .parameters {
                guard value.isObject else { return nil }
                parameters = value
            } else {
                guard let flag = value.bool else { return nil }
                if flag { flags.insert(member) }
            }
        }
        // A call cannot ask for several replies and for none.
        guard let method, !flags.isSuperset(of: [.more, .oneway]) else { return nil }
        self.method = method
        self.parameters = parameters
        wantsMore = flags.contains(.more)
        isOneway = flags.contains(.oneway)
        wantsUpgrade = flags.contains(.upgrade)
    }
}

/// The members of a call that we know.
private struct Members: OptionSet {
    let rawValue: UInt8
    static let method = Members(rawValue: 1)
    static let parameters = Members(rawValue: 2)
    static let more = Members(rawValue: 4)
    static let oneway = Members(rawValue: 8)
    static let upgrade = Members(rawValue: 16)
}

extension Members {
    /// The one that `key` names; empty if it names none.
    init(_ key: JSONValue) {
        if key.spells("method") {
            self = .method
        } else if key.spells("parameters") {
            self = .parameters
        } else if key.spells("more") {
            self = .more
        } else if key.spells("oneway") {
            self = .oneway
        } else if key.spells("upgrade") {
            self = .upgrade
        } else {
            self = []
        }
    }
}

/// A reply, ready to be sent.
package struct VarlinkReply: Equatable, Sendable {
    /// The whole message, its NUL included.
    package let message: [UInt8]
    /// More replies to the same call will follow.
    package let continues: Bool

    /// - Parameter encoded: The parameters, a JSON object.
    package init(encoded: [UInt8], continues: Bool = false) {
        message = WireJSON.reply(encoded, continues: continues)
        self.continues = continues
    }

    /// The same for parameters that are not encoded yet.
    package init(_ parameters: some Encodable, continues: Bool = false) {
        self.init(encoded: WireJSON.encode(parameters), continues: continues)
    }

    /// An error ends the call.
    package init(_ error: VarlinkError) {
        message = WireJSON.reply(error)
        continues = false
    }
}

/// An error reply: its full name and its parameters, already in JSON.
package struct VarlinkError: Error, Equatable, Sendable {
    /// Full name: `io.example.Interface.ErrorName`.
    package let name: String
    /// A JSON object.
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
    /// No such interface here.
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

    /// The caller may not do that.
    package static let permissionDenied = VarlinkError("org.varlink.service.PermissionDenied")

    /// The method answers only calls with the `more` flag.
    package static let expectedMore = VarlinkError("org.varlink.service.ExpectedMore")
}

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
