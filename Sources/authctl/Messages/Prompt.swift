/// What a person at the terminal is asked. A question that takes yes or no ends with a question mark, and
/// `Question.confirm` adds the choice. All others end with a colon and a blank.
enum Prompt {
    // A new account.
    static let accountName = "Name of the account: "
    static let provider = "Provider (number, name, or the issuer's https://…): "
    static let clientID = "Client id: "
    static let googleClient = "The JSON file that Google's console gave you, or the client id: "
    static let clientHasSecret = "Does the client have a secret?"
    static let newClientSecret = "Client secret (not shown): "
    static let usualScopes = "Scopes (Enter: the usual ones): "
    static let scopes = "Scopes: "
    static let redirectPort = "Port of the redirect URI that the client is registered with: "
    static let addThis = "Add an account with this name?"
    static let signInNow = "Sign in now?"

    static func purpose(known: String, usual: String) -> String {
        "What the tokens are for (\(known); or scopes) [\(usual)]: "
    }

    static func useInstead(_ server: String) -> String { "Use '\(server)' instead?" }

    /// Where a client is registered, before its id is asked for.
    static func clientIDPlace(_ place: String) -> String { "Get a client id from: \(place)\n" }

    /// - Parameter standard: what an empty line means; nil: something must be typed.
    static func variable(_ name: String, help: String, standard: String?) -> String {
        "\(name), \(help)" + (standard.map { " [\($0)]" } ?? "") + ": "
    }

    // Secrets.
    static let page = "Address of the page: "

    static func clientSecret(of account: String) -> String { "Client secret of '\(account)': " }

    static func refreshToken(of account: String) -> String { "Refresh token of '\(account)': " }

    static func initialAccessToken(of account: String) -> String { "Initial access token for '\(account)': " }

    // Settings.
    static let listWithoutCaller = "You are not on this list, so you would get no more tokens. Set it?"

    // Signing in and out.
    static let askConsent = "Sign in again and ask for consent, to get a refresh token?"
    static let pasteEnd = "Paste the address that the browser ends on (not shown): "
    static let pasteFailedPage = "If the browser's last page does not load, paste its address (not shown): "

    static func signOut(count: Int, names: String) -> String {
        "Sign out of \(count) \(count == 1 ? "account" : "accounts") (\(names))?"
    }

    static func remove(_ account: String) -> String {
        "'\(account)' has a grant, which will be lost. Remove the account?"
    }
}
