internal import AuthRefreshInterface
internal import FoundationEssentials
internal import StrictJSON
internal import VarlinkClient

/// What the daemon goes on telling in answer to one call: `Subscribe`'s changes, or `ServeConfirmations`' questions.
struct DaemonFeed<Reply: Decodable>: ~Copyable {
    private var connection: VarlinkConnection

    /// - Parameter method: one that is called with "more", and asks for nothing in particular.
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

    /// What poll(2) is to watch.
    var descriptor: Int32 { connection.pollDescriptor }

    /// What has come.
    ///
    /// - Throws: `noDaemon` once it has gone; the next feed begins with the present state.
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
