internal import TestSupport

/// One fault, and all uses while it lasts.
struct IntegrationTrial {
    /// What came of one use.
    struct Finding {
        let integration: String
        /// The fault, or the standard input.
        let trouble: String
        let surprises: [String]
        /// What stands in the table.
        let cell: String

        init(_ integration: String, _ trouble: String, _ surprises: [String], cell: String) {
            self.integration = integration
            self.trouble = trouble
            self.surprises = surprises
            self.cell = cell
        }
    }

    let fault: IntegrationFault
    let rows: [Integration]

    func run() async throws -> [Finding] {
        let scene = try await IntegrationScene(rows, for: fault)
        do {
            let findings = try await run(on: scene)
            await scene.shutdown()
            return findings
        } catch {
            await scene.shutdown()
            throw error
        }
    }

    private func run(on scene: IntegrationScene) async throws -> [Finding] {
        try await scene.breakDown(fault)
        var findings: [Finding] = []
        for row in rows { findings.append(try await use(row, on: scene)) }
        try await scene.mend(fault)
        findings.append(try await Self.end(scene, fault.rawValue))
        return findings
    }

    /// Checks after the fault that every account can be refreshed, that no grant was lost, and that no secret was
    /// shown.
    static func end(_ scene: IntegrationScene, _ trouble: String) async throws -> Finding {
        var surprises: [String] = []
        for row in scene.rows {
            if row.endsByItself { try await scene.giveGrant(to: row.account) }
            do {
                try await scene.refresh(row.account)
            } catch {
                surprises.append("\(row.account) is not well again: \(error)")
            }
            if await !scene.grant(of: row.account).stands { surprises.append("the grant of \(row.account) is lost") }
        }
        try await scene.endDaemon()
        let uses = await scene.spentTokenUses
        if uses > 0 { surprises.append("\(uses) spent tokens sent") }
        if Self.secrets.hits(in: scene.logs) > 0 { surprises.append("a secret is in the log") }
        return Finding("afterwards", trouble, surprises, cell: "")
    }

    private func use(_ row: Integration, on scene: IntegrationScene) async throws -> Finding {
        guard let verdict = row.verdicts[fault] else {
            return Finding(row.name, fault.rawValue, ["nothing is expected"], cell: "?")
        }
        if case .leftOut = verdict { return Finding(row.name, fault.rawValue, [], cell: "-") }
        let use = IntegrationUse(
            scene: scene,
            fault: fault,
            target: fault.isOfNobody ? "nobody" : row.account,
            tokens: try scene.tokens(of: row.account)
        )
        let outcome = try await fault.killsWhileAsked ? scene.killDaemon { try await row.use(use) } : row.use(use)
        var surprises = row.surprises(in: outcome, of: use, verdict)
        surprises += Self.secretSurprises(in: outcome, verdict)
        if await !scene.grant(of: row.account).stands { surprises.append("the grant is lost") }
        return Finding(row.name, fault.rawValue, surprises, cell: verdict.cell(row.manner))
    }

    static func secretSurprises(in outcome: CommandOutcome, _ verdict: Integration.Verdict) -> [String] {
        var surprises: [String] = []
        if !verdict.isAnswer, secrets.hits(in: outcome.output) > 0 { surprises.append("a token where none is due") }
        if secrets.hits(in: outcome.errors) > 0 { surprises.append("a secret on standard error") }
        return surprises
    }

    /// Text that no output and no log may contain. Tokens are recognized by their form.
    private static let secrets = SecretSearch()
}

extension Integration.Verdict {
    var isAnswer: Bool {
        if case .answer = self { true } else { false }
    }

    /// What stands in the table.
    func cell(_ manner: Integration.Manner) -> String {
        switch self {
        case .answer: "works"
        case .silence: "silent, 0"
        case .leftOut: "-"
        case .refusal(let status, _, let isFound):
            switch manner {
            case .plain: "\(status)"
            case .git: isFound ? "`quit=1`, \(status)" : "\(status)"
            case .docker: "message, 1"
            case .google: "message, 0"
            case .file: "no file"
            }
        }
    }
}
