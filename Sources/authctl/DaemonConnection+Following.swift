internal import AuthRefreshInterface
internal import VarlinkClient

extension DaemonConnection {
    /// What poll(2) is to watch for replies that `availableReply` takes.
    var pollDescriptor: Int32 { connection.pollDescriptor }

    /// Calls a method that tells what happens as it happens; its replies are fetched by `availableReply` and `nextReply`.
    mutating func follow(_ method: Method, _ parameters: some Encodable) throws(AuthctlError) {
        try send(method, parameters, mode: .more)
    }

    /// Calls a method for one reply, which is fetched by `availableReply` or `nextReply`.
    mutating func begin(_ method: Method, _ parameters: some Encodable) throws(AuthctlError) {
        try send(method, parameters, mode: .one)
    }

    private mutating func send(
        _ method: Method,
        _ parameters: some Encodable,
        mode: VarlinkConnection.ReplyMode
    ) throws(AuthctlError) {
        do throws(VarlinkClientError) {
            try connection.send(method.rawValue, parameters: WireText.encode(parameters), mode: mode)
        } catch {
            throw .connection(ConnectionError(error, patience: 0))
        }
    }

    /// The next reply that has come already, and whether others follow it; nil if there is none.
    ///
    /// - Throws: `refused` with the daemon's error; anything about the connection.
    mutating func availableReply<Reply: Decodable>(
        _ type: Reply.Type
    ) throws(AuthctlError) -> (reply: Reply, continues: Bool)? {
        let reply: VarlinkConnection.Reply?
        do throws(VarlinkClientError) {
            reply = try connection.receiveAvailable()
        } catch {
            throw .connection(ConnectionError(error, patience: 0))
        }
        guard let reply else { return nil }
        return (try WireText.decode(type, from: Self.parameters(of: reply)), reply.continues)
    }

    /// Waits for the next reply.
    ///
    /// - Parameter patience: seconds; nil: as long as the connection stands.
    mutating func nextReply<Reply: Decodable>(
        _ type: Reply.Type,
        patience: Int32? = nil
    ) throws(AuthctlError) -> (reply: Reply, continues: Bool) {
        let reply: VarlinkConnection.Reply
        do throws(VarlinkClientError) {
            reply = try connection.receive(timeoutMilliseconds: patience.map { $0 * 1000 })
        } catch {
            throw .connection(ConnectionError(error, patience: patience ?? 0))
        }
        return (try WireText.decode(type, from: Self.parameters(of: reply)), reply.continues)
    }
}
