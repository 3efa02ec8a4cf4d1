internal import ArgumentParser
internal import TestSupport

/// `authtorture crashes`.
struct CrashesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crashes",
        abstract: "Kills the daemon at random moments, and checks that no grant is lost.",
        discussion: """
            The daemons refresh some fifty accounts at a server that rotates refresh tokens and ends a grant when it sees one twice: half of \
            them where the token before is forgiven (a grace period), half where it is not. One after the other works on the same store, \
            until a last one brings every account to rest; then server, journal and store are compared.
            """
    )

    @Option(help: "How often a daemon is killed.")
    var kills = 200

    @Option(help: "Which moments; another number draws others. Without it, one is drawn and printed.")
    var seed: UInt64?

    /// The number of kills for one store: enough to meet a damaged store again and again, and few enough for the
    /// server's log.
    private static let killsOfStore = 1000
    /// Longer than any run, so that each lost answer can be requested again.
    private static let grace = Duration.seconds(3600)

    func run() async throws {
        Torture.ignoreBrokenPipes()
        let seed = seed ?? UInt64.random(in: 0...9999)
        Torture.say("seed \(seed)")
        let checks = Checks()
        let began = ContinuousClock.now
        // At the same time: while one waits for a daemon or for a server's pause, the other works.
        async let forgiven = runs(kills: kills - kills / 2, seed: seed, grace: Self.grace, checks)
        async let unforgiven = runs(kills: kills / 2, seed: seed &+ 1_000_000, grace: .zero, checks)
        let totals = try await [forgiven, unforgiven]
        let seconds = Int((ContinuousClock.now - began).components.seconds)
        let header = [
            "server", "kills", "refreshes", "exchanges cut", "lost: answer not arrived", "lost otherwise",
            "stores that do not open", "findings in stores",
        ]
        Torture.say("\n" + MarkdownTable.render(header, totals.map(\.cells)))
        Torture.say("\n\(kills) kills in \(seconds) s, seed \(seed)")
        if !checks.haveAllPassed { throw ExitCode(1) }
    }

    private func runs(kills: Int, seed: UInt64, grace: Duration, _ checks: Checks) async throws -> CrashTotal {
        let hasGrace = grace > .zero
        var total = CrashTotal(server: hasGrace ? "forgives (grace period)" : "forgives nothing")
        for (number, first) in stride(from: 0, to: kills, by: Self.killsOfStore).enumerated() {
            let count = min(Self.killsOfStore, kills - first)
            var run = try CrashRun(kills: count, seed: seed &+ UInt64(number), grace: grace)
            let result = try await run.run()
            checks.add(
                "the server \(total.server): \(result), \(result.storeFindings) findings in the store",
                surprises: result.surprises(hasGrace: hasGrace)
            )
            total.add(result, hasGrace: hasGrace)
        }
        return total
    }
}

/// The sum of several runs.
private struct CrashTotal {
    let server: String
    private var kills = 0
    private var refreshes = 0
    private var exchangesCut = 0
    private var lostUnanswered = 0
    private var lostOtherwise = 0
    private var refusedStarts = 0
    private var storeFindings = 0

    init(server: String) {
        self.server = server
    }

    mutating func add(_ result: CrashResult, hasGrace: Bool) {
        let unanswered = hasGrace ? 0 : result.lost.filter(\.isOfUnansweredExchange).count
        kills += result.kills
        refreshes += result.refreshes
        exchangesCut += result.exchangesCut
        lostUnanswered += unanswered
        lostOtherwise += result.lost.count - unanswered
        refusedStarts += result.refusedStarts
        storeFindings += result.storeFindings
    }

    var cells: [String] {
        [server]
            + [kills, refreshes, exchangesCut, lostUnanswered, lostOtherwise, refusedStarts, storeFindings].map(
                String.init
            )
    }
}
