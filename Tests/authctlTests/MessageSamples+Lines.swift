import AuthRefreshInterface

@testable import authctl

// The samples of errors that have a report of their own.
extension Samples {
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
