internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// The callers of `Subscribe`: those who follow all accounts, and for each account those who follow it by name.
struct Subscribers {
    /// How far a subscriber has come.
    private enum Following {
        /// All accounts up to this one: those behind it are told with the rest of the present state.
        case all(upTo: AccountID)
        case named(Set<AccountID>)
    }

    private struct Subscriber {
        let responder: VarlinkResponder
        var following: Following
    }

    private var subscribers: [Int: Subscriber] = [:]
    /// The numbers of those who follow all.
    private var ofAll: Set<Int> = []
    /// The numbers of those who follow an account by name.
    private var ofAccount: [AccountID: Set<Int>] = [:]
    private var lastNumber = 0
    /// What they have not been sent yet, by their numbers.
    private var unsent: [Int: [VarlinkReply]] = [:]

    var isEmpty: Bool { subscribers.isEmpty }
    var count: Int { subscribers.count }

    /// Adds a subscriber who has been told nothing yet.
    ///
    /// - Returns: the number to name it by.
    mutating func add(_ responder: VarlinkResponder, followsAll: Bool) -> Int {
        lastNumber += 1
        let following = followsAll ? Following.all(upTo: AccountID(0)) : .named([])
        subscribers[lastNumber] = Subscriber(responder: responder, following: following)
        if followsAll { ofAll.insert(lastNumber) }
        return lastNumber
    }

    /// False once it has gone.
    func contains(_ number: Int) -> Bool {
        subscribers[number] != nil
    }

    /// A subscriber has been told of these accounts, and hears of their changes from now on.
    ///
    /// - Parameter accounts: for one who follows all, those that come next in the order of their numbers.
    mutating func told(_ number: Int, of accounts: [AccountID]) {
        switch subscribers[number]?.following {
        case nil: return
        case .all(let last): subscribers[number]?.following = .all(upTo: accounts.last ?? last)
        case .named(let known):
            subscribers[number]?.following = .named(known.union(accounts))
            for account in accounts { ofAccount[account, default: []].insert(number) }
        }
    }

    /// A subscriber to all accounts has been told of all of them, and hears of every one from now on.
    mutating func toldAll(_ number: Int) {
        guard case .all = subscribers[number]?.following else { return }
        subscribers[number]?.following = .all(upTo: AccountID(.max))
    }

    mutating func remove(_ number: Int) {
        unsent[number] = nil
        ofAll.remove(number)
        guard case .named(let accounts) = subscribers.removeValue(forKey: number)?.following else { return }
        for account in accounts {
            ofAccount[account]?.remove(number)
            if ofAccount[account]?.isEmpty == true { ofAccount[account] = nil }
        }
    }

    /// Has something to tell all who follow `account`, at the next `send`; the reply is encoded once.
    mutating func publish(_ change: @autoclosure () -> Subscribe.Reply, of account: AccountID) {
        var concerned = ofAccount[account] ?? []
        for number in ofAll {
            if case .all(let last) = subscribers[number]?.following, account <= last { concerned.insert(number) }
        }
        guard !concerned.isEmpty else { return }
        let reply = VarlinkReply(change(), continues: true)
        for number in concerned { unsent[number, default: []].append(reply) }
    }

    /// Has what happened to an account told to all who follow it, at the next `send`.
    mutating func publish(_ announcement: Announcement, of snapshot: AccountSnapshot) {
        guard let name = announcement.wireName else { return }
        publish(
            Subscribe.Reply(
                event: name,
                atUSec: snapshot.at.wall.microseconds,
                accounts: announcement.isRemoval ? [] : [snapshot.wireStatus],
                account: snapshot.account.name.text,
                previousName: announcement.previousName
            ),
            of: snapshot.account.id
        )
    }

    /// The same for an account that turned out to be damaged.
    mutating func publishDamage(of account: DamagedAccount, at now: Timestamp) {
        publish(
            Subscribe.Reply(
                event: "misconfigured",
                atUSec: now.microseconds,
                accounts: [account.wireStatus],
                account: account.name
            ),
            of: account.id
        )
    }

    /// The same for the removal of a damaged account.
    mutating func publishRemoval(of account: DamagedAccount, at now: Timestamp) {
        publish(
            Subscribe.Reply(event: "account-removed", atUSec: now.microseconds, accounts: [], account: account.name),
            of: account.id
        )
    }

    /// Sends what has been published: all of it wakes the socket's thread once for each subscriber.
    mutating func send() {
        // In the order of arrival, so that what one sees does not depend on hashing.
        for (number, replies) in unsent.sorted(by: { $0.key < $1.key }) {
            subscribers[number]?.responder.send(replies)
        }
        unsent = [:]
    }
}
