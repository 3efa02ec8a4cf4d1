internal import AuthRefreshInterface
internal import VarlinkClient

extension DaemonConnection {
    /// What poll(2) is to watch for changes that `availableChange` takes.
    var pollDescriptor: Int32 { connection.pollDescriptor }

    /// Calls `Subscribe`; its replies are fetched by `nextChange` and `availableChange`.
    ///
    /// - Parameter accounts: empty means all.
    mutating func subscribe(to accounts: [String]) throws(AuthctlError) {
        let parameters = Subscribe.Parameters(accounts: accounts.isEmpty ? nil : accounts)
        do throws(VarlinkClientError) {
            try connection.send(Method.subscribe.rawValue, parameters: WireText.encode(parameters), mode: .more)
        } catch {
            throw .connection(ConnectionError(error, patience: 0))
        }
    }

    /// Waits for the next change, for ever: the daemon never ends the answer by itself.
    mutating func nextChange() throws(AuthctlError) -> Subscribe.Reply {
        let reply: VarlinkConnection.Reply
        do throws(VarlinkClientError) {
            reply = try connection.receive()
        } catch {
            throw .connection(ConnectionError(error, patience: 0))
        }
        return try Self.change(in: reply)
    }

    /// The next change that has come already; nil if there is none.
    mutating func availableChange() throws(AuthctlError) -> Subscribe.Reply? {
        let reply: VarlinkConnection.Reply?
        do throws(VarlinkClientError) {
            reply = try connection.receiveAvailable()
        } catch {
            throw .connection(ConnectionError(error, patience: 0))
        }
        guard let reply else { return nil }
        return try Self.change(in: reply)
    }

    private static func change(in reply: VarlinkConnection.Reply) throws(AuthctlError) -> Subscribe.Reply {
        let parameters = try Self.parameters(of: reply)
        guard reply.continues else { throw .connection(.ended) }
        return try WireText.decode(Subscribe.Reply.self, from: parameters)
    }
}
