internal import ArgumentParser
internal import TestSupport

/// `authtorture integrations`.
struct IntegrationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "integrations",
        abstract: "Tries every way to give a token to another program, while something fails."
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
        if !faults.isEmpty {
            let uses = Integration.all.map(\.name)
            Torture.say("\n" + render("use", uses, faults.map(\.rawValue)) { table.cell($0, $1) })
        }
        if takesInput {
            let readers = HostileRow.all.map { $0.integration.name } + [HostileTrial.forwardedSocket]
            let inputs = HostileInput.allCases.map(\.rawValue)
            Torture.say("\n" + render("standard input", inputs, readers) { table.cell($1, $0) })
        }
        if !checks.haveAllPassed { throw ExitCode(1) }
    }

    /// Some faults run at the same time, each with its own daemon.
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
        for fault in faults {
            var names: [String: [String]] = [:]
            for row in Integration.all {
                guard case .leftOut(let reason) = row.verdicts[fault] else { continue }
                names[reason, default: []].append(row.name)
            }
            for (reason, names) in names.sorted(by: { $0.key < $1.key }) {
                Torture.say("left out with '\(fault.rawValue)', because \(reason): \(names.joined(separator: "; "))")
            }
        }
    }

    private func render(
        _ corner: String,
        _ rows: [String],
        _ columns: [String],
        cell: (_ row: String, _ column: String) -> String
    ) -> String {
        MarkdownTable.render([corner] + columns, rows.map { row in [row] + columns.map { cell(row, $0) } })
    }
}

extension [IntegrationTrial.Finding] {
    /// The cell of the table for a use.
    fileprivate func cell(_ integration: String, _ trouble: String) -> String {
        let finding = first { $0.integration == integration && $0.trouble == trouble }
        return finding.map { $0.surprises.isEmpty ? $0.cell : "**not so**" } ?? "not tried"
    }
}

extension Integration {
    /// Every use of the table.
    static let all: [Integration] = tools + others
}
