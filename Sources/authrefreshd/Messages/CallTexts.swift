internal import Systemd

/// Reasons and hints of calls about token sets, sign-ins, imported grants and servers.
enum CallText: Hashable {
    // Token sets.
    case declinedScope(String)
    case askForScopeAgain(account: String)
    case showGrant(account: String)
    case signInWithScopes(account: String)

    // Sign-ins and imported grants.
    case otherPerson(account: String, signedIn: String, owner: String)
    case importLater
    case callbackTaken

    // Servers.
    case profileContradicts(profile: String, issuer: String)
    case offline
    case serverLater

    /// Lower case, no full stop.
    var text: String {
        switch self {
        case .declinedScope(let scope): "'\(scope)' was requested when you signed in, and not granted"
        case .askForScopeAgain(let account): "to be asked again: authctl login \(account) --prompt consent"
        case .showGrant(let account): "'authctl account show \(account)' shows what its grant covers"
        case .signInWithScopes(let account):
            "sign in with the account's scopes and these: authctl login \(account) --scope SCOPE --scope SCOPE"
        case .otherPerson(let account, let signedIn, let owner):
            "sign in as '\(owner)', or give the account to '\(signedIn)': authctl login \(account) --replace"
        case .importLater: "import it again later"
        case .callbackTaken: "another web session waits for this callback"
        case .profileContradicts(let profile, let issuer):
            "the provider profile '\(profile)' says that its issuer is '\(issuer)'"
        case .offline: "there is no network"
        case .serverLater: "check the URL and the network, or try again later"
        }
    }
}

/// A process that called, as a refusal and the journal describe it.
enum CallerText {
    static let ended = "the caller ended before the daemon could identify it"

    static func running(_ process: CallingProcess) -> String {
        let executable = process.executable.map { "runs '\($0)'" } ?? "runs an executable that the daemon cannot see"
        let unit = process.unit.map { "in the unit '\($0)'" } ?? "in no unit"
        return "the caller (pid \(process.pid)) \(executable) \(unit)"
    }
}
