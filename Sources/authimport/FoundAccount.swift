internal import AuthRefreshInterface
internal import MovingIn

/// An account that was found in another program.
struct FoundAccount {
    let source: SourceProgram
    /// As the program calls it.
    let sourceName: String
    /// The name that the account would get.
    let name: String
    /// The file or the command it comes from.
    let origin: String
    /// What was read for the table; nil: it is encrypted, and opened only when it is taken over.
    let account: MovableAccount?
    /// Reads it anew: once the program has stopped, nobody spends the refresh token any more.
    let open: () throws(MovingInError) -> MovableAccount

    /// Whether a refresh token will probably be taken along.
    var hasGrant: Bool { account.map { $0.refreshToken != nil } ?? true }

    /// An account that lies in the open.
    init(_ account: MovableAccount, open: @escaping () throws(MovingInError) -> MovableAccount) {
        source = account.source
        sourceName = account.sourceName
        name = account.settings.name
        origin = account.origin
        self.account = account
        self.open = open
    }

    /// An account that is encrypted.
    init(
        locked source: SourceProgram,
        sourceName: String,
        origin: String,
        open: @escaping () throws(MovingInError) -> MovableAccount
    ) {
        self.source = source
        self.sourceName = sourceName
        name = SuggestedName.from(sourceName, fallback: source.rawValue)
        self.origin = origin
        account = nil
        self.open = open
    }
}
