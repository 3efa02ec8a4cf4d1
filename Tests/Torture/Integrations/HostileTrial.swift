internal import AuthRefreshInterface
internal import Foundation
internal import TestSupport

/// Tries standard input that no tool would send, with one running daemon.
enum HostileTrial {
    static func run() async throws -> [IntegrationTrial.Finding] {
        let rows = HostileRow.all.map(\.integration) + [.forwarded]
        let scene = try await IntegrationScene(rows, for: .nothing)
        do {
            var findings: [IntegrationTrial.Finding] = []
            for row in HostileRow.all {
                for input in HostileInput.allCases { findings.append(try await use(row, input, on: scene)) }
            }
            for input in HostileInput.allCases { findings.append(try await talk(input, on: scene)) }
            findings.append(try await IntegrationTrial.end(scene, "standard input"))
            await scene.shutdown()
            return findings
        } catch {
            await scene.shutdown()
            throw error
        }
    }

    private static func use(
        _ row: HostileRow,
        _ input: HostileInput,
        on scene: IntegrationScene
    ) async throws -> IntegrationTrial.Finding {
        let account = row.integration.account
        guard let verdict = row.verdicts[input] else {
            return IntegrationTrial.Finding(row.integration.name, input.rawValue, ["nothing is expected"], cell: "?")
        }
        if case .leftOut = verdict {
            return IntegrationTrial.Finding(row.integration.name, input.rawValue, [], cell: "-")
        }
        // An earlier erase has replaced the tokens.
        try await scene.noteTokens(of: account)
        let use = IntegrationUse(scene: scene, fault: .nothing, target: account, tokens: try scene.tokens(of: account))
        let before = await scene.grant(of: account).generation
        let bytes = input.bytes(insteadOf: row.question(use), host: use.host)
        let outcome = try await pipe(bytes, into: row.words(use), on: scene)
        var surprises = IntegrationTrial.secretSurprises(in: outcome, verdict)
        if row.integration.name == Integration.execCommand.name {
            let sum = try await SecretsStage.output("cksum < '\(scene.stage.folder.path)/input'")
            if outcome.output + "\n" != sum { surprises.append("the command read something else: \(outcome)") }
        } else {
            surprises += row.integration.surprises(in: outcome, of: use, verdict)
        }
        let after = await scene.grant(of: account)
        if !after.stands { surprises.append("the grant is lost") }
        if after.generation != before, !verdict.isAnswer { surprises.append("the token was replaced") }
        return IntegrationTrial.Finding(
            row.integration.name,
            input.rawValue,
            surprises,
            cell: verdict.cell(row.integration.manner)
        )
    }

    /// The name in the table of the socket that `authctl forward` serves on the other machine.
    static let forwardedSocket = "forwarded socket"

    /// Sends input to the forwarded socket that `authctl` would not send. The next caller must still get a token.
    private static func talk(_ input: HostileInput, on scene: IntegrationScene) async throws -> IntegrationTrial.Finding
    {
        guard let text = input.onForwardedSocket else {
            return IntegrationTrial.Finding(forwardedSocket, input.rawValue, [], cell: "-")
        }
        let answer = try await onOwnThread { [socket = scene.forwardedSocket] in
            let connection = try RawConnection(socket)
            try connection.send(text)
            connection.finish()
            return (try connection.receive(), try connection.receive())
        }
        let account = IntegrationScene.forwardedAccount
        try await scene.noteTokens(of: account)
        let next = try await scene.authctlElsewhere("token", account)
        var surprises: [String] = []
        let isRefused = text.isEmpty ? answer.0.isEmpty : answer.0.contains("org.varlink.service.InvalidParameter")
        if !isRefused || !answer.1.isEmpty { surprises.append("it answers \(answer)") }
        if next.output != (try scene.tokens(of: account).access.accessToken) {
            surprises.append("the next one: \(next)")
        }
        surprises += IntegrationTrial.secretSurprises(
            in: CommandOutcome(output: answer.0 + answer.1, errors: next.errors, end: next.end),
            .silence
        )
        return IntegrationTrial.Finding(forwardedSocket, input.rawValue, surprises, cell: "closed")
    }

    /// Runs `authctl` at the end of a pipe, as tools start it.
    ///
    /// - Parameter bytes: the standard input; nil if it is closed.
    private static func pipe(
        _ bytes: [UInt8]?,
        into words: [String],
        on scene: IntegrationScene
    ) async throws -> CommandOutcome {
        let program = Program.products + "/authctl"
        guard let bytes else {
            return try await scene.run("/bin/sh", ["-c", "exec \"$0\" \"$@\" <&-", program] + words)
        }
        let file = scene.stage.folder.path + "/input"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let script = "cat '\(file)' 2> /dev/null | \"$0\" \"$@\""
        return try await scene.run("/bin/sh", ["-c", script, program] + words)
    }
}
