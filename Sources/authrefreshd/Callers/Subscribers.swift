internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Synchronization
internal import Varlink

/// The callers of `Subscribe`: those who follow all accounts, and those who follow single accounts by name.
struct Subscribers {
    /// How much of the initial state a subscriber has received.
    private enum Following {
        /// All accounts up to this one. The others follow with the rest of the initial state.
        case all(upTo: AccountID)
        case named(Set<AccountID>)
    }

    private struct Subscriber {
        let responder: VarlinkResponder
        var following: Following
    }

    private var subscribers: [Int: Subscriber] = [:]
    /// The numbers of the subscribers to all accounts.
    private var ofAll: Set<Int> = []
    /// The numbers of the subscribers to single accounts.
    private var ofAccount: [AccountID: Set<Int>] = [:]
    private var lastNumber = 0
    /// The replies that were not sent yet, by subscriber.
    private var unsent: [Int: [SharedReply]] = [:]

    var isEmpty: Bool { subscribers.isEmpty }
    var count: Int { subscribers.count }

    /// Adds a subscriber, who has received nothing yet.
    ///
    /// - Returns: its number.
    mutating func add(_ responder: VarlinkResponder, followsAll: Bool) -> Int {
        lastNumber += 1
        let following = followsAll ? Following.all(upTo: AccountID(0)) : .named([])
        subscribers[lastNumber] = Subscriber(responder: responder, following: following)
        if followsAll { ofAll.insert(lastNumber) }
        return lastNumber
    }

    /// Whether the subscriber is still connected.
    func contains(_ number: Int) -> Bool {
        subscribers[number] != nil
    }

    /// Records that a subscriber has received the state of these accounts. From now on it gets their changes.
    ///
    /// - Parameter accounts: for a subscriber to all accounts, the next ones in the order of their numbers.
    mutating func told(_ number: Int, of accounts: [AccountID]) {
        switch subscribers[number]?.following {
        case nil: return
        case .all(let last): subscribers[number]?.following = .all(upTo: accounts.last ?? last)
        case .named(let known):
            subscribers[number]?.following = .named(known.union(accounts))
            for account in accounts { ofAccount[account, default: []].insert(number) }
        }
    }

    /// Records that a subscriber to all accounts has received all of them. From now on it gets every change.
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

    /// Queues a change for all subscribers to `account`, until the next `send`. The reply is made and encoded once.
    mutating func publish(
        _ change: @autoclosure @escaping @Sendable () -> Subscribe.Reply,
        of account: AccountID
    ) {
        var concerned = ofAccount[account] ?? []
        for number in ofAll {
            if case .all(let last) = subscribers[number]?.following, account <= last { concerned.insert(number) }
        }
        guard !concerned.isEmpty else { return }
        let reply = SharedReply { VarlinkReply(change(), continues: true) }
        for number in concerned { unsent[number, default: []].append(reply) }
    }

    /// Queues news of an account for all its subscribers, until the next `send`.
    mutating func publish(_ news: AccountNews, of snapshot: AccountSnapshot, previousName: String?) {
        publish(
            Subscribe.Reply(
                event: news.rawValue,
                atUSec: snapshot.at.wall.microseconds,
                accounts: news == .accountRemoved ? [] : [snapshot.wireStatus],
                account: snapshot.account.name.text,
                previousName: previousName
            ),
            of: snapshot.account.id
        )
    }

    /// Queues news of an account that cannot be read.
    mutating func publish(_ news: AccountNews, of account: DamagedAccount, at now: Timestamp) {
        publish(
            Subscribe.Reply(
                event: news.rawValue,
                atUSec: now.microseconds,
                accounts: news == .accountRemoved ? [] : [account.wireStatus],
                account: account.name
            ),
            of: account.id
        )
    }

    /// Sends the queued replies. Each subscriber wakes the socket's thread once.
    mutating func send() {
        // Send in the order of arrival, so that the order does not depend on hashing.
        for (number, replies) in unsent.sorted(by: { $0.key < $1.key }) {
            subscribers[number]?.responder.send { replies.map(\.value) }
        }
        unsent = [:]
    }
}

/// A reply to several subscribers. The socket's thread encodes it when it sends the first one, because the coordinator
/// has more to do.
private final class SharedReply: Sendable {
    private let make: @Sendable () -> VarlinkReply
    private let made = Mutex<VarlinkReply?>(nil)

    init(_ make: @escaping @Sendable () -> VarlinkReply) {
        self.make = make
    }

    var value: VarlinkReply {
        made.withLock { made in
            if let made { return made }
            let reply = make()
            made = reply
            return reply
        }
    }
}
