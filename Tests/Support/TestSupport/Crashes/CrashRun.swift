import AuthRefreshInterface
import DemoIssuer
import Foundation

/// A series of daemons on the same store, each killed after a random time.
package struct CrashRun {
    /// Accounts that need a refresh all the time. A few dozen keep several exchanges in flight at each moment.
    private static let accounts = 48
    /// The longest life of a daemon, as a multiple of the time that one needs to be ready. A third of the daemons so
    /// dies before it is ready, and half of them have leases and answers at hand.
    private static let longestLife = 3
    /// Longest start that is counted. A start takes this long on a machine that is busy for a moment; a longer one
    /// would only make the run longer.
    private static let longestStart = Duration.milliseconds(70)

    private let kills: Int
    /// The tokens live for two seconds, so that a refresh is due after one, the shortest time there is.
    private let policy: GrantPolicy
    private var chance: SplitMix64
    private let stage: DaemonStage
    /// The log lines of all daemons.
    private var log: [String] = []
    private var refusedStarts = 0
    private var deaths: [CrashLedger.Death] = []
    /// How long a daemon needs until it is ready.
    private var start = Self.longestStart
    /// The number that the server gave to each account's grant.
    private var families: [String: Int] = [:]

    /// - Parameters:
    ///   - seed: decides the moments of the kills, and which answers are slow.
    ///   - grace: how long the server accepts a second use of a token.
    package init(kills: Int, seed: UInt64, grace: Duration) throws {
        self.kills = kills
        policy = GrantPolicy(accessTokenLifetime: .seconds(2), gracePeriod: grace)
        chance = SplitMix64(seed: seed)
        stage = try DaemonStage()
        try stage.configure("max_concurrent_refreshes: 16\nmax_refreshes_per_second: 500\n")
    }

    package mutating func run() async throws -> CrashResult {
        let issuer = DemoIssuer(configuration: IssuerConfiguration(clients: [DemoClient(id: "app")], policy: policy))
        let url = try await issuer.start()
        let started = ContinuousClock.now
        for life in 0..<kills {
            // Accounts back off longer and longer, or are lost. New ones are added so that there is work until the end.
            if life == 0 { try await addAccounts(Self.accounts, issuer, url) }
            if life % 10 == 9 { try await addAccounts(8, issuer, url) }
            try await liveAndDie(issuer)
        }
        try await dieInAnExchange(issuer, url)
        let result = try await settle(issuer, since: started)
        await issuer.shutdown()
        return result
    }

    private mutating func addAccounts(_ count: Int, _ issuer: DemoIssuer, _ url: String) async throws {
        let started = ContinuousClock.now
        noteStart()
        let daemon = try await stage.start()
        start = min(ContinuousClock.now - started, Self.longestStart)
        for _ in 0..<count {
            let grant = try await issuer.issueGrant(clientID: "app")
            let name = "a\(grant.family)"
            try await stage.add(name, issuer: url, grant: grant)
            families[name] = grant.family
        }
        try await kill(daemon)
    }

    private mutating func liveAndDie(_ issuer: DemoIssuer) async throws {
        // A slow answer, before or after the token is spent, is a moment that a kill can hit.
        for _ in 0..<4 {
            let delay = Duration.milliseconds(Int.random(in: 1...30, using: &chance))
            try? await issuer.script(Bool.random(using: &chance) ? .delayBefore(delay) : .delayAfter(delay))
        }
        let life = start * Self.longestLife * Double.random(in: 0..<1, using: &chance)
        noteStart()
        let daemon = try stage.spawn()
        // The moment of the kill is random by design, so nothing is awaited here.
        try await Task.sleep(for: life)
        try await kill(daemon)
    }

    /// A daemon that is killed as soon as the server has spent a token, before the answer. The daemon after it lives on.
    private mutating func dieInAnExchange(_ issuer: DemoIssuer, _ url: String) async throws {
        try await addAccounts(8, issuer, url)
        await issuer.clearFaults()
        try await issuer.script(.delayAfter(.seconds(600)), times: nil)
        noteStart()
        let spawnedAt = Self.now
        let daemon = try stage.spawn()
        _ = try await issuer.waitForRequest { $0.outcome == .rotated && $0.timeUSec > spawnedAt }
        try await kill(daemon)
        await issuer.endDelays()
    }

    private mutating func kill(_ daemon: DaemonProcess) async throws {
        deaths.append(CrashLedger.Death(killedAt: Self.now))
        if try await daemon.kill() != .signalled(9) { refusedStarts += 1 }
        log += daemon.log.all
    }

    /// Call it before a daemon is started.
    private mutating func noteStart() {
        if let last = deaths.indices.last { deaths[last].replacedAt = Self.now }
    }

    /// The time in microseconds since 1970.
    private static var now: Int64 { Int64(Date.now.timeIntervalSince1970 * 1e6) }

    /// Runs a last daemon until each account has a token or needs a person, and counts.
    private mutating func settle(
        _ issuer: DemoIssuer,
        since started: ContinuousClock.Instant
    ) async throws -> CrashResult {
        let elapsed = ContinuousClock.now - started
        let refreshes = await issuer.counters.refreshes
        await issuer.clearFaults()
        noteStart()
        let daemon = try await stage.start()
        let feed = try await ChangeFeed(stage)
        let unsettled = try await stage.statuses().filter { $0.state != "interaction-required" }.map(\.account)
        for account in unsettled {
            // A person's refresh ends a back-off early. A refusal counts only after it is confirmed.
            _ = try await stage.ask(.refresh, Refresh.Parameters(account: account), for: Refresh.Reply.self)
        }
        for account in unsettled {
            try await feed.changes.first("the rest of \(account)", within: .seconds(300)) { change in
                change.account == account && ["token-refreshed", "interaction-required"].contains(change.event)
            }
        }
        let statuses = try await stage.statuses()
        var unexplained: [String] = []
        for status in statuses where !["fresh", "refreshing", "interaction-required"].contains(status.state) {
            // A token may have ended just now: unasked, it is replaced two seconds after the last one at the earliest.
            do {
                try await stage.acquire(status.account)
            } catch {
                let failure = status.failure?.summary ?? "no failure"
                unexplained.append("\(status.account) is \(status.state) (\(failure)), and has no token: \(error)")
            }
        }
        let check = try await stage.ask(.checkStore, CheckStore.Parameters(), for: CheckStore.Reply.self)
        try await daemon.terminate()
        log += daemon.log.all
        let entries = await issuer.entries().filter { $0.path == "/token" }
        let counters = await issuer.counters
        let ledger = CrashLedger(entries: entries, log: log, deaths: deaths)
        let lost = statuses.filter { $0.state == "interaction-required" }.map { status in
            ledger.loss(of: status, family: families[status.account] ?? 0)
        }
        return CrashResult(
            kills: kills,
            seconds: Double(elapsed.components.seconds),
            refreshes: refreshes,
            exchangesCut: ledger.exchangesCut,
            spentTokenUses: counters.spentTokenUses,
            overlaps: counters.overlaps,
            refusedStarts: refusedStarts,
            storeFindings: Int(check.found),
            lost: lost,
            lastKill: deaths.last?.killedAt ?? 0,
            unexplained: unexplained
        )
    }
}
