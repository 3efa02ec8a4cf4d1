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
