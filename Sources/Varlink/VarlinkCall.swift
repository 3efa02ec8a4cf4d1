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
