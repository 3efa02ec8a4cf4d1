internal import Basics
internal import FoundationEssentials
internal import Glibc
internal import TextEncodings

/// The parameters of a method. They say which method they call, and what it replies.
package protocol CallParameters: Codable, Hashable, Sendable {
    associatedtype Reply: Codable & Hashable & Sendable

    static var method: Method { get }
}

/// An error of the daemon, or of its server, in place of a reply.
package struct ErrorReply: Error, Hashable, Sendable {
    /// The error's full name: `io.authrefresh.NoSuchAccount`.
    package let name: String
    /// Its parameters as JSON text; `{}` if there are none.
    package let parameters: String

    package init(name: String, parameters: String) {
        self.name = name
        self.parameters = parameters
    }

    package init(_ error: some InterfaceError) {
        self.init(name: type(of: error).name, parameters: WireText.encode(error))
    }

    /// The parameters; nil if this is another error, or if they cannot be read.
    package func decode<Parameters: InterfaceError>(_ type: Parameters.Type) -> Parameters? {
        name == Parameters.name ? WireText.decode(type, fromText: parameters) : nil
    }
}

/// The calls of the daemon with the wire's types, for all our programs.
extension VarlinkConnection {
    /// Sends a call; `receive` and `receiveAvailable` return its replies.
    package mutating func send(
        _ call: some CallParameters,
        mode: ReplyMode = .one,
        timeoutMilliseconds: Int32? = nil
    ) throws(VarlinkClientError) {
        let method = type(of: call).method.rawValue
        try send(method, parameters: WireText.encode(call), mode: mode, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Calls a method and waits for its reply.
    ///
    /// - Throws: why there is no answer.
    package mutating func ask<Call: CallParameters>(
        _ call: Call,
        timeoutMilliseconds: Int32? = nil
    ) throws(VarlinkClientError) -> Result<Call.Reply, ErrorReply> {
        let (method, parameters) = (Call.method.rawValue, WireText.encode(call))
        return try self.call(method, parameters: parameters, timeoutMilliseconds: timeoutMilliseconds).answer()
    }
}

extension VarlinkConnection.Reply {
    /// The error that this is; nil for a reply.
    package var refusal: ErrorReply? { error.map { ErrorReply(name: $0, parameters: parameters.text) } }

    /// The reply with the wire's type.
    ///
    /// - Throws: `unreadableReply`.
    package func answer<Reply: Decodable>() throws(VarlinkClientError) -> Result<Reply, ErrorReply> {
        if let refusal { return .failure(refusal) }
        guard let reply = WireText.decode(Reply.self, from: parameters.whole) else { throw .unreadableReply }
        return .success(reply)
    }
}

/// Converts wire types to JSON text and back.
package enum WireText {
    /// The value as one line of JSON, with sorted members.
    package static func encode(_ value: some Encodable) -> String {
        encode(value, [.sortedKeys, .withoutEscapingSlashes])
    }

    /// The value as JSON for people to read.
    package static func encodeIndented(_ value: some Encodable) -> String {
        encode(value, [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted])
    }

    private static func encode(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            preconditionFailure("a wire type holds only what JSON can say")
        }
    }

    /// The value; nil if the text does not have this type.
    package static func decode<Value: Decodable>(_ type: Value.Type, fromText text: String) -> Value? {
        decode(type, from: text.utf8)
    }

    fileprivate static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Sequence<UInt8>) -> Value? {
        try? JSONDecoder().decode(type, from: Data(bytes))
    }
}

/// The name of a member that only the program's run decides.
package struct MemberName: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ name: String) { stringValue = name }
    package init?(stringValue: String) { self.init(stringValue) }
    package init?(intValue: Int) { nil }
}

/// Where the daemon's socket is.
package enum SocketPath {
    /// The first that is set: `AUTHREFRESH_SOCKET`, the user's runtime directory.
    package static var usual: String {
        // Without a login session the variable is missing, but the user manager of a lingering user has created the
        // folder.
        environmentValue("AUTHREFRESH_SOCKET")
            ?? inside(environmentValue("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())")
    }

    /// The socket in a user's runtime directory.
    package static func inside(_ runtime: String) -> String { "\(runtime)/authrefreshd/io.authrefresh" }
}
