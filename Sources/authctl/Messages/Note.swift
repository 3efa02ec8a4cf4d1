/// A line `authctl: note: …`: good to know, and nothing is wrong.
enum Note: Hashable, Sendable {
    // While it waits.
    case waiting(subject: String, seconds: Int32)
    /// The daemon waits that long for an authorization server, and answers after it.
    case waitingForServer(account: String)
    case waitingForDaemon
    /// The daemon has gone, and the next one is awaited for that long.
    case daemonEnded(seconds: Int)
    case daemonRestarted

    // What to type next.
    case firstAccount
    case signIn(account: String)
    case signInForScopes(account: String)
    /// The daemon's own advice.
    case next(String)
    case askConsent(account: String)
    case removeAfterMove(account: String)
    /// The account was parked, and its export could not be written.
    case parkedWithoutExport(account: String)
    /// The person has interrupted the command, but the daemon does not stop half-way.
    case importContinues(account: String)

    // What a command found or did.
    case signedInAs(person: String)
    case onlyIDToken(subject: String)
    case oldRefreshTokenKept
    case registeredClient(id: String)
    case registerRedirect(uri: String)
    case knownServer(provider: String)
    /// What a provider's profile says about the client, scopes and the like.
    case ofProvider(String)
    /// How the daemon gets the proxy of this shell.
    case ofProxy(String)
    case schemeTaken(uri: String, previous: String?)
    case exportHasSecrets(file: String)
    case emptyHistory(account: String, hours: Int)
    case noJournald
    case nothingToRefresh
    case nothingToResume

    // The store.
    case backupNeedsKey
    case backupNeedsKeys([String])
    case unreadableSecrets(Int64)
    case oldKeyLeft(reason: String)
    case oldBackups
}

extension Note {
    /// The error text: lower case, no full stop.
    var text: String {
        switch self {
        case .waiting(let subject, let seconds): "waiting for \(subject), at most \(seconds) s"
        case .waitingForServer(let account): "waiting for \(DaemonConnection.server(of: account)), at most 40 s"
        case .waitingForDaemon: "waiting for the daemon; Ctrl-C ends"
        case .daemonEnded(let seconds): StatusWords.daemonMissed(seconds: seconds)
        case .daemonRestarted: "the daemon was restarted; the present state follows"
        case .firstAccount: "to add the first account: \(StatusWords.firstLogin)"
        case .signIn(let account): "next: authctl login \(account)"
        case .signInForScopes(let account): "to get the new scopes: authctl login \(account)"
        case .next(let hint): "next: \(hint)"
        case .askConsent(let account):
            "to ask the server for a refresh token: authctl login \(account) --prompt consent"
        case .removeAfterMove(let account):
            "'\(account)' is parked here; after the import on the other machine: authctl account remove \(account)"
        case .parkedWithoutExport(let account):
            "'\(account)' is parked here, but its export was not written;"
                + " if no other machine has it: authctl account resume \(account)"
        case .importContinues(let account):
            "the daemon continues the import of '\(account)'; for its result: authctl status \(account)"
        case .signedInAs(let person): "signed in as \(person)"
        case .onlyIDToken(let subject):
            "'\(subject)' signed in; the account has not changed, because an ID token alone cannot be refreshed"
        case .oldRefreshTokenKept: "the server gave no refresh token; the account keeps the one that it has"
        case .registeredClient(let id): "the server registered this client for the account: \(id)"
        case .registerRedirect(let uri): "register this redirect URI with the client: \(uri)"
        case .knownServer(let provider):
            "this server has the provider profile '\(provider)', which is used: authctl provider show \(provider)"
        case .ofProvider(let text), .ofProxy(let text): text
        case .schemeTaken(let uri, let previous):
            "the desktop now hands addresses like '\(uri)' to authctl"
                + (previous.map { ", instead of '\($0)'" } ?? "")
        case .exportHasSecrets(let file): "'\(file)' contains secrets; remove it after the import"
        case .emptyHistory(let account, let hours):
            "your journal has no entry about '\(account)' for the last \(hours == 1 ? "hour" : "\(hours) hours");"
                + " for its state: authctl status \(account)"
        case .noJournald: "journald does not run on this machine; the daemon writes to its standard error instead"
        case .nothingToRefresh: "no account has a grant to refresh with: authctl status"
        case .nothingToResume: "no account is parked because its store came from another machine: authctl status"
        case .backupNeedsKey: "the file does not contain the store's key; without a copy of the key nobody can open it"
        case .backupNeedsKeys(let keys):
            "a key change is unfinished: the file needs the keys \(keys.joined(separator: " and "));"
                + " finish it, then back up again: authctl store rekey"
        case .unreadableSecrets(let count):
            "no key opens \(count) of the secrets; they were left as they are: authctl status"
        case .oldKeyLeft(let reason): "the old key is not destroyed yet: \(reason)"
        case .oldBackups: "earlier backups open only with the old key; make a new one: authctl store backup FILE"
        }
    }
}
