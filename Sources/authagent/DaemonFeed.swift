internal import AuthRefreshInterface
internal import FoundationEssentials
internal import StrictJSON
internal import VarlinkClient

/// The stream of replies to one call: changes for `Subscribe`, or questions for `ServeConfirmations`.
struct DaemonFeed<Reply: Decodable>: ~Copyable {
    private var connection: VarlinkConnection

    /// Begins a call.
    ///
    /// - Parameter method: a method that is called with "more" and without parameters.
    init(_ method: Method, socket: String) throws(AgentError) {
        connection = try Self.call(method, at: socket)
    }

    private static func call(_ method: Method, at socket: String) throws(AgentError) -> VarlinkConnection {
        do throws(VarlinkClientError) {
            var connection = try VarlinkConnection(path: socket)
            try connection.send(method.rawValue, parameters: "{}", mode: .more)
            return connection
        } catch {
            throw .noDaemon(error)
        }
    }

    /// The descriptor to watch with poll(2).
    var descriptor: Int32 { connection.pollDescriptor }

    /// The replies that have arrived.
    ///
    /// - Throws: `noDaemon` when it has gone. The next feed begins with the current state.
    mutating func takeReplies() throws(AgentError) -> [Reply] {
        var replies: [Reply] = []
        while let reply = try nextReply() {
            if let name = reply.error { throw .refused(name: name) }
            guard let told = try? JSONDecoder().decode(Reply.self, from: Data(reply.parameters.bytes))
            else { throw .unreadable }
            replies.append(told)
        }
        return replies
    }

    private mutating func nextReply() throws(AgentError) -> VarlinkConnection.Reply? {
        do throws(VarlinkClientError) {
            return try connection.receiveAvailable()
        } catch {
            throw .noDaemon(error)
        }
    }
}
