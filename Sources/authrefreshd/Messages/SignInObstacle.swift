internal import RefreshCore
internal import SignIn

/// What keeps a sign-in from beginning or from ending with tokens, as far as this daemon knows it without the server.
/// `authctl` shows it as "'work' was not signed in: REASON".
enum SignInObstacle: SignInCause, Hashable {
    case stopping
    /// A sign-in with other options is under way; `command` is what begins it.
    case otherOptions(command: String)
    case serviceAccount(AccountName)
    case nameTaken(AccountName)
    /// `account` lacks a setting that its provider needs.
    case missing(MissingSetting, account: AccountName)

    // The way that was chosen.
    case strongerOnDevice
    case idTokenOnDevice
    case policyOnDevice
    case redirectElsewhere(uri: String)
    case noScheme
    /// The sign-in of `other` listens on the port.
    case portOfSignIn(other: AccountName, RedirectListenerError)
    case portUnusable(account: AccountName, RedirectListenerError)

    // Passwords.
    case passwordAskedTwice
    /// `command` names the policy in which passwords are reset.
    case noPasswordPolicy(command: String)
}

extension SignInObstacle {
    /// Lower case, no full stop.
    var reason: String {
        switch self {
        case .stopping: "the daemon is stopping"
        case .otherOptions: "a sign-in of this account with other options is under way"
        case .serviceAccount: "it is a service account, which gets its tokens without a person"
        case .nameTaken(let name): "an account named '\(name)' was added meanwhile"
        case .missing(let missing, _): missing.reason
        case .strongerOnDevice: "a device code cannot ask for a stronger or newer sign-in"
        case .idTokenOnDevice: "a device code does not support a nonce or a response type"
        case .policyOnDevice: "a device code cannot run another policy"
        case .redirectElsewhere(let uri): "the redirect URI '\(uri)' does not lead to this machine"
        case .noScheme: "the client has no redirect URI with a scheme of its own"
        case .portOfSignIn(_, let error), .portUnusable(_, let error): error.reason
        case .passwordAskedTwice: "the server asked a second time for the password to be reset"
        case .noPasswordPolicy: "you forgot the password, and the account does not name the policy that resets it"
        }
    }

    /// What to do, with the command; nil: what helps with all failures of this kind.
    var hint: String? {
        switch self {
        case .stopping, .nameTaken, .redirectElsewhere, .noScheme, .passwordAskedTwice: nil
        case .otherOptions(let command): "\(command) --restart, with the options"
        case .serviceAccount(let account): "authctl refresh \(account)"
        case .missing(let missing, let account): missing.hint(after: "authctl account edit \(account) ")
        case .strongerOnDevice, .idTokenOnDevice, .policyOnDevice: "--flow browser, or --flow paste"
        case .portOfSignIn(let other, _): "finish the sign-in of '\(other)' first, or end it with Ctrl-C"
        case .portUnusable(let account, _):
            "end the program that has the port (ss -ltnp), or use another one:"
                + " authctl account edit \(account) --redirect-port PORT"
        case .noPasswordPolicy(let command): "\(command), with that policy's name"
        }
    }

    /// The failure that ends the sign-in.
    func failure(_ kind: SignInFailure.Kind) -> SignInFailure {
        SignInFailure(kind, self)
    }
}
