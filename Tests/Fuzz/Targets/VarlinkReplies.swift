internal import StrictJSON
@testable internal import VarlinkClient

/// What a Varlink service sends to `authctl`: a token is on its way to a mail program, and must be the one that was sent.
enum VarlinkReplies {
    static func run(_ input: [UInt8]) {
        guard let reply = try? VarlinkConnection.parse(input[...]) else { return }
        require(reply.parameters.isObject, "the parameters of a reply are an object")
        for (name, value) in reply.parameters.members ?? [] {
            checkText(name)
            if let text = value.string { checkText(text) }
            require(value.elements == nil || value.bytes.first == UInt8(ascii: "["), "elements are an array's")
        }
        if let first = reply.parameters.members?.first {
            require(reply.parameters[first.name] == first.value, "a member is found by its name, the first of two")
        }
    }

    /// What is quoted is read as it was.
    private static func checkText(_ text: String) {
        let quoted = JSONText.quote(text)
        guard let read = try? JSONText(quoted) else { return require(false, "what is quoted is JSON") }
        require(read.string.map { $0.utf8.elementsEqual(text.utf8) } ?? false, "what is quoted reads as it was")
    }
}
