internal import AuthRefreshInterface
internal import Foundation
internal import TestSupport

/// Standard input that no tool would send, on one daemon at work.
enum HostileTrial {
    static func run() async throws -> [IntegrationTrial.Finding] {
        let rows = HostileRow.all.map(\.integration)
        let scene = try await IntegrationScene(rows, for: .nothing)
        do {
            var findings: [IntegrationTrial.Finding] = []
            for row in HostileRow.all {
                for input in HostileInput.allCases { findings.append(try await use(row, input, on: scene)) }
            }
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
        // An erase before this one has brought others.
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

    /// Runs `authctl` at the end of a pipe, as tools start it.
    ///
    /// - Parameter bytes: nil: its standard input is closed.
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
        let script = "cat '\(file)' | \"$0\" \"$@\""
        return try await scene.run("/bin/sh", ["-c", script, program] + words)
    }
}
