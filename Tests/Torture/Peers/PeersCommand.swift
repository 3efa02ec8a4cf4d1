internal import ArgumentParser
internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport

/// `authtorture peers`.
struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "Tries faults that break other programs of this kind, and shows the results beside theirs."
    )

    @Option(help: ArgumentHelp("How many daemons are killed after the server's answer."))
    var kills = 30

    func run() async throws {
        Torture.ignoreBrokenPipes()
        let checks = Checks()
        var rows: [PeerRow] = []
        let killed = try await KillTrial(kills: kills).run()
        checks.add(
            "nothing that a caller was told of is lost by a kill",
            surprises: killed.lostAfterAnswer == 0 ? [] : [killed.text]
        )
        rows.append(.killed(killed.text))

        for (fault, row) in Self.answers {
            let outcome = try await Self.outcome(of: fault)
            checks.add(row("").test, surprises: outcome.isKept ? [] : [outcome.text])
            rows.append(row(outcome.text))
        }

        let isBeside = try await CallerTrials.isServedBesideSilentServer()
        rows.append(.silentServer(isBeside ? "served at once" : "blocked"))
        checks.add(rows[rows.count - 1].test, surprises: isBeside ? [] : ["blocked"])
        let requests = try await CallerTrials.requestsForShortToken()
        rows.append(.shortToken("\(requests)"))
        checks.add(rows[rows.count - 1].test, surprises: requests == 1 ? [] : ["\(requests) requests"])
        let isServed = try await CallerTrials.isServedBesideHalfRequest()
        rows.append(.halfRequest(isServed ? "served at once" : "blocked"))
        checks.add(rows[rows.count - 1].test, surprises: isServed ? [] : ["blocked"])

        Torture.say("\n" + MarkdownTable.render(PeerRow.header, rows.map(\.cells)))
        if !checks.haveAllPassed { throw ExitCode(1) }
    }

    private static let answers: [(fault: Fault, row: @Sendable (String) -> PeerRow)] = [
        (.answer(.html()), PeerRow.captivePortal),
        (
            .answer(CannedAnswer(status: 200, headers: jsonHeader, body: #"{"access_token":"abc","token_"#)),
            PeerRow.cutAnswer
        ),
        (.expiresIn(#""3600""#), PeerRow.textLifetime),
    ]

    private static let jsonHeader = ["Content-Type": "application/json"]

    /// The state of an account after its server has given this answer once.
    private static func outcome(of fault: Fault) async throws -> (isKept: Bool, text: String) {
        var outcome = (isKept: false, text: "")
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.script(fault)
            try await stage.add("work", issuer: url, grant: grant)
            let end = try await feed.changes.first("an end") {
                ["token-refreshed", "interaction-required", "misconfigured"].contains($0.event)
            }
            let failures = feed.changes.all.filter { $0.event == "refresh-failed" }.count
            let isKept = await issuer.grant(grant.family)?.revokedBy == nil
            let isFresh = end.event == "token-refreshed"
            let text = failures == 0 ? "ok" : isFresh ? "grant kept, fresh at the next attempt" : end.event
            outcome = (isKept && isFresh, text)
            try await daemon.terminate()
        }
        return outcome
    }
}
