import AuthRefreshInterface
import DemoIssuer
import Foundation
import TextEncodings
import TestSupport
import Testing

@testable import authrefreshd

/// An account that asks its user before a program gets a token.
struct ConfirmationTests {
    /// The questions to an agent.
    private final class QuestionFeed: Sendable {
        let questions = EventLog<ServeConfirmations.Reply>()

        init(_ stage: DaemonStage) async throws {
            startThread { [questions, socket = stage.socket] in
                Self.read(from: socket, into: questions)
                questions.end()
            }
            try await questions.first("ready") { $0.event == "ready" }
        }

        func asked(from index: Int = 0) async throws -> ServeConfirmations.Reply {
            try await questions.first("a question", from: index) { $0.event == "asked" }
        }

        private static func read(from socket: String, into log: EventLog<ServeConfirmations.Reply>) {
            guard var connection = try? VarlinkConnection(path: socket) else { return }
            try? connection.callMore(Method.serveConfirmations.rawValue, parameters: "{}") { reply in
                let text = Data(reply.parameters.text.utf8)
                guard reply.error == nil,
                    let told = try? JSONDecoder().decode(ServeConfirmations.Reply.self, from: text)
                else { return false }
                log.append(told)
                return true
            }
        }
    }

    private func withConfirm(
        _ body: (DaemonStage, _ token: AcquireToken.Reply) async throws -> Void
    ) async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let token = try await stage.acquire("work")
            let edit = try await stage.authctl("account", "edit", "work", "--confirm")
            #expect(edit.end == .exited(0), "\(edit.errors)")
            #expect(edit.output.contains("asks first"), "\(edit.output)")
            try await body(stage, token)
            #expect(try await daemon.terminate() == .exited(0))
            for secret in ["demo-at-", "demo-rt-"] { #expect(!daemon.logText.contains(secret)) }
        }
    }

    private func answer(_ answer: ConfirmationAnswer, to question: ServeConfirmations.Reply, _ stage: DaemonStage)
        async throws
    {
        let number = try #require(question.question)
        let parameters = AnswerConfirmation.Parameters(question: number, answer: answer.rawValue)
        let reply = try await stage.ask(.answerConfirmation, parameters, for: AnswerConfirmation.Reply.self)
        #expect(reply.taken)
    }

    @Test func `without an agent no token is given out, with the reason`() async throws {
        try await withConfirm { stage, _ in
            for command in [
                ["token", "work"], ["account", "export", "work"], ["account", "edit", "work", "--clear", "confirm"],
                ["token", "work", "--id-token"], ["token", "work", "--scope", "x"],
            ] {
                let refused = try await stage.authctl(command)
                #expect(refused.end == .exited(77), "\(command) \(refused.errors)")
                #expect(refused.output == "")
                #expect(refused.errors.contains("authagent, which would ask you, is not running"), "\(refused.errors)")
                #expect(refused.errors.contains("hint: systemctl --user start authrefresh-agent"), "\(refused.errors)")
            }
            // Calls that return no token cause no question.
            let refreshed = try await stage.authctl("refresh", "work")
            #expect(refreshed.end == .exited(0), "\(refreshed.errors)")
            let status = try await stage.authctl("status", "work")
            #expect(status.end == .exited(0))
        }
    }

    @Test func `the user's answer applies once, for an hour, or refuses`() async throws {
        try await withConfirm { stage, token in
            let feed = try await QuestionFeed(stage)
            func ask(_ said: ConfirmationAnswer) async throws -> CommandOutcome {
                let seen = feed.questions.count
                async let outcome = stage.authctl("token", "work")
                let question = try await feed.asked(from: seen)
                #expect((question.account, question.request) == ("work", "token"))
                try await answer(said, to: question, stage)
                return try await outcome
            }
            #expect(try await ask(.allowOnce).output == token.accessToken)
            let denied = try await ask(.deny)
            #expect(denied.end == .exited(77) && denied.output == "")
            #expect(denied.errors.contains("you denied this on your desktop"), "\(denied.errors)")
            // A program in a loop does not cause a question each time. Nobody would answer this one.
            let again = try await stage.authctl("token", "work")
            #expect(again.end == .exited(77))
            #expect(again.errors.contains("you denied this on your desktop"), "\(again.errors)")
        }
        try await withConfirm { stage, token in
            let feed = try await QuestionFeed(stage)
            async let first = stage.authctl("token", "work")
            try await answer(.allowForAnHour, to: feed.asked(), stage)
            #expect(try await first.output == token.accessToken)
            // Nobody would answer a second question.
            #expect(try await stage.authctl("token", "work").output == token.accessToken)
        }
    }

    @Test func `export, changes and removal ask once each, whatever was allowed before`() async throws {
        try await withConfirm { stage, _ in
            let feed = try await QuestionFeed(stage)
            var seen = 0
            func call(_ request: String, _ said: ConfirmationAnswer, _ command: String...) async throws
                -> ServeConfirmations.Reply
            {
                async let outcome = stage.authctl(command)
                let question = try await feed.asked(from: seen)
                seen = feed.questions.count
                #expect(question.request == request, "\(command)")
                try await answer(said, to: question, stage)
                let end = try await outcome
                #expect(end.end == .exited(said == .deny ? 77 : 0), "\(command) \(end.errors)")
                return question
            }
            _ = try await call("token", .allowForAnHour, "token", "work")
            _ = try await call("export", .allowForAnHour, "account", "export", "work")
            _ = try await call("export", .allowOnce, "account", "export", "work")
            for _ in 0..<2 {
                let change = try await call("change", .allowForAnHour, "account", "edit", "work", "--lead-time", "10m")
                #expect(change.settings == ["leadTimeSec"])
            }
            let open = try await call("change", .deny, "account", "edit", "work", "--clear", "confirm")
            #expect(open.settings == ["confirm"])
            try Data("rt".utf8).write(to: URL(filePath: stage.folder.path + "/grant"))
            let file = stage.folder.path + "/grant"
            let swap = try await call("change", .deny, "account", "import", "work", "--refresh-token-file", file)
            #expect(swap.settings == ["refreshToken"])
            let renamed = try await call("change", .allowForAnHour, "account", "rename", "work", "job")
            #expect(renamed.settings == ["name"])
            _ = try await call("remove", .deny, "account", "remove", "job", "--yes")
            // The same question. Nobody would answer it.
            let forgotten = try await stage.authctl("logout", "job", "--forget")
            #expect(forgotten.end == .exited(77), "\(forgotten.errors)")
            // The hour was for the account's old name.
            _ = try await call("token", .allowForAnHour, "token", "job")
        }
    }

    @Test func `a call from another machine names it, and only an answer for it counts`() async throws {
        try await withConfirm { stage, token in
            let feed = try await QuestionFeed(stage)
            func acquire(host: String?) async throws -> String {
                let parameters = AcquireToken.Parameters(account: "work", host: host)
                return try await stage.ask(.acquireToken, parameters, for: AcquireToken.Reply.self).accessToken
            }
            for host in [nil, "build", "other"] {
                let seen = feed.questions.count
                async let first = acquire(host: host)
                let question = try await feed.asked(from: seen)
                #expect(question.host == host)
                try await answer(.allowForAnHour, to: question, stage)
                #expect(try await first == token.accessToken)
                // Nobody would answer a second question.
                #expect(try await acquire(host: host) == token.accessToken)
            }
        }
    }

    @Test func `a caller that goes away withdraws its question`() async throws {
        try await withConfirm { stage, _ in
            let feed = try await QuestionFeed(stage)
            let caller = try Program(Program.products + "/authctl", ["token", "work"], environment: stage.environment)
            let question = try await feed.asked()
            caller.signal(SIGTERM)
            _ = try await caller.ended()
            try await feed.questions.first("withdrawn") {
                $0.event == "withdrawn" && $0.question == question.question
            }
            let late = AnswerConfirmation.Parameters(
                question: try #require(question.question),
                answer: ConfirmationAnswer.allowOnce.rawValue
            )
            #expect(try await !stage.ask(.answerConfirmation, late, for: AnswerConfirmation.Reply.self).taken)
        }
    }

    @Test func `a derived account is not created without the user's consent`() async throws {
        try await withConfirm { stage, _ in
            let issuer = try await stage.status("work").issuer
            let secret = stage.folder.path + "/secret"
            try Data("s".utf8).write(to: URL(filePath: secret))
            let added = try await stage.authctl(
                "account",
                "add",
                "wiki",
                "--offline",
                "--issuer",
                issuer,
                "--client-id",
                "w",
                "--client-secret-file",
                secret,
                "--grant",
                "token-exchange",
                "--subject-account",
                "work"
            )
            #expect(added.end == .exited(77), "\(added.errors)")
            #expect(added.errors.contains("authagent, which would ask you, is not running"), "\(added.errors)")
        }
    }

    @Test func `one question too many gets the limit, and another program may still ask`() async throws {
        try await withConfirm { stage, _ in
            let log = try await QuestionFeed(stage).questions
            let ask = { @Sendable [socket = stage.socket] (number: Int) in
                let caller = try RawConnection(socket)
                let parameters = #"{"account":"work","host":"h\#(number)"}"#
                try caller.send(#"{"method":"io.authrefresh.AcquireToken","parameters":\#(parameters)}"# + "\0")
                return caller
            }
            // Questions that are alike would be shown one at a time.
            var callers: [RawConnection] = []
            let share = CallerLimits.confirmationsMax / 2
            for number in 0..<share {
                callers.append(try ask(number))
                try await log.first("question \(number)") { $0.host == "h\(number)" }
            }
            let refused = try await onOwnThread { try ask(share).receive() }
            #expect(refused.contains("confirmations") && refused.contains("has \(share) of 32"), "\(refused)")
            let other = try Program("authctl", ["token", "work"], environment: stage.environment)
            try await log.first("the question of another program") { $0.event == "asked" && $0.host == nil }
            other.signal(9)
            _ = try await other.ended()
            #expect(callers.count == share)
        }
    }
}
