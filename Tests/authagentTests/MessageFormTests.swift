import AuthRefreshInterface
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
    }

    @Test func `a question says what is asked, and only tokens can be allowed for an hour`() throws {
        func asked(
            _ request: ConfirmationRequest,
            _ others: (inout ServeConfirmations.Reply) -> Void = { _ in }
        ) -> ServeConfirmations.Reply {
            var reply = ServeConfirmations.Reply(event: "asked", question: "1", account: "work", request: request)
            others(&reply)
            return reply
        }
        let questions = [
            (asked(.token), "Give a program a token of work?", "all programs of your session for an hour"),
            (
                asked(.token) { $0.host = "build\u{1B}" }, "Give a program on build a token of work?",
                "all programs there for an hour"
            ),
            (asked(.export), "Give a program the grant of work?", "refresh token"),
            (
                asked(.change) { $0.settings = ["confirm", "clientSecret"] }, "Change the account work?",
                "to change: the question before a token is given, the client secret."
            ),
            (asked(.remove), "Remove the account work?", "remove"),
            (asked(.derive) { $0.derivedAccount = "wiki" }, "Derive wiki from work?", "nobody asks you again"),
        ]
        #expect(Set(questions.map(\.0.request)).count == ConfirmationRequest.allCases.count)
        for (question, summary, part) in questions {
            let text = try #require(QuestionDesk.text(of: question))
            #expect(text.summary == summary)
            #expect(text.body.contains(part), "\(text.body)")
            let hour = QuestionDesk.actions(for: question).contains { $0.key == "allow-for-an-hour" }
            #expect(hour == (question.request == "token"))
        }
        var unknown = asked(.export)
        unknown.request = "something new"
        #expect(QuestionDesk.text(of: unknown) == nil)
    }
}
