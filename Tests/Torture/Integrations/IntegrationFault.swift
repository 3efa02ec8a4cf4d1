internal import AuthRefreshInterface
internal import Foundation
internal import Glibc
internal import TestSupport

/// A fault around the callers that want a token.
enum IntegrationFault: String, CaseIterable, Sendable {
    case nothing = "nothing wrong"
    case notRunning = "daemon not running"
    case restarted = "daemon killed, started again"
    case killed = "daemon killed while asked"
    case activated = "daemon killed while asked, activated again"
    case signedOut = "signed out"
    case serverDown = "server down, token valid"
    case serverDownAndEnded = "server down, token expired"
    case diskFull = "disk full"
    case readOnly = "folders read-only"
    case tokenFolderGone = "token folder removed"
    case runtimeFolderGone = "runtime folder removed"
    case serviceManagerGone = "service manager gone"
    case unknown = "no such account"

    /// Whether the daemon is killed during each use.
    var killsWhileAsked: Bool { self == .killed || self == .activated }

    /// Whether the use asks for an account that does not exist.
    var isOfNobody: Bool { self == .unknown }
}

extension IntegrationScene {
    /// Brings the fault about.
    func breakDown(_ fault: IntegrationFault) async throws {
        switch fault {
        case .nothing, .unknown, .killed, .activated: break
        case .notRunning: try await endDaemon()
        case .restarted: try await killAndStartDaemon()
        case .signedOut: for account in rows.map(\.account) { try await signOut(account) }
        case .serverDown: await closeServer()
        case .serverDownAndEnded:
            await closeServer()
            try await stage.pass(until: stage.statuses().compactMap(\.expiresAtUSec).max())
        case .diskFull: try files.give(.refuse(ENOSPC))
        case .readOnly: try files.give(.refuse(EROFS))
        case .tokenFolderGone: try FileManager.default.removeItem(atPath: tokenFolder)
        case .runtimeFolderGone: try await removeRuntimeFolder()
        case .serviceManagerGone: try await endServiceManager()
        }
    }

    /// Puts an end to the fault.
    func mend(_ fault: IntegrationFault) async throws {
        switch fault {
        case .nothing, .unknown, .restarted, .killed, .activated, .tokenFolderGone, .runtimeFolderGone: break
        case .notRunning: try await startDaemon()
        case .signedOut:
            for row in rows {
                // A new grant needs the person's consent, too.
                if row.asksFirst { try await Agent(stage).isReady() }
                try await giveGrant(to: row.account)
            }
        case .serviceManagerGone: try await startServiceManager()
        case .serverDown, .serverDownAndEnded: openServer()
        case .diskFull:
            try files.withdraw()
            try await daemon.says("the store can be used again")
        case .readOnly: try files.withdraw()
        }
    }
}
