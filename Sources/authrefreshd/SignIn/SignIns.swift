internal import RefreshCore
internal import SignIn

/// The sign-ins that are under way: at most one for each account.
struct SignIns {
    private var running: [AccountID: RunningSignIn] = [:]
    private var lastFollower = 0

    var isEmpty: Bool { running.isEmpty }
    var isFull: Bool { running.count >= CallerLimits.signInsMax }
    var accounts: [AccountID] { running.keys.sorted() }

    subscript(_ account: AccountID) -> RunningSignIn? {
        get { running[account] }
        set { running[account] = newValue }
    }

    /// The sign-in that is called so; nil if it is over.
    func named(_ id: String) -> RunningSignIn? {
        running.values.first { $0.id == id }
    }

    /// The sign-in whose request had this `state`; nil if none has.
    func expecting(_ state: Secret) -> RunningSignIn? {
        running.values.first { $0.secrets.state == state }
    }

    /// A number that no follower has.
    mutating func nextFollower() -> Int {
        lastFollower += 1
        return lastFollower
    }

    /// How long until one of them has to be told that time has passed; nil if none has.
    func remaining(at now: Moment) -> Duration? {
        running.values.compactMap { $0.attempt.remaining(at: now) }.min()
    }
}
