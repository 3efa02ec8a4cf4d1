internal import ArgumentParser
internal import TestSupport

/// `authtorture integrations`.
struct IntegrationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "integrations",
        abstract: "Uses everything that gets a token into another program, while something is wrong."
    )

    @Option(help: "How often everything is tried, from another daemon each time.")
    var rounds = 1

    @Option(help: ArgumentHelp("Only faults that have this in their name.", valueName: "text"))
    var only: String?

    func run() async throws {
        Torture.ignoreBrokenPipes()
        let checks = Checks()
        let faults = IntegrationFault.allCases.filter { fault in only.map(fault.rawValue.contains) ?? true }
        let takesInput = only.map("standard input".contains) ?? true
        tellWhatIsLeftOut(faults)
        var table: [IntegrationTrial.Finding] = []
        for round in 1...max(1, rounds) {
            var findings = await tryAll(faults, checks)
            if takesInput { findings += await attempt("standard input", checks) { try await HostileTrial.run() } }
            if round == 1 { table = findings }
        }
        let uses = Integration.all.map(\.name)
        if !faults.isEmpty { Torture.say("\n" + render(table, "use", uses, faults.map(\.rawValue))) }
        let readers = HostileRow.all.map { $0.integration.name }
        let inputs = HostileInput.allCases.map(\.rawValue)
        if takesInput { Torture.say("\n" + render(table, "standard input", readers, inputs)) }
        if !checks.haveAllPassed { throw ExitCode(1) }
    }

    /// Some faults at a time, each with a daemon of its own.
    private func tryAll(_ faults: [IntegrationFault], _ checks: Checks) async -> [IntegrationTrial.Finding] {
        let turnstile = Turnstile(width: 3)
        return await withTaskGroup(of: [IntegrationTrial.Finding].self) { group in
            for fault in faults {
                group.addTask {
                    await turnstile.pass {
                        await attempt(fault.rawValue, checks) {
                            try await IntegrationTrial(fault: fault, rows: Integration.all).run()
                        }
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func attempt(
        _ name: String,
        _ checks: Checks,
        _ trial: () async throws -> [IntegrationTrial.Finding]
    ) async -> [IntegrationTrial.Finding] {
        do {
            let findings = try await trial()
            for finding in findings where finding.cell != "-" {
                checks.add("\(finding.integration), \(finding.trouble)", surprises: finding.surprises)
            }
            return findings
        } catch {
            checks.add(name, surprises: ["\(error)"])
            return []
        }
    }

    private func tellWhatIsLeftOut(_ faults: [IntegrationFault]) {
        for row in Integration.all {
            for fault in faults {
                guard case .leftOut(let reason) = row.verdicts[fault] else { continue }
                Torture.say("left out: \(row.name), \(fault.rawValue): \(reason)")
            }
        }
    }

    /// Turned, so that it is not too wide: a row for each trouble.
    private func render(
        _ findings: [IntegrationTrial.Finding],
        _ corner: String,
        _ columns: [String],
        _ troubles: [String]
    ) -> String {
        let rows = troubles.map { trouble in
            [trouble]
                + columns.map { name in
                    let finding = findings.first { $0.integration == name && $0.trouble == trouble }
                    return finding.map { $0.surprises.isEmpty ? $0.cell : "**not so**" } ?? "not tried"
                }
        }
        return MarkdownTable.render([corner] + columns, rows)
    }
}

extension Integration {
    /// Every use of the table.
    static let all: [Integration] = tools + others
}
