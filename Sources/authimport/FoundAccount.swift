internal import AuthRefreshInterface
internal import Basics

/// An account found in another program.
struct FoundAccount {
    let source: SourceProgram
    /// The program's name for the account.
    let sourceName: String
    /// The suggested name here.
    let name: String
    /// The file or the command that it comes from.
    let origin: String
    /// The account, as read for the table; nil if it is encrypted and is opened only for the import.
    let account: MovableAccount?
    /// Reads the account again. After the program has stopped, nobody else spends the refresh token.
    let open: () throws(ProgramError) -> MovableAccount

    /// Whether there is probably a refresh token to take over.
    var hasGrant: Bool { account.map { $0.refreshToken != nil } ?? true }

    /// Creates an unencrypted account.
    init(_ account: MovableAccount, open: @escaping () throws(ProgramError) -> MovableAccount) {
        source = account.source
        sourceName = account.sourceName
        name = account.settings.name
        origin = account.origin
        self.account = account
        self.open = open
    }

    /// Creates an encrypted account.
    init(
        locked source: SourceProgram,
        sourceName: String,
        origin: String,
        open: @escaping () throws(ProgramError) -> MovableAccount
    ) {
        self.source = source
        self.sourceName = sourceName
        name = MovableAccount.name(from: sourceName, fallback: source.rawValue)
        self.origin = origin
        account = nil
        self.open = open
    }
}
