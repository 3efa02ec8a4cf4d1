import AccountStorage
import OAuthMessages
import RefreshCore
import SignIn
import Systemd

@testable import authrefreshd

/// One value of each text that a kind of the daemon's still has in an enumeration. The switches do not compile once a
/// case is missing here; a test counts the lists.
enum MessageSamples {
    static let work = account("work")

    static func account(_ name: String) -> AccountName {
        guard let name = AccountName(name) else { preconditionFailure("'work' and 'bot' are names") }
        return name
    }

    static let tokenFileLacks: [TokenFileLack] = [
        .otherAccounts, .schemeNeedsMore(scheme: "DPoP"), .unprintable, .serviceAccount, .noIDToken, .idTokenExpired,
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: TokenFileLack) -> String {
        switch text {
        case .otherAccounts: "otherAccounts"
        case .schemeNeedsMore: "schemeNeedsMore"
        case .unprintable: "unprintable"
        case .serviceAccount: "serviceAccount"
        case .noIDToken: "noIDToken"
        case .idTokenExpired: "idTokenExpired"
        }
    }

    static let tokenFileLacksCount = 6
}
