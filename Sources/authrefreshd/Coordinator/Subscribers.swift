internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// The callers of `Subscribe`.
struct Subscribers {
    struct Subscriber {
        let responder: VarlinkResponder
        /// The accounts it follows; nil for all.
        let accounts: Set<AccountID>?
    }

    private var subscribers: [Int: Subscriber] = [:]
    private var nextNumber = 0
    /// What they have not been sent yet, by their numbers.
    private var unsent: [Int: [VarlinkReply]] = [:]

    var isEmpty: Bool { subscribers.isEmpty }
    var count: Int { subscribers.count }

    /// - Returns: the number to remove it by.
    mutating func add(_ subscriber: Subscriber) -> Int {
        nextNumber += 1
        subscribers[nextNumber] = subscriber
        return nextNumber
    }

    mutating func remove(_ number: Int) {
        subscribers[number] = nil
        unsent[number] = nil
    }

    /// Has something to tell all who follow `account`, at the next `send`; the reply is encoded once.
    mutating func publish(_ change: @autoclosure () -> Subscribe.Reply, of account: AccountID) {
        var reply: VarlinkReply?
        for (number, subscriber) in subscribers where subscriber.follows(account) {
            let made = reply ?? VarlinkReply(change(), continues: true)
            reply = made
            unsent[number, default: []].append(made)
        }
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

extension Subscribers.Subscriber {
    fileprivate func follows(_ account: AccountID) -> Bool {
        accounts?.contains(account) ?? true
    }
}
