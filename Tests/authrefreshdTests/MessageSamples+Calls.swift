import AccountStorage
import OAuthMessages
import RefreshCore
import SignIn
import Systemd

@testable import authrefreshd

/// One value of each text about a call that is refused, a sign-in that fails, or a token that cannot be had.
extension MessageSamples {
    static let work = account("work")

    static func account(_ name: String) -> AccountName {
        guard let name = AccountName(name) else { preconditionFailure("'work' and 'bot' are names") }
        return name
    }

    static let denials: [Denial] = [
        .notOnList(
            account: work,
            allowed: "'/usr/bin/mutt'",
            caller: "the caller (pid 7) runs '/usr/bin/curl' in no unit"
        ),
        .deniedByUser(account: work), .unanswered(account: work), .noAgent(account: work), .otherUser(uid: 1000),
        .otherUserInNamespace, .unknownCaller,
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: Denial) -> String {
        switch text {
        case .notOnList: "notOnList"
        case .deniedByUser: "deniedByUser"
        case .unanswered: "unanswered"
        case .noAgent: "noAgent"
        case .otherUser: "otherUser"
        case .otherUserInNamespace: "otherUserInNamespace"
        case .unknownCaller: "unknownCaller"
        }
    }

    static let denialsCount = 7

    static let storeWork: [StoreWork] = [
        .rekeyInterrupted, .backupInterrupted, .checkInterrupted, .notCopied(cause: "no", hint: nil),
        .notCopied(cause: "no", hint: "authctl status"), .noSpaceForCopy(cause: "no space is left"),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: StoreWork) -> String {
        switch text {
        case .rekeyInterrupted: "rekeyInterrupted"
        case .backupInterrupted: "backupInterrupted"
        case .checkInterrupted: "checkInterrupted"
        case .notCopied: "notCopied"
        case .noSpaceForCopy: "noSpaceForCopy"
        }
    }

    static let storeWorkCount = 5

    static let localFailures: [LocalFailure] =
        [
            .noRefreshToken, .changedMeanwhile, .noSessionEnd, .grantChangedMeanwhile, .notRevoked, .notRevokedNow,
            .notRevokedBeforeStop, .answerOverdue,
        ] + sourceFlaws.map { LocalFailure.source(work, $0) }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: LocalFailure) -> String {
        switch text {
        case .noRefreshToken: "noRefreshToken"
        case .changedMeanwhile: "changedMeanwhile"
        case .noSessionEnd: "noSessionEnd"
        case .grantChangedMeanwhile: "grantChangedMeanwhile"
        case .notRevoked: "notRevoked"
        case .notRevokedNow: "notRevokedNow"
        case .notRevokedBeforeStop: "notRevokedBeforeStop"
        case .answerOverdue: "answerOverdue"
        case .source: "source"
        }
    }

    static let localFailuresCount = 9

    static let sourceFlaws: [SourceFlaw] = [
        .removed, .damaged, .otherIssuer, .noSuchToken, .needsSignIn, .signedOut, .parked, .misconfigured, .noTokenNow,
        .listHangs(allowed: "'/net/mutt'"), .notOnList(allowed: "'/usr/bin/mutt'", program: "'/usr/bin/curl'"),
        .notOnList(allowed: "'/usr/bin/mutt'", program: nil),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: SourceFlaw) -> String {
        switch text {
        case .removed: "removed"
        case .damaged: "damaged"
        case .otherIssuer: "otherIssuer"
        case .noSuchToken: "noSuchToken"
        case .needsSignIn: "needsSignIn"
        case .signedOut: "signedOut"
        case .parked: "parked"
        case .misconfigured: "misconfigured"
        case .noTokenNow: "noTokenNow"
        case .listHangs: "listHangs"
        case .notOnList: "notOnList"
        }
    }

    static let sourceFlawsCount = 11

    static let signInObstacles: [SignInObstacle] = [
        .stopping, .otherOptions(command: "authctl login work"), .serviceAccount(account("bot")), .nameTaken(work),
        .strongerOnDevice, .idTokenOnDevice, .policyOnDevice, .redirectElsewhere(uri: "https://me.example/back"),
        .noScheme,
        .missing(MissingSetting(setting: .scopes, note: nil), account: work),
        .portOfSignIn(other: work, .portTaken(8765)), .portUnusable(account: work, .cannotListen(port: 80, errno: 13)),
        .passwordAskedTwice,
        .noPasswordPolicy(command: SignInEnd.passwordResetCommand(for: work)),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: SignInObstacle) -> String {
        switch text {
        case .stopping: "stopping"
        case .otherOptions: "otherOptions"
        case .serviceAccount: "serviceAccount"
        case .nameTaken: "nameTaken"
        case .missing: "missing"
        case .strongerOnDevice: "strongerOnDevice"
        case .idTokenOnDevice: "idTokenOnDevice"
        case .policyOnDevice: "policyOnDevice"
        case .redirectElsewhere: "redirectElsewhere"
        case .noScheme: "noScheme"
        case .portOfSignIn: "portOfSignIn"
        case .portUnusable: "portUnusable"
        case .passwordAskedTwice: "passwordAskedTwice"
        case .noPasswordPolicy: "noPasswordPolicy"
        }
    }

    static let signInObstaclesCount = 14

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

    static let callTexts: [CallText] = [
        .declinedScope("mail"), .askForScopeAgain(account: "work"), .showGrant(account: "work"),
        .signInWithScopes(account: "work"),
        .otherPerson(account: "work", signedIn: "jane@example.org", owner: "joe@example.org"), .importLater,
        .callbackTaken, .profileContradicts(profile: "google", issuer: "https://accounts.google.com"), .offline,
        .serverLater,
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: CallText) -> String {
        switch text {
        case .declinedScope: "declinedScope"
        case .askForScopeAgain: "askForScopeAgain"
        case .showGrant: "showGrant"
        case .signInWithScopes: "signInWithScopes"
        case .otherPerson: "otherPerson"
        case .importLater: "importLater"
        case .callbackTaken: "callbackTaken"
        case .profileContradicts: "profileContradicts"
        case .offline: "offline"
        case .serverLater: "serverLater"
        }
    }

    static let callTextsCount = 10

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
