internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// The calls of tools that know an address but no account.
extension RefreshCoordinator {
    func findAccount(_ asked: FindAccount.Parameters) throws(VarlinkError) -> FindAccount.Reply {
        let names = try accountNames(asked)
        guard let name = names.first else { return FindAccount.Reply() }
        let account = try account(name).account
        let profile = settings.profile(for: account)
        return FindAccount.Reply(
            account: name,
            username: account.delivery.username ?? profile?.gitUsername,
            bearer: profile?.gitAuthorization == .bearer ? true : nil,
            others: names.count > 1 ? Array(names.dropFirst()) : nil
        )
    }

    /// The account to use, and the others that have the same address and user name.
    private func accountNames(_ asked: FindAccount.Parameters) throws(VarlinkError) -> [String] {
        let address = ServiceAddress(asked.url)
        if let name = asked.account {
            let scheme = asked.url.prefix { $0 != ":" }.lowercased()
            return address != nil || Self.protectedSchemes.contains(scheme) ? [name] : []
        }
        // No account can have an invalid address.
        guard let address else { return [] }
        return try stored(store.accounts(for: address, username: asked.username))
    }

    /// The schemes of addresses to which a token of a named account may go. With any other, such as ftp, git, or http to
    /// another machine, anybody in the network could read it.
    ///
    /// git names its mail servers in this way: `git imap-send` (imaps), and `git send-email`, which says smtp also with
    /// TLS.
    private static let protectedSchemes: Set = ["https", "imaps", "smtp"]

    func listURLs(_ asked: ListUrls.Parameters) throws(VarlinkError) -> ListUrls.Reply {
        let limit = Interface.largestPage
        let page = try stored(store.addresses(after: asked.after, limit: limit))
        return ListUrls.Reply(
            urls: page.map { ServiceUrl(url: $0.url, account: $0.account, username: $0.username) },
            next: page.count == limit ? page.last?.key : nil
        )
    }
}
