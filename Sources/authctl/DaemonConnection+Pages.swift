internal import AuthRefreshInterface

extension DaemonConnection {
    /// Where accounts stand, all pages of them.
    ///
    /// - Parameter accounts: empty means all.
    mutating func allStatuses(accounts: [String]) throws(AuthctlError) -> [AccountStatus] {
        var statuses: [AccountStatus] = []
        var page = GetStatus.Parameters(accounts: accounts.isEmpty ? nil : accounts)
        repeat {
            let reply = try ask(.getStatus, page, for: GetStatus.Reply.self)
            statuses += reply.accounts
            page.after = reply.next
        } while page.after != nil
        return statuses
    }

    /// How accounts are set up, all pages of them; those that the store cannot read stand apart.
    ///
    /// - Parameter accounts: empty means all.
    mutating func allSettings(accounts: [String]) throws(AuthctlError) -> ListAccounts.Reply {
        var all = ListAccounts.Reply(accounts: [])
        var page = ListAccounts.Parameters(accounts: accounts.isEmpty ? nil : accounts)
        repeat {
            let reply = try ask(.listAccounts, page, for: ListAccounts.Reply.self)
            all.accounts += reply.accounts
            if let damaged = reply.damaged { all.damaged = (all.damaged ?? []) + damaged }
            page.after = reply.next
        } while page.after != nil
        return all
    }
}
