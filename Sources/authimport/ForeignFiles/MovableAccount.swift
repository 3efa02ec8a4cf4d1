internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// An account of another program, with everything that can be taken over.
struct MovableAccount: Sendable {
    /// The program that has the account.
    var source: SourceProgram
    /// The program's name for the account.
    var sourceName: String
    /// The settings for `AddAccount`. Their `name` is a suggestion for the account's name.
    var settings: AccountSettings
    /// The client secret; nil if the client has none.
    var clientSecret: Secret?
    /// The refresh token; nil if only the settings can be taken over, and the user has to sign in again.
    var refreshToken: Secret?
    /// The file or the command that it was read from, for display.
    var origin: String
    /// The folder in which the program caches the account's tokens; nil for its usual one.
    var cacheFolder: String?
    /// What could not be taken over, in whole sentences. The last one may end with a command instead of a full stop.
    var notes: [Hint]

    /// Creates an account.
    ///
    /// - Parameter sourceName: nil uses the name in the settings.
    init(
        source: SourceProgram,
        sourceName: String? = nil,
        settings: AccountSettings,
        clientSecret: Secret? = nil,
        refreshToken: Secret? = nil,
        origin: String,
        notes: [Hint] = []
    ) {
        self.source = source
        self.sourceName = sourceName ?? settings.name
        self.settings = settings
        self.clientSecret = clientSecret
        self.refreshToken = refreshToken
        self.origin = origin
        self.notes = notes
    }

    /// Takes the server that the source names, and what is worth knowing about it.
    mutating func take(_ server: NamedServer) {
        server.place(in: &settings)
        notes += server.notes
    }
}

extension MovableAccount {
    /// The longest account name, in characters. The first character is not a dot, a dash or a colon.
    private static let nameMax = 64

    /// The name from another program, with a dash for each character that an account name cannot have.
    ///
    /// - Parameter fallback: the name to use if no character is usable.
    static func name(from text: String, fallback: String) -> String {
        let characters = text.unicodeScalars.map { isPossible($0) ? Character($0) : "-" }
        let name = String(characters.drop { "-.".contains($0) }.prefix(nameMax))
        return name.isEmpty ? fallback : name
    }

    private static func isPossible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "@", "+", ".", "-": true
        default: false
        }
    }
}
