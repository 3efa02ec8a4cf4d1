internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import TestSupport

/// One cell of the table: an account, and a server with a fault.
struct FaultTrial: Sendable {
    /// The durations in a run.
    struct Limits: Sendable {
        /// The time that passes during a fault at least.
        let outage: Duration
        /// How long an account may take to recover by itself, before its token is asked for.
        let patience: Duration
    }

    /// The lifetime of access tokens. They are due after 540 to 660 s. From then on, refusals last less than the ten
    /// minutes after which they are believed without a reason.
    static let tokenLifetime = Duration.seconds(900)

    /// The state of an account before its server's fault.
    struct Beginning: Sendable {
        let family: Int
        /// The token; nil in the account's first refresh.
        let token: AcquireToken.Reply?
        /// The number of requests that had reached the token endpoint.
        let requests: Int
        /// The number of changes that had been reported.
        let changes: Int
    }

    /// What was seen of the fault while the account had its token.
    struct Observation: Sendable {
        var finding: Finding
        /// Nil if the trial is over, because something else went wrong.
        fileprivate var cell: (beginning: Beginning, outcome: Subscribe.Reply)?

        /// When the token from before the fault expires, in µs since 1970; nil if there was none.
        var tokenEndsAtUSec: Int64? { cell?.beginning.token?.expiresAtUSec }
    }

    /// The events with which an attempt can end.
    private static let outcomes: Set<String> = [
        "refresh-failed", "misconfigured", "interaction-required", "token-refreshed",
    ]
    /// The limit for events that come within half a minute. It only ends a hang.
    private static let longestWait = Duration.seconds(300)

    let name: String
    let server: FaultServer
    let situation: Situation
    let stage: DaemonStage
    private(set) var feed: ChangeFeed
    let limits: Limits
    let turnstile: Turnstile

    private var expectation: Expectation { server.row.expectation(in: situation) }

    /// This trial with another daemon on the same stage, which reports its own changes.
    func following(_ feed: ChangeFeed) -> FaultTrial {
        var trial = self
        trial.feed = feed
        return trial
    }

    /// Adds the account. The fault of its first refresh has begun before; otherwise it gets a token.
    func prepare() async -> Result<Beginning, any Error> {
        do {
            return .success(try await turnstile.pass { try await begin() })
        } catch {
            return .failure(error)
        }
    }

    private func begin() async throws -> Beginning {
        let grant = try await server.issuer.issueGrant(clientID: "app")
        if situation == .first { try await server.breakDown() }
        try await stage.add(name, issuer: server.url, grant: grant, rotationGraceSec: expectation.toldGrace)
        guard situation == .first else {
            try await feed.next("token-refreshed", of: name, within: Self.longestWait)
            return Beginning(family: grant.family, token: try await stage.acquire(name), requests: 0, changes: 0)
        }
        let beginning = Beginning(family: grant.family, token: nil, requests: 0, changes: 0)
        // The next trial begins when this one is ready, because new accounts are all refreshed at once.
        try await firstChange(after: beginning, among: Self.outcomes)
        return beginning
    }

    /// Begins the fault for an account that has a token.
    func breakDown(_ preparation: Result<Beginning, any Error>) async -> Result<Beginning, any Error> {
        do {
            let before = try preparation.get()
            try await server.breakDown()
            return .success(
                Beginning(
                    family: before.family,
                    token: before.token,
                    requests: await server.issuer.counters.tokenRequests,
                    changes: feed.changes.count
                )
            )
        } catch {
            return .failure(error)
        }
    }

    /// Observes the effects of the fault while the account has its token.
    func observe(_ preparation: Result<Beginning, any Error>) async -> Observation {
        var finding = Finding(server.row.name, situation)
        do {
            let beginning = try preparation.get()
            let outcome = try await firstOutcome(after: beginning)
            try await see(outcome, beginning, in: &finding)
            return Observation(finding: finding, cell: (beginning, outcome))
        } catch {
            finding.expect(false, "\(error)")
            return Observation(finding: finding, cell: nil)
        }
    }

    /// Observes the effects after the token has expired, and ends the fault.
    func finish(_ observation: Observation) async -> Finding {
        var finding = observation.finding
        do {
            if let (beginning, outcome) = observation.cell {
                try await outlast(outcome, beginning, in: &finding)
                await server.recover()
                try await comeBack(beginning, in: &finding)
            }
        } catch {
            finding.expect(false, "\(error)")
        }
        await server.recover()
        return finding
    }

    /// The result of the first attempt, or of the last attempt if a refusal must be confirmed.
    private func firstOutcome(after beginning: Beginning) async throws -> Subscribe.Reply {
        switch expectation.course {
        case .needsPerson:
            return try await firstChange(after: beginning, among: Self.outcomes.subtracting(["refresh-failed"]))
        case .unnoticed, .retries, .waits, .misconfigured:
            return try await firstChange(after: beginning, among: Self.outcomes)
        }
    }

    @discardableResult private func firstChange(
        after beginning: Beginning,
        among events: Set<String>
    ) async throws -> Subscribe.Reply {
        try await feed.changes.first("an outcome for \(name)", from: beginning.changes, within: Self.longestWait) {
            [name] in $0.account == name && events.contains($0.event)
        }
    }

    /// Compares what the daemon did, and what a person sees of it, with the expectations.
    private func see(
        _ outcome: Subscribe.Reply,
        _ beginning: Beginning,
        in finding: inout Finding
    ) async throws {
        guard let status = outcome.accounts.first else { throw TestFault.unreadable("a change without its account") }
        finding.course = Self.text(of: status)
        let course = expectation.course
        finding.expect(status.state == course.state, "the state is \(status.state) instead of \(course.state)")
        if case .needsPerson(let reason) = course {
            finding.expect(status.reason == reason, "the reason is \(status.reason ?? "none") instead of \(reason)")
        }
        if outcome.event != "token-refreshed", let next = status.nextAttemptAtUSec {
            // The failure came between the beginning of the attempt and the time of this change.
            let started = feed.changes.all.last {
                $0.account == name && $0.event == "refresh-started" && $0.atUSec <= outcome.atUSec
            }
            let most = Double(next - (started?.atUSec ?? 0)) / 1e6
            let least = Double(next - outcome.atUSec) / 1e6
            finding.next = "\(Self.rounded(least)) s"
            finding.expect(
                course.pause.map { least <= $0.upperBound && most >= $0.lowerBound } ?? false,
                "the next attempt is due in \(Self.rounded(least)) to \(Self.rounded(most)) s"
            )
        } else {
            finding.expect(course.pause == nil, "no further attempt is due")
        }
        let views = try await turnstile.pass {
            (status: try await stage.authctl("status", name), token: try await stage.authctl("token", name))
        }
        look(at: views.status, views.token, beginning.token, in: &finding)
    }

    /// What a person sees during the fault.
    private func look(
        at shown: CommandOutcome,
        _ ended: CommandOutcome,
        _ token: AcquireToken.Reply?,
        in finding: inout Finding
    ) {
        finding.status = Self.statusWords(of: shown.output, name: name)
        finding.expect(
            expectation.course.bringsToken || shown.output.contains(expectation.words),
            "status does not say \"\(expectation.words)\": \(shown.output)"
        )
        guard let token, !expectation.course.bringsToken else {
            let wanted = ProgramEnd.exited(expectation.course.exitStatus)
            finding.token = Self.text(of: ended.end)
            finding.expect(ended.end == wanted, "authctl token ended with \(ended.end): \(ended.errors)")
            return
        }
        let isServed = ended.end == .exited(0) && ended.output == token.accessToken
        finding.isOldTokenServed = isServed
        finding.token = "0"
        finding.expect(isServed, "the old token was not served: \(ended.end) \(ended.errors)")
    }

    /// Counts the requests during the fault, now that the token has expired.
    private func outlast(
        _ outcome: Subscribe.Reply,
        _ beginning: Beginning,
        in finding: inout Finding
    ) async throws {
        let token = beginning.token
        let isOver = expectation.course.bringsToken
        let seconds = Double(stage.nowUSec - outcome.atUSec) / 1e6
        let requests = await server.issuer.counters.tokenRequests - beginning.requests
        let attempts = feed.changes.all.dropFirst(beginning.changes)
            .filter { $0.event == "refresh-started" && $0.account == name }.count
        finding.attempts = "\(attempts) × (\(requests) requests) in \(Int(seconds.rounded())) s"
        if !isOver, let most = expectation.course.mostAttempts(within: seconds) {
            // Each `authctl token` without a valid token may cause one attempt.
            let callers = token == nil ? 1 : 0
            finding.expect(
                attempts <= most + callers,
                "\(attempts) attempts in \(Int(seconds)) s; \(most) are the most"
            )
        }
        finding.expect(requests <= attempts, "more requests than attempts: \(requests) for \(attempts)")
        guard token != nil, !isOver else { return }
        let refusal = try await refusal()
        finding.token += ", then \(refusal.map { $0.exitStatus.map(String.init) ?? $0.name } ?? "0")"
        finding.expect(
            refusal?.exitStatus == expectation.course.exitStatus,
            "without a token, the answer is \(refusal?.name ?? "a token")"
        )
    }

    /// The error for a caller who asks for a token now; nil if there is a token.
    private func refusal() async throws -> Refusal? {
        do {
            try await stage.acquire(name)
            return nil
        } catch TestFault.refused(let name, _) {
            return Refusal(name: name)
        }
    }

    /// Waits until the account is fresh again after the fault has ended.
    private func comeBack(_ beginning: Beginning, in finding: inout Finding) async throws {
        switch expectation.recovery {
        case .none:
            finding.recovery = "nothing was missing"
        case .later:
            let wait = seconds(until: try await stage.status(name).nextAttemptAtUSec)
            finding.recovery = "by itself in \(Int(wait)) s"
            let asked = expectation.course.pause?.upperBound ?? 0
            finding.expect(0 < wait && wait <= asked, "the next attempt follows in \(Int(wait)) s: later than asked")
            return
        case .byItself:
            finding.recovery = try await comeBackByItself()
        case .refresh:
            let ended = try await turnstile.pass { try await stage.authctl("refresh", name) }
            finding.recovery = "`authctl refresh`: \(Self.text(of: ended.end))"
            finding.expect(ended.end == .exited(0), "authctl refresh: \(ended.errors)")
        case .grant:
            let grant = try await server.issuer.issueGrant(clientID: "app")
            let start = feed.changes.count
            try await stage.importGrant(grant, into: name)
            try await feed.next("token-refreshed", of: name, from: start, within: Self.longestWait)
            finding.recovery = "with a new grant"
        }
        let fresh = try await stage.acquire(name)
        finding.expect(fresh.accessToken != beginning.token?.accessToken, "afterwards the token is still the old one")
        guard expectation.recovery != .grant else { return }
        let spent = await server.issuer.counters.spentTokenUses
        finding.expect(spent == 0, "a spent token was sent \(spent) times")
        let grant = await server.issuer.grant(beginning.family)
        finding.expect(grant.map { $0.revokedBy == nil } ?? false, "the grant was lost at the server")
    }

    /// Asks for the token like a program that needs it.
    private func askForToken() async throws {
        let end = ContinuousClock.now + Self.longestWait
        while try await refusal() != nil {
            guard ContinuousClock.now < end else { throw TestFault.timedOut(waitingFor: "a token of \(name)") }
            // Callers cause an attempt at most every two seconds (`BackOffRule.callerInterval`).
            try await Task.sleep(for: .seconds(2))
        }
    }

    /// The recovery in the words of the table.
    private func comeBackByItself() async throws -> String {
        let (start, began) = (feed.changes.count, ContinuousClock.now)
        let status = try await stage.status(name)
        let wait = Duration.seconds(seconds(until: status.nextAttemptAtUSec))
        // It may have recovered a moment ago.
        guard status.state != "fresh" else { return "by itself at once" }
        guard wait < limits.patience else {
            try await askForToken()
            return "at the next `authctl token`"
        }
        try await feed.next("token-refreshed", of: name, from: start, within: limits.patience + Self.longestWait)
        return "by itself in \((ContinuousClock.now - began).components.seconds) s"
    }
}

/// An error of `AcquireToken`.
private struct Refusal {
    /// The full name, with its interface.
    let name: String

    /// The exit status of `authctl token` for it; nil for an error that must not occur here.
    var exitStatus: Int32? {
        switch name {
        case TemporarilyUnavailableError.name: 75
        case MisconfiguredError.name: 78
        case InteractionRequiredError.name: 3
        default: nil
        }
    }
}

extension FaultTrial {
    /// What the daemon did, in the words of the table.
    private static func text(of status: AccountStatus) -> String {
        switch status.state {
        case "fresh": Expectation.Course.unnoticed.text
        case "retrying": Expectation.Course.retries.text
        case "misconfigured": Expectation.Course.misconfigured.text
        case "interaction-required": Expectation.Course.needsPerson(reason: status.reason ?? "?").text
        default: status.state
        }
    }

    /// The seconds until a time; 0 if the time is not known.
    private func seconds(until timeUSec: Int64?) -> Double {
        timeUSec.map { Double($0 - stage.nowUSec) / 1e6 } ?? 0
    }

    private static func text(of end: ProgramEnd) -> String {
        switch end {
        case .exited(let status): "\(status)"
        case .signalled(let number): "signal \(number)"
        }
    }

    /// The note below the table of `authctl status`, without the account's name; without a note, the account's state.
    private static func statusWords(of output: String, name: String) -> String {
        let own = output.split(separator: "\n").filter { $0.hasPrefix("\(name) ") }
        let line = own.count > 1 ? own[1] : own.first ?? "nothing"
        let words = line.dropFirst(name.count).drop { $0 == " " }
        return own.count > 1 ? String(words) : String(words.prefix { $0 != " " })
    }

    private static func rounded(_ seconds: Double) -> String {
        String(format: "%.1f", seconds)
    }
}
