internal import AuthRefreshInterface
internal import Dispatch
internal import RefreshCore
internal import Varlink

/// The call for following changes.
extension RefreshCoordinator {
    /// The part of the initial state that a subscriber has not received.
    private enum Rest {
        /// All accounts after this one, in the order of their numbers. That way, accounts that are added or renamed
        /// meanwhile are not missed.
        case all(after: AccountID)
        case named(ArraySlice<String>)
    }

    func subscribe(_ asked: Subscribe.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let most = CallerLimits.subscribedAccountsMax
        try Limit.subscribedAccounts.check(asked.accounts?.count ?? 0, atMost: most)
        let number = subscribers.add(responder, followsAll: asked.accounts == nil)
        responder.onDisconnect { self.later { $0.subscribers.remove(number) } }
        tell(number, asked.accounts.map { .named($0[...]) } ?? .all(after: AccountID(0)), responder)
    }

    /// Sends a subscriber a page of the initial state, and the next one when it has read this page.
    ///
    /// Reading a page and subscribing to its accounts happen in the same turn of the queue, so no change is missed in
    /// between.
    private func tell(_ number: Int, _ rest: Rest, _ responder: VarlinkResponder) {
        guard subscribers.contains(number) else { return }
        do throws(VarlinkError) {
            let (page, next) = try page(of: rest)
            let now = timebase.now().wall.microseconds
            if !page.isEmpty {
                responder.reply(Subscribe.Reply.present(page.map(\.wireStatus), atUSec: now), continues: true)
                subscribers.told(number, of: page.map(\.id))
            }
            guard let next else {
                subscribers.toldAll(number)
                return responder.reply(Subscribe.Reply.ready(atUSec: now), continues: true)
            }
            responder.whenRead {
                self.queue.async {
                    self.assumeIsolated { $0.tell(number, next, responder) }
                }
            }
        } catch {
            subscribers.remove(number)
            responder.fail(error)
        }
    }

    private func page(of rest: Rest) throws(VarlinkError) -> (accounts: [ShownAccount], next: Rest?) {
        try stored(checkStorePlace())
        let size = CallerLimits.presentPage
        switch rest {
        case .all(let last):
            let accounts = try stored(shownAccounts(afterID: last, limit: size))
            return (accounts, accounts.count < size ? nil : accounts.last.map { .all(after: $0.id) })
        case .named(let names):
            let accounts = try names.prefix(size).map { name throws(VarlinkError) in
                try shownAccount(name)
            }
            let left = names.dropFirst(size)
            return (accounts, left.isEmpty ? nil : .named(left))
        }
    }
}
