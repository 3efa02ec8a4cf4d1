/// The interface's name and text.
package enum Interface {
    /// The interface description, as returned by `GetInterfaceDescription`.
    package static var text: String {
        String(decoding: PackageResources.io_authrefresh_varlink, as: UTF8.self)
    }

    /// The most accounts in a page of `GetStatus` and `ListAccounts`: about 300 KiB of JSON. It never exceeds the 16
    /// MiB that `authctl` reads, because the settings of an account are limited, too (`Limit.settingsBytes`).
    package static let largestPage = 500
}

/// The limits that a caller can reach, by their names in `LimitExceeded`. Of what is limited for all callers together, a
/// process may have half of what the others leave.
///
/// The daemon's `CallerLimits` and `ServerLimits` have their values and reasons.
package enum Limit: String, CaseIterable, Sendable {
    /// Accounts.
    case accounts
    /// Units and executables on one account's lists.
    case allowedCallers
    /// Open questions to the user.
    case confirmations
    /// Open connections.
    case connections
    /// Accounts whose tokens are derived from one account.
    case derivedAccounts
    /// Calls of `Diagnose`, `DiscoverProvider` and `CheckServer` under way.
    case diagnoses
    /// Registrations, sign-outs and proofs of imported grants under way.
    case serverCalls
    /// Calls for several replies under way, such as those of subscribers and agents.
    case heldCalls
    /// Bytes of one call.
    case messageBytes
    /// Calls of one process that wait because it makes too many.
    case pacedCalls
    /// Accounts named in one call.
    case page
    /// Bytes of a token or client secret in a call.
    case secretBytes
    /// Bytes of one account's settings.
    case settingsBytes
    /// Sign-ins under way.
    case signIns
    /// Accounts that one subscriber follows.
    case subscribedAccounts
    /// Accounts with a token file.
    case tokenFiles
    /// Bytes of the scopes, resources and audience of a token set.
    case tokenSetBytes
    /// Token sets of an account that have a valid token or waiting callers.
    case tokenSets
    /// Bytes of unread replies.
    case unreadBytes
    /// Bytes of unfinished calls.
    case unfinishedBytes
    /// Addresses of one account.
    case urls
    /// Web sessions under way.
    case webSessions

    /// Whether there is room again when others end what they do. Otherwise only a smaller call helps, or removing
    /// something.
    package var passes: Bool {
        switch self {
        case .confirmations, .connections, .diagnoses, .serverCalls, .heldCalls, .pacedCalls, .signIns, .tokenSets,
            .unreadBytes, .unfinishedBytes, .webSessions:
            true
        case .accounts, .allowedCallers, .derivedAccounts, .messageBytes, .page, .secretBytes, .settingsBytes,
            .subscribedAccounts, .tokenFiles, .tokenSetBytes, .urls:
            false
        }
    }
}

/// The version of the package and of all its programs.
package enum Version {
    /// The version that `--version` prints and `GetInfo` returns: `0.1.0`.
    package static let text = "0.1.0"
}
