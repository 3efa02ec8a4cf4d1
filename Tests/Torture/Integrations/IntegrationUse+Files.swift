internal import AuthRefreshInterface
internal import Foundation
internal import TextEncodings
internal import TestSupport

extension IntegrationUse {
    /// Reads the account's token file as other programs do, after the daemon has written what it can.
    func readTokenFile() async throws -> CommandOutcome {
        let file = scene.tokenFolder + "/" + target
        switch fault {
        case .tokenFolderGone, .runtimeFolderGone:
            try await scene.refresh(target)
            try await scene.noteTokens(of: target)
            try await scene.wait("the file '\(file)'") { FileManager.default.fileExists(atPath: file) }
        case .diskFull:
            _ = try? await scene.refresh(target)
        case .readOnly:
            try await scene.refresh(target)
            try await scene.wait("the file's trouble") {
                try await scene.stage.status(target).tokenFile?.trouble != nil
            }
            let status = try await scene.stage.authctl("status", target)
            guard status.output.contains("its token file has a problem") else { return status }
        case .serverDownAndEnded:
            try await scene.wait("the file's end") { !FileManager.default.fileExists(atPath: file) }
        case .nothing, .notRunning, .restarted, .killed, .activated, .signedOut, .serverDown, .serviceManagerGone,
            .unknown:
            break
        }
        return try await scene.run("/bin/cat", [file])
    }

    /// Replaces a file with figures. A reader gets the old figures or the new ones, and no other file is left in the
    /// folder.
    func writeFigures() async throws -> CommandOutcome {
        let folder = scene.stage.folder.path + "/metrics"
        let file = try scene.stage.folder.write("old", to: "metrics/figures.prom")
        // The scene's order holds for authctl, too.
        let outcome = try await scene.run(
            "authctl",
            ["metrics", "--output", file],
            environment: scene.files.environment(for: folder)
        )
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let isWhole = outcome.end == .exited(0) ? text.hasPrefix("# HELP authrefresh_info ") : text == "old"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        guard isWhole, names == ["figures.prom"] else { throw TestFault.unreadable("\(names): \(text.prefix(200))") }
        guard outcome.end == .exited(0), outcome.output.isEmpty else { return outcome }
        return CommandOutcome(output: "written", errors: outcome.errors, end: outcome.end)
    }

    /// Makes the account change, unless the fault has done so, and waits until the command has learned of it. Without a
    /// service manager, the journal must say once that nobody can run the command.
    func change() async throws -> CommandOutcome {
        guard fault != .serviceManagerGone else { return try await changeUntold() }
        let line = target + " " + newsOfFault
        let known = fault.isChange ? 0 : scene.news.filter { $0 == line }.count
        _ = try? await scene.refresh(target)
        try await scene.wait("the command, with '\(line)'") { scene.news.filter { $0 == line }.count > known }
        let hasToken = scene.news.contains { $0.contains("demo-at-") || $0.contains("demo-rt-") || $0.contains("eyJ") }
        return CommandOutcome(output: hasToken ? "told a token" : "told", errors: "", end: .exited(0))
    }

    private func changeUntold() async throws -> CommandOutcome {
        let line = "the on_change command was not run"
        for _ in 0..<2 {
            try await scene.refresh(target)
            try await scene.daemon.says(line)
        }
        let count = try scene.daemon.logText.components(separatedBy: line).count - 1
        return CommandOutcome(output: count == 1 ? "told" : "told \(count) times", errors: "", end: .exited(0))
    }

    /// The event that the fault leads to, and the account's state then.
    private var newsOfFault: String {
        switch fault {
        case .signedOut: "signed-out signed-out"
        case .serverDown, .serverDownAndEnded: "refresh-failed retrying"
        case .nothing, .notRunning, .restarted, .killed, .activated, .diskFull, .readOnly, .tokenFolderGone,
            .runtimeFolderGone, .serviceManagerGone, .unknown:
            "token-refreshed fresh"
        }
    }

    /// Asks for the token with an agent that allows it once.
    func askWithAgent() async throws -> CommandOutcome {
        let agent = Agent(scene.stage)
        // Without a daemon there is no agent, and the caller's error must say so.
        if fault != .notRunning { try await agent.isReady() }
        let outcome = try await scene.stage.authctl("token", target)
        return outcome
    }
}

/// Answers the next question of one daemon with "allow once", and ends.
final class Agent: Sendable {
    private let told = EventLog<String>()

    init(_ stage: DaemonStage) {
        startThread { [told, socket = stage.socket] in
            Self.serve(socket, telling: told)
            told.end()
        }
    }

    func isReady() async throws {
        try await told.first("an agent that is ready") { $0 == "ready" }
    }

    /// Waits until the first question, or the end of the connection.
    private static func serve(_ socket: String, telling told: EventLog<String>) {
        guard var connection = try? VarlinkConnection(path: socket) else { return }
        let method = AuthRefreshInterface.Method.serveConfirmations.rawValue
        try? connection.callMore(method, parameters: "{}") { reply in
            let text = Data(reply.parameters.text.utf8)
            guard reply.error == nil, let event = try? JSONDecoder().decode(ServeConfirmations.Reply.self, from: text)
            else { return false }
            told.append(event.event)
            guard let question = event.question, event.event == "asked" else { return true }
            answer(question, socket)
            return false
        }
    }

    private static func answer(_ question: String, _ socket: String) {
        let parameters = AnswerConfirmation.Parameters(
            question: question,
            answer: ConfirmationAnswer.allowOnce.rawValue
        )
        guard var connection = try? VarlinkConnection(path: socket), let json = try? JSONEncoder().encode(parameters)
        else { return }
        let method = AuthRefreshInterface.Method.answerConfirmation.rawValue
        _ = try? connection.call(method, parameters: String(decoding: json, as: UTF8.self), timeoutMilliseconds: 10_000)
    }
}
