internal import TextEncodings

/// A line `authctl: warning: …`: the command went on, and something should be looked at.
enum Warning: Hashable, Sendable {
    // Tokens and files.
    case shortToken(left: String, asked: String)
    case fileOpenToOthers(path: String)
    case tokenFileOpenToAll(path: String)
    case noTokenInClear(url: String)

    // The server.
    case serverNotAsked(issuer: String, reason: String)
    /// It speaks against the server that the person named.
    case otherServer(String)

    // The client.
    /// None of the redirect URIs in its file is on this machine.
    case noLoopbackRedirect

    // After a sign-in.
    case samePerson(other: String, account: String)
    case scopesNotGranted(scopes: String, account: String)
    case noRefreshToken

    // During a sign-in.
    /// The next way to sign in is tried.
    case flowRefused(String)
    case openYourself(reason: String)
    case notAnAddress
    /// The daemon's word on an address that was pasted.
    case addressRefused(String)
    case schemeNotTaken(reason: String)
    /// Only the account's settings name the scheme.
    case schemeNotNamed(scheme: String, command: String)

    // The answer to a question cannot be used.
    case badAccountName
    case nameInUse(String)
    case notAPurpose(String)
    case severalProviders(names: [String])
    /// `nearest` is the provider that may be meant.
    case noSuchProvider(nearest: String?)
}

extension Warning {
    /// The error text: lower case, no full stop.
    var text: String {
        switch self {
        case .shortToken(let left, let asked): "the token is valid for only \(left); \(asked) was asked for"
        case .fileOpenToOthers(let path):
            "others can read '\(path)'; to change that: chmod 600 \(ShellWord.quoted(path))"
        case .tokenFileOpenToAll(let path):
            "every program of yours can read the token file '\(path)', even one that is not on the account's list"
        case .noTokenInClear(let url): "no token is sent to '\(url)', because it could be read on the way: use https"
        case .serverNotAsked(let issuer, let reason): "'\(issuer)' could not be asked: \(reason)"
        case .otherServer(let contradiction): contradiction
        case .noLoopbackRedirect:
            "no redirect URI of this client leads to this machine, so the server will refuse the sign-in;"
                + " create a client of the type 'Desktop app' instead"
        case .samePerson(let other, let account):
            "'\(other)' is an account of the same person and client; to keep only that: authctl account remove \(account)"
        case .scopesNotGranted(let scopes, let account):
            "the server did not grant \(scopes); to be asked again: authctl login \(account) --prompt consent"
        case .noRefreshToken:
            "the server gave no refresh token: you must sign in each time the access token expires"
        case .flowRefused(let message): message
        case .openYourself(let reason): "\(reason): open the address yourself"
        case .notAnAddress: "this is not an address"
        case .addressRefused(let message): message
        case .schemeNotNamed(let scheme, let command):
            "the desktop does not hand '\(scheme):' addresses to authctl; if the scheme is yours: \(command)"
        case .schemeNotTaken(let reason): "\(reason); pass the address on yourself: authctl callback URL"
        case .badAccountName: "a name has 1 to 64 letters, digits and ._@+-, and neither - nor . at the beginning"
        case .nameInUse(let name): "an account has this name already: authctl account show \(name)"
        case .notAPurpose(let word): "'\(word)' is not one of these"
        case .severalProviders(let names): "several providers begin with this: \(names.joined(separator: ", "))"
        case .noSuchProvider(let nearest):
            "there is no such provider" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
        }
    }
}
