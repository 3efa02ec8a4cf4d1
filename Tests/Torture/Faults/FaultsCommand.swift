internal import ArgumentParser

/// `authtorture faults`.
struct FaultsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faults",
        abstract: "Tries every fault of an authorization server in three situations, and checks what the daemon does.",
        discussion: """
            It needs a network namespace with nothing but loopback, in which names are looked up at 127.0.0.1: Tests/torture makes one.
            """
    )

    @Option(
        help: ArgumentHelp("How long each fault lasts, in seconds; at least until the token from before it has ended.")
    )
    var outage = 10

    @Option(help: ArgumentHelp("How long an account is waited for to come back by itself, in seconds."))
    var patience = 30

    @Option(
        help: ArgumentHelp("How many faults are tried side by side; fewer ask less of the machine, and take longer.")
    )
    var atOnce = 100

    @Option(help: ArgumentHelp("Only faults with this in their names.", valueName: "text"))
    var only: String?

    /// How often a surprising cell is tried again before it counts.
    private static let repeatsMax = 2

    func run() async throws {
        Torture.ignoreBrokenPipes()
        let rows = FaultTable.rows.filter { row in only.map { row.name.contains($0) } ?? true }
        let checks = Checks()
        let certificates = try Certificates(for: FaultServer.certificateNames)
        defer { certificates.remove() }
        let names = try await NameServer.start()
        let bench = FaultBench(
            limits: FaultTrial.Limits(outage: .seconds(outage), patience: .seconds(patience)),
            certificates: certificates,
            names: names
        )
        let cells = Situation.allCases.flatMap { situation in rows.map { (row: $0, situation: situation) } }
        var findings: [Finding] = []
        for start in stride(from: 0, to: rows.count, by: max(1, atOnce)) {
            let wave = rows[start..<min(start + max(1, atOnce), rows.count)]
            let cells = Situation.allCases.flatMap { situation in wave.map { (row: $0, situation: situation) } }
            findings += try await bench.findings(for: cells, firstNumber: start * Situation.allCases.count) { finding in
                if finding.surprises.isEmpty { checks.add(finding) } else { Torture.say("once more: \(finding.line)") }
            }
        }
        // On a very busy machine, answers come too late, and each lost answer counts. So surprising cells are tried
        // again, with fewer others at the same time.
        var surprising = cells
        var repeated = 0
        for round in 1...Self.repeatsMax {
            surprising = surprising.filter { cell in findings.contains { $0.isOf(cell) && !$0.surprises.isEmpty } }
            guard !surprising.isEmpty else { break }
            repeated += surprising.count
            findings.removeAll { !$0.surprises.isEmpty }
            findings += try await bench.findings(for: surprising, firstNumber: round * cells.count) { finding in
                if finding.surprises.isEmpty || round == Self.repeatsMax {
                    checks.add(finding)
                } else {
                    Torture.say("once more: \(finding.line)")
                }
            }
        }
        await names.stop()
        let sorted = rows.flatMap { row in
            Situation.allCases.flatMap { situation in findings.filter { $0.isOf((row, situation)) } }
        }
        Torture.say("\n" + MarkdownTable.render(Finding.header, sorted.map(\.cells)))
        if repeated > 0 { Torture.say("\ntried again: \(repeated) of \(cells.count)") }
        if !checks.haveAllPassed { throw ExitCode(1) }
    }
}

/// The parts that all runs share.
private struct FaultBench {
    let limits: FaultTrial.Limits
    let certificates: Certificates
    let names: NameServer

    /// Tries the cells, in all situations at once.
    ///
    /// - Parameter firstNumber: the number of the first server. No two servers of a run have the same number.
    func findings(
        for cells: [(row: FaultRow, situation: Situation)],
        firstNumber: Int,
        report: @escaping @Sendable (Finding) -> Void
    ) async throws -> [Finding] {
        var number = firstNumber
        var runs: [FaultRun] = []
        for situation in Situation.allCases {
            let rows = cells.filter { $0.situation == situation }.map(\.row)
            guard !rows.isEmpty else { continue }
            runs.append(
                FaultRun(
                    rows: rows,
                    situation: situation,
                    firstNumber: number,
                    limits: limits,
                    certificates: certificates,
                    names: names,
                    turnstile: Turnstile(width: 2),
                    report: report
                )
            )
            number += rows.count
        }
        return try await withThrowingTaskGroup(of: [Finding].self) { [runs] group in
            for run in runs { group.addTask { try await run.run() } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}

extension Finding {
    fileprivate var name: String { "\(fault), \(situation.rawValue)" }

    fileprivate var line: String { "\(name): \(surprises.joined(separator: "; ").replacing("\n", with: " / "))" }

    fileprivate func isOf(_ cell: (row: FaultRow, situation: Situation)) -> Bool {
        fault == cell.row.name && situation == cell.situation
    }
}

extension Checks {
    fileprivate func add(_ finding: Finding) {
        add(finding.name, surprises: finding.surprises)
    }
}
