internal import AuthRefreshInterface

extension DaemonConnection {
    /// Calls `Subscribe`; its replies are fetched by `nextChange` and `availableChange`.
    ///
    /// - Parameter accounts: empty means all.
    mutating func subscribe(to accounts: [String]) throws(AuthctlError) {
        try follow(.subscribe, Subscribe.Parameters(accounts: accounts.isEmpty ? nil : accounts))
    }

    /// Waits for the next change, for ever: the daemon never ends the answer by itself.
    mutating func nextChange() throws(AuthctlError) -> Subscribe.Reply {
        let (change, continues) = try nextReply(Subscribe.Reply.self)
        guard continues else { throw .connection(.ended) }
        return change
    }

    /// The next change that has come already; nil if there is none.
    mutating func availableChange() throws(AuthctlError) -> Subscribe.Reply? {
        guard let (change, continues) = try availableReply(Subscribe.Reply.self) else { return nil }
        guard continues else { throw .connection(.ended) }
        return change
    }
}
