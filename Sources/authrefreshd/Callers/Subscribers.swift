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

    /// Sends what has been published: all of it wakes the socket's thread once for each subscriber.
    mutating func send() {
        // In the order of arrival, so that what one sees does not depend on hashing.
        for (number, replies) in unsent.sorted(by: { $0.key < $1.key }) {
            subscribers[number]?.responder.send(replies)
        }
        unsent = [:]
    }
}

/// Something about an account that subscribers are told.
enum Announcement: Sendable {
    case added
    case updated
    case renamed(from: AccountName)
    case removed
    case refreshStarted
    /// How the person's answer is to come back.
    case signInStarted(flow: String)
    /// Why it brought no tokens; no secret, no words of the server's.
    case signInFailed(reason: String)
    /// A resource server wants more than the grant has.
    case stepUpRequired(StepUp)
    /// The server has given the client another secret.
    case clientSecretRenewed
    /// The server takes the client secret not for long any more. Why there is no other; nil if only a person can bring one.
    case clientSecretEnding(RefreshFailure?)
    case changed(AccountChange)

    var isRemoval: Bool {
        if case .removed = self { true } else { false }
    }

    /// What the account was called before, if that has changed.
    var previousName: String? {
        if case .renamed(let name) = self { name.text } else { nil }
    }

    /// The event's name on the wire; nil for what only the journal is told.
    var wireName: String? {
        switch self {
        case .added: "account-added"
        case .updated: "account-updated"
        case .renamed: "account-renamed"
        case .removed: "account-removed"
        case .refreshStarted: "refresh-started"
        case .signInStarted: "sign-in-started"
        case .signInFailed: "sign-in-failed"
        case .stepUpRequired: "interaction-required"
        case .clientSecretRenewed: "account-updated"
        case .clientSecretEnding: "client-secret-ending"
        case .changed(let change):
            switch change {
            case .grantImported: "grant-imported"
            case .signedIn, .accessTokenObtained: "signed-in"
            case .parked: "account-parked"
            case .unparked: "account-resumed"
            case .tokenRefreshed: "token-refreshed"
            case .tokenSetRefreshed: "token-set-refreshed"
            case .tokenSetFailed: "token-set-failed"
            case .refreshFailed, .interactionStillRequired: "refresh-failed"
            case .misconfigured: "misconfigured"
            case .interactionRequired: "interaction-required"
            case .refreshTokenExpiring: "refresh-token-expiring"
            case .signedOut: "signed-out"
            case .staleAnswerDropped: nil
            }
        }
    }
}
