internal import TextEncodings
@testable internal import AuthRefreshInterface

/// The replies of a Varlink service to `authctl`. The token that a mail program gets must be the token that was sent.
enum VarlinkReplies {
    static func run(_ input: [UInt8]) {
        guard let reply = try? VarlinkConnection.parse(input[...]) else { return }
        require(reply.parameters.isObject, "the parameters of a reply are an object")
        for (name, value) in reply.parameters.members ?? [] {
            checkText(name)
            if let text = value.string { checkText(text) }
            require(value.elements == nil || value.whole.first == UInt8(ascii: "["), "elements are an array's")
        }
        if let first = reply.parameters.members?.first {
            require(
                reply.parameters[first.key]?.whole == first.value.whole,
                "a member is found by its name, the first of two"
            )
        }
    }

    /// A quoted text must parse to the original.
    private static func checkText(_ text: String) {
        let quoted = JSONText.quote(text)
        guard let read = JSONValue(quoted) else { return require(false, "what is quoted is JSON") }
        require(read.string.map { $0.utf8.elementsEqual(text.utf8) } ?? false, "what is quoted reads as it was")
    }
}
