internal import AccountStorage

/// What the daemon says about itself in one line: `systemctl status` shows it, and `authctl status` its troubles.
enum StatusText {
    static let rejectedConfiguration = "the new configuration is invalid, the previous one is in force"
    static let storeUnreadable = "the store cannot be read"
    static let offline = "offline"
    static let noDescriptors = "no file descriptor is left, callers are let in one at a time"

    /// While the daemon waits for its store, or for the store's key.
    static func closed(_ error: StoreError) -> String {
        (error.isLocked ? "locked: " : "waiting: ") + "\(error); \(error.hint ?? "authctl status")"
    }

    static func trouble(_ error: StoreError) -> String { "trouble: \(error)" }

    static func keyGone(_ error: StoreKeyError) -> String { "the store's key is gone: \(error.description)" }

    static func accounts(_ count: Int) -> String { count == 1 ? "1 account" : "\(count) accounts" }

    static func needSignIn(_ count: Int) -> String { count == 1 ? "1 needs a sign-in" : "\(count) need a sign-in" }

    static func damaged(_ count: Int) -> String { "\(count) damaged" }

    static func misconfigured(_ count: Int) -> String { "\(count) misconfigured" }

    static func retrying(_ count: Int) -> String { "\(count) retrying" }

    /// - Parameter others: how many servers there are beside `issuer`.
    static func behind(_ issuer: String, others: Int) -> String {
        "accounts wait for their turn at \(issuer)" + (others > 0 ? " and \(others) more" : "")
    }

    static func nextRefresh(_ time: String) -> String { "next refresh \(time)" }
}

/// Why an account that has a valid token has no token file.
enum TokenFileLack: Hashable {
    case otherAccounts
    case schemeNeedsMore(scheme: String)
    case unprintable
    case serviceAccount
    case noIDToken
    case idTokenExpired

    /// Lower case, no full stop.
    var text: String {
        switch self {
        case .otherAccounts: "another account writes this file"
        case .schemeNeedsMore(let scheme): "a token of the type '\(scheme)' needs more than a header line"
        case .unprintable: "the token has characters that no header may carry"
        case .serviceAccount: "the account acts for itself, and an ID token is about a person who signed in"
        case .noIDToken: "there is no ID token: sign in with the scope 'openid'"
        case .idTokenExpired: "the ID token has expired, and the last refresh brought no new one: sign in again"
        }
    }

    /// - Parameter reason: why the folder or the file cannot be written.
    static func cannotBeWritten(_ reason: String) -> String { "it cannot be written: \(reason)" }
}
