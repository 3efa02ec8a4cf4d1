/// Why a sign-in fails, apart from what a server's answer to a request says.
enum SignInFault: SignInCause, Hashable {
    /// `owner` is the person to whom the account belongs.
    case personUnknown(owner: String)
    /// The server was asked, and named nobody.
    case personNotNamed(owner: String)
    case storeUnwritable
    case codeRefused
    /// The browser brought an error of the server.
    case serverError
    case mistrusted(Mistrust)

    var hint: String? {
        switch self {
        case .personNotNamed(let owner):
            "if you are not '\(owner)', or the server never says who signs in, repeat the sign-in with --replace"
        case .personUnknown, .storeUnwritable, .codeRefused, .serverError, .mistrusted: nil
        }
    }

    var reason: String {
        switch self {
        case .personUnknown(let owner):
            "the server did not say who signed in, and the account belongs to '\(owner)'"
        case .personNotNamed(let owner):
            "the server does not say who signed in, and the account belongs to '\(owner)'"
        case .storeUnwritable: "the tokens arrived, but the store cannot be written"
        case .codeRefused: "the authorization server refuses the code"
        case .serverError: "the server sent the browser back with an error"
        case .mistrusted(.wrongIssuer): "the answer names another issuer than the one that you sign in to"
        case .mistrusted(.noIssuer): "the answer does not name its issuer, although this server's answers should"
        case .mistrusted(.codeAndError): "the answer has both a code and an error"
        case .mistrusted(.malformedCode): "the answer has a malformed code, or one that was not requested"
        case .mistrusted(.noIDToken): "the answer lacks the ID token that was requested"
        }
    }
}

/// Why the listener for a browser's answer could not be opened.
package enum RedirectListenerError: Error, Hashable, Sendable {
    /// Another program listens on the port.
    case portTaken(Int)
    /// The port cannot be used: `EACCES` below 1024.
    case cannotListen(port: Int, errno: Int32)

    /// Lower case, no full stop.
    package var reason: String {
        switch self {
        case .portTaken(let port): "another program listens on port \(port) of this machine"
        case .cannotListen(let port, let errno): "port \(port) of this machine is unavailable (error \(errno))"
        }
    }
}
