internal import AuthRefreshInterface
internal import FoundationEssentials
internal import StrictJSON
internal import VarlinkClient

/// The daemon's changes, from its present state on.
struct AccountFeed: ~Copyable {
    private var connection: VarlinkConnection

    /// Subscribes to all accounts.
    init(socket: String) throws(AgentError) {
        connection = try Self.subscribe(at: socket)
    }

    private static func subscribe(at socket: String) throws(AgentError) -> VarlinkConnection {
        do throws(VarlinkClientError) {
            var connection = try VarlinkConnection(path: socket)
            try connection.send(Method.subscribe.rawValue, parameters: "{}", mode: .more)
            return connection
        } catch {
            throw .noDaemon(error)
        }
    }

    /// What poll(2) is to watch.
    var descriptor: Int32 { connection.pollDescriptor }

    /// The changes that have come.
    ///
    /// - Throws: `noDaemon` once it has gone; the state is told anew by the next feed.
    mutating func takeChanges() throws(AgentError) -> [Subscribe.Reply] {
        var changes: [Subscribe.Reply] = []
        while let reply = try nextReply() {
            if let name = reply.error { throw .refused(name: name) }
            guard let change = try? JSONDecoder().decode(Subscribe.Reply.self, from: Data(reply.parameters.bytes))
            else { throw .unreadable }
            changes.append(change)
        }
        return changes
    }

    private mutating func nextReply() throws(AgentError) -> VarlinkConnection.Reply? {
        do throws(VarlinkClientError) {
            return try connection.receiveAvailable()
        } catch {
            throw .noDaemon(error)
        }
    }
}
