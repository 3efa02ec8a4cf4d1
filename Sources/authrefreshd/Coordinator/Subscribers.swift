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

    var isEmpty: Bool { subscribers.isEmpty }
    var isFull: Bool { subscribers.count >= CallerLimits.subscribersMax }

    /// - Returns: the number to remove it by.
    mutating func add(_ subscriber: Subscriber) -> Int {
        nextNumber += 1
        subscribers[nextNumber] = subscriber
        return nextNumber
    }

    mutating func remove(_ number: Int) {
        subscribers[number] = nil
    }

    /// Tells all who follow `account`; the reply is encoded once.
    func publish(_ change: @autoclosure () -> Subscribe.Reply, of account: AccountID) {
        guard !subscribers.isEmpty else { return }
        var reply: VarlinkReply?
        // In the order of arrival, so that what one sees does not depend on hashing.
        for (_, subscriber) in subscribers.sorted(by: { $0.key < $1.key }) where subscriber.follows(account) {
            let made = reply ?? VarlinkReply(change(), continues: true)
            reply = made
            subscriber.responder.send(made)
        }
    }
}

extension Subscribers.Subscriber {
    fileprivate func follows(_ account: AccountID) -> Bool {
        accounts?.contains(account) ?? true
    }
}
