import AuthRefreshInterface

@testable import authctl

// The samples of notes, of warnings, and of errors that have a report of their own.
extension Samples {
    static let notes: [Note] = [
        .waiting(subject: "the daemon", seconds: 30), .waitingForServer(account: "work"), .daemonRestarted,
        .firstAccount,
        .signIn(account: "work"), .signInForScopes(account: "work"), .next("authctl login work"),
        .askConsent(account: "work"), .removeAfterMove(account: "work"), .signedInAs(person: "jane@example.org"),
        .parkedWithoutExport(account: "work"), .importContinues(account: "work"),
        .onlyIDToken(subject: "0042"), .oldRefreshTokenKept, .registeredClient(id: "c-1"),
        .registerRedirect(uri: "http://127.0.0.1/"), .knownServer(provider: "google"), .ofProvider("it has a console"),
        .ofProxy("then: systemctl --user restart authrefreshd"),
        .schemeTaken(uri: "com.example.app:/", previous: "other.desktop"), .exportHasSecrets(file: "work.json"),
        .emptyHistory(account: "work", hours: 48), .noJournald, .nothingToRefresh, .nothingToResume, .waitingForDaemon,
        .daemonEnded(seconds: 10),
        .backupNeedsKey,
        .backupNeedsKeys(["0123456789abcdef", "fedcba9876543210"]), .unreadableSecrets(2),
        .oldKeyLeft(reason: "the keyring is locked"), .oldBackups,
    ]

    /// Does not compile if a message was added: add a sample above, then the case here.
    static func name(_ message: Note) -> String {
        switch message {
        case .waiting: "waiting"
        case .waitingForServer: "waitingForServer"
        case .daemonRestarted: "daemonRestarted"
        case .firstAccount: "firstAccount"
        case .signIn: "signIn"
        case .signInForScopes: "signInForScopes"
        case .next: "next"
        case .askConsent: "askConsent"
        case .removeAfterMove: "removeAfterMove"
        case .parkedWithoutExport: "parkedWithoutExport"
        case .importContinues: "importContinues"
        case .signedInAs: "signedInAs"
        case .onlyIDToken: "onlyIDToken"
        case .oldRefreshTokenKept: "oldRefreshTokenKept"
        case .registeredClient: "registeredClient"
        case .registerRedirect: "registerRedirect"
        case .knownServer: "knownServer"
        case .ofProvider: "ofProvider"
        case .ofProxy: "ofProxy"
        case .schemeTaken: "schemeTaken"
        case .exportHasSecrets: "exportHasSecrets"
        case .emptyHistory: "emptyHistory"
        case .noJournald: "noJournald"
        case .nothingToRefresh: "nothingToRefresh"
        case .nothingToResume: "nothingToResume"
        case .waitingForDaemon: "waitingForDaemon"
        case .daemonEnded: "daemonEnded"
        case .backupNeedsKey: "backupNeedsKey"
        case .backupNeedsKeys: "backupNeedsKeys"
        case .unreadableSecrets: "unreadableSecrets"
        case .oldKeyLeft: "oldKeyLeft"
        case .oldBackups: "oldBackups"
        }
    }

    static let notesCount = 32

    static let warnings: [Warning] = [
        .shortToken(left: "9 min", asked: "2 h"), .fileOpenToOthers(path: "token.txt"),
        .tokenFileOpenToAll(path: "work"),
        .noTokenInClear(url: "http://git.example.org"),
        .serverNotAsked(issuer: "https://as.example", reason: "it is down"),
        .otherServer("'https://as.example' cannot be the issuer"), .noLoopbackRedirect,
        .samePerson(other: "work", account: "home"),
        .scopesNotGranted(scopes: "mail", account: "work"), .noRefreshToken, .flowRefused("the server refused it"),
        .openYourself(reason: PageTrouble.browserNotOpened), .notAnAddress, .addressRefused("the state is another"),
        .schemeNotTaken(reason: "xdg-mime is not installed"),
        .schemeNotNamed(scheme: "chat", command: "xdg-mime default a.desktop x-scheme-handler/chat"), .badAccountName,
        .nameInUse("work"), .notAPurpose("mial"),
        .severalProviders(names: ["github", "google"]), .noSuchProvider(nearest: "google"),
    ]

    /// Does not compile if a message was added: add a sample above, then the case here.
    static func name(_ message: Warning) -> String {
        switch message {
        case .shortToken: "shortToken"
        case .fileOpenToOthers: "fileOpenToOthers"
        case .tokenFileOpenToAll: "tokenFileOpenToAll"
        case .noTokenInClear: "noTokenInClear"
        case .serverNotAsked: "serverNotAsked"
        case .otherServer: "otherServer"
        case .noLoopbackRedirect: "noLoopbackRedirect"
        case .samePerson: "samePerson"
        case .scopesNotGranted: "scopesNotGranted"
        case .noRefreshToken: "noRefreshToken"
        case .flowRefused: "flowRefused"
        case .openYourself: "openYourself"
        case .notAnAddress: "notAnAddress"
        case .addressRefused: "addressRefused"
        case .schemeNotTaken: "schemeNotTaken"
        case .schemeNotNamed: "schemeNotNamed"
        case .badAccountName: "badAccountName"
        case .nameInUse: "nameInUse"
        case .notAPurpose: "notAPurpose"
        case .severalProviders: "severalProviders"
        case .noSuchProvider: "noSuchProvider"
        }
    }

    static let warningsCount = 21

    static let connections: [ConnectionError] = [
        .unreachable(socket: "/s", errno: 111), .notPermitted(socket: "/s"), .otherUser(socket: "/s", uid: 1001),
        .pathTooLong(socket: "/s"), .unusablePath(socket: "/s"), .ended, .endedAndThen(.noAnswer(seconds: 30)),
        .noAnswer(seconds: 30), .unreadableReply,
    ]

    /// Does not compile if a message was added: add a sample above, then the case here.
    static func name(_ message: ConnectionError) -> String {
        switch message {
        case .unreachable: "unreachable"
        case .notPermitted: "notPermitted"
        case .otherUser: "otherUser"
        case .pathTooLong: "pathTooLong"
        case .unusablePath: "unusablePath"
        case .ended: "ended"
        case .endedAndThen: "endedAndThen"
        case .noAnswer: "noAnswer"
        case .unreadableReply: "unreadableReply"
        }
    }

    static let connectionsCount = 9

    static let secrets: [SecretFileError] = [
        .noSuchFile(purpose: .refreshToken), .unreadable(purpose: .refreshToken, errno: 5),
        .isDirectory(purpose: .clientSecret), .empty(purpose: .clientSecret), .tooLong(purpose: .document),
        .notOneLine(purpose: .clientKey), .notOneLine(purpose: .document), .notForTerminal(purpose: .headers),
        .noTerminal(purpose: .initialAccessToken),
    ]

    /// Does not compile if a message was added: add a sample above, then the case here.
    static func name(_ message: SecretFileError) -> String {
        switch message {
        case .noSuchFile: "noSuchFile"
        case .unreadable: "unreadable"
        case .isDirectory: "isDirectory"
        case .empty: "empty"
        case .tooLong: "tooLong"
        case .notOneLine: "notOneLine"
        case .notForTerminal: "notForTerminal"
        case .noTerminal: "noTerminal"
        }
    }

    static let secretsCount = 8

    static let windows: [PrivateWindowRefusal] = [
        .noneInstalled(names: ["Firefox", "Chromium"]), .unknownDefault(name: "surf"), .noPlaceForProfile, .noDisplay,
    ]

    /// Does not compile if a message was added: add a sample above, then the case here.
    static func name(_ message: PrivateWindowRefusal) -> String {
        switch message {
        case .noneInstalled: "noneInstalled"
        case .unknownDefault: "unknownDefault"
        case .noPlaceForProfile: "noPlaceForProfile"
        case .noDisplay: "noDisplay"
        }
    }

    static let windowsCount = 4

    /// An account of each state, and one of a state that this program does not know.
    static let states: [AccountStatus] = (AccountState.allCases.map(\.rawValue) + ["newer"]).map { state in
        AccountStatus(
            account: "work",
            state: state,
            issuer: "https://as.example",
            generation: 1,
            failures: 1,
            reason: "grantEnded",
            failure: FailureReport(summary: "the server is overloaded")
        )
    }
}
