package import RefreshCore
internal import Synchronization

/// Finds the access token of an account for callers on other threads than the store's owner's.
///
/// It tells what is stored at that very moment: what it found before is used again only as long as nothing was written since. It never
/// waits: while the owner is at work in the database, the owner has to be asked.
package final class TokenReader: Sendable {
    private let database: SharedDatabase
    private let sealer: Mutex<Sealer>
    /// Whether the owner knows what is not in the store yet.
    private let isBehind = Atomic<Bool>(false)

    init(_ database: SharedDatabase, sealer: Sealer) {
        self.database = database
        self.sealer = Mutex(sealer)
    }

    /// The token of the account of this name; nil if the owner has to be asked: there is none, it is not for every caller, its row is
    /// damaged, or the owner is at work.
    package func token(of name: String) -> DatedToken? {
        guard !isBehind.load(ordering: .acquiring) else { return nil }
        return database.tokenIfFree(of: name, sealer.withLock(\.self))
    }

    /// Has everybody ask the owner, while the owner knows what is not in the store yet.
    package func setBehind(_ isBehind: Bool) {
        self.isBehind.store(isBehind, ordering: .releasing)
    }

    func use(_ sealer: Sealer) {
        self.sealer.withLock { $0 = sealer }
    }
}

/// An account's access token, with all that says how long it is good.
package struct DatedToken: Sendable {
    package let token: AccessToken
    package let times: AccessTokenTimes

    package init(token: AccessToken, times: AccessTokenTimes) {
        self.token = token
        self.times = times
    }
}
