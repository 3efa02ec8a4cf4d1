import Systemd
import TestSupport
import Testing
import VarlinkClient

@testable import authagent

/// Holds every text of `Messages.swift` to the form: what failed, on what, why; then what to do.
@Suite struct MessageFormTests {
    private static let daemonFailures: [VarlinkClientError] = [
        .notRunning(path: "/run/x", errno: 2), .permissionDenied(path: "/run/x"), .unusablePath(path: ""),
        .otherUser(path: "/run/x", uid: 1000), .pathTooLong(path: "/run/x", limit: 107),
        .cannotConnect(path: "/run/x", errno: 24), .timedOut, .connectionClosed, .malformedReply,
        .replyTooLarge(limit: 1 << 20),
    ]

    private static let errors: [AgentError] =
        [
            .usage, .refused(name: "io.authrefresh.LimitExceeded"), .unreadable, .noBus(.busUnavailable(errno: 2)),
            .noPortal, .portalCancelled, .portalFailed, .noAddress,
        ] + daemonFailures.map(AgentError.noDaemon)

    /// Does not compile if a case is added; add a sample above, then the case here.
    private static func name(_ error: AgentError) -> String {
        switch error {
        case .usage: "usage"
        case .noDaemon(let failure): "noDaemon.\(name(failure))"
        case .refused: "refused"
        case .unreadable: "unreadable"
        case .noBus: "noBus"
        case .noPortal: "noPortal"
        case .portalCancelled: "portalCancelled"
        case .portalFailed: "portalFailed"
        case .noAddress: "noAddress"
        }
    }

    private static func name(_ failure: VarlinkClientError) -> String {
        switch failure {
        case .notRunning: "notRunning"
        case .permissionDenied: "permissionDenied"
        case .unusablePath: "unusablePath"
        case .otherUser: "otherUser"
        case .pathTooLong: "pathTooLong"
        case .cannotConnect: "cannotConnect"
        case .timedOut: "timedOut"
        case .connectionClosed: "connectionClosed"
        case .malformedReply: "malformedReply"
        case .replyTooLarge: "replyTooLarge"
        }
    }

    @Test func `no error is without a sample`() {
        #expect(Set(Self.errors.map(Self.name)).count == 18)
        #expect(Self.errors.count == 18)
    }

    @Test(arguments: errors)
    func `every error says what failed, and why, on one line`(_ error: AgentError) {
        for text in [error.message, AgentNote.retrying(error).message, AgentNote.answerNotDelivered(error).message] {
            #expect(MessageForm.flaws(ofMessage: text) == [])
            #expect(text.count <= 200, "\(text)")
        }
        // A case of an enumeration is no sentence.
        #expect(!error.message.contains("errno:") && !error.message.contains("path:"), "\(error.message)")
    }

    @Test(arguments: errors)
    func `every error has a hint, unless the person has just decided`(_ error: AgentError) {
        #expect((error.hint == nil) == (error == .portalCancelled))
        if let hint = error.hint { #expect(!hint.hasSuffix(".") && !hint.contains("\n"), "\(hint)") }
    }

    @Test func `a notification names the account, the server and the reason`() {
        #expect(NotificationWords.signInSummary("work") == "Sign in to work")
        let body = NotificationWords.signInBody(server: "as.example", reason: "the grant has expired")
        #expect(body == "as.example wants you to sign in again: the grant has expired")
        #expect(
            NotificationWords.questionBody(program: nil, unit: nil)
                == "A program that the daemon cannot identify asks for this account's tokens."
        )
    }
}
