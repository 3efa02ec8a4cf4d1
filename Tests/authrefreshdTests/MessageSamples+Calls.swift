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

    static let journalDetails: [JournalDetail] = [
        .clockStepsUnnoticed, .networkAssumed, .socketPathChecked(every: .seconds(10)),
        .storeFilesChecked(every: .seconds(10)), .noSystemBus, .systemBusGone, .answerOverdue, .socketUnitUnchanged,
        .restartNeeded(keys: ["request_timeout"]), .tooManyChanges(limit: 100),
        .managerUnreachable(.busUnavailable(errno: 2)), .unitRefused(reason: "the service manager refuses"),
        .clockMoved(by: .seconds(-90)), .newKey(.nextFile),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: JournalDetail) -> String {
        switch text {
        case .clockStepsUnnoticed: "clockStepsUnnoticed"
        case .networkAssumed: "networkAssumed"
        case .socketPathChecked: "socketPathChecked"
        case .storeFilesChecked: "storeFilesChecked"
        case .noSystemBus: "noSystemBus"
        case .systemBusGone: "systemBusGone"
        case .answerOverdue: "answerOverdue"
        case .socketUnitUnchanged: "socketUnitUnchanged"
        case .restartNeeded: "restartNeeded"
        case .tooManyChanges: "tooManyChanges"
        case .managerUnreachable: "managerUnreachable"
        case .unitRefused: "unitRefused"
        case .clockMoved: "clockMoved"
        case .newKey: "newKey"
        }
    }

    static let journalDetailsCount = 14
}
