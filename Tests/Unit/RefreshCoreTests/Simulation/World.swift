import TestSupport

@testable import RefreshCore

/// A broken promise.
struct Violation: Error, Hashable {
    var text: String
}

/// The world of one seed: one account, one machine and one server, in virtual time.
///
/// `World+Effects` executes the machine's effects as the daemon does, `World+Incidents` makes faults and events happen,
/// and `World+Invariants` checks the promises.
struct World {
    let climate: Climate
    var random: SplitMix64
    var clock = VirtualClock()
    var server: ModelServer
    var store = ModelStore()
    /// The machine of the running process; nil while no process runs.
    var machine: RefreshMachine?
    var trace = Trace()
    var promises = Promises()

    // Work in flight inside the process.
    var underWay: [Exchange] = []
    var unsaved: UnsavedAnswer?
    /// The true time until which the shell does not deliver a deadline whose commit failed.
    var deadlineRestsUntil: Int64 = 0
    /// The true time when something last disturbed the wall clock, or when the process began to look.
    var wallDisturbedAt: Int64 = 0

    // Work in flight outside the process.
    var requests: [Request] = []
    var restartsAt: Int64?
    var nextIncidents: [(incident: Incident, at: Int64)] = []
    var isOffline = false
    var isServerDown = false
    var isDiskFull = false
    var exchanges = 0
    /// The event that is being handled.
    var cause = Event.host(.deadlineReached)

    init(seed: UInt64, climate: Climate?) {
        var random = SplitMix64(seed: seed)
        let climate = climate ?? Climate.drawn(from: &random)
        self.climate = climate
        self.random = random
        server = ModelServer(rules: climate.rules)
        machine = RefreshMachine(state: RefreshState(), policy: climate.policy)
        for incident in Incident.allCases {
            guard let days = climate.daysBetween[incident] else { continue }
            let first = incident.isEnd ? .max : self.random.microseconds(0, 2 * days * 86_400)
            nextIncidents.append((incident, at: first))
        }
    }

    /// Lets the world run to its end.
    mutating func run() throws(Violation) {
        try signIn()
        let end = Int64(climate.days * 86_400e6)
        while clock.trueTime < end {
            try step()
        }
    }

    /// The next thing to happen, apart from incidents.
    private enum Next {
        case requestArrives(Int), exchangeEnds(Int), savingAgain, deadline, signOut, restart
        case incident(Int)
    }

    private mutating func step() throws(Violation) {
        guard let next = earliest() else { throw Violation(text: "nothing will ever happen again") }
        let isNow = next.at <= clock.trueTime
        clock.advance(to: next.at)
        try checkAtEveryStep()
        if case .incident = next.what {} else { try promises.countStep(isNow: isNow) }
        switch next.what {
        case .requestArrives(let index): arrive(requests.remove(at: index), at: next.at)
        case .exchangeEnds(let index): try end(underWay.remove(at: index))
        case .savingAgain: try saveAgain()
        case .deadline: try reachDeadline()
        case .signOut: try reachSignOut()
        case .restart: try restart()
        case .incident(let index): try happen(at: index)
        }
    }

    private func earliest() -> (what: Next, at: Int64)? {
        var earliest: (what: Next, at: Int64)?
        func consider(_ what: Next, _ time: Int64?) {
            guard let time, time < earliest?.at ?? .max else { return }
            earliest = (what, time)
        }
        for (index, request) in requests.enumerated() { consider(.requestArrives(index), request.arrivesAt) }
        consider(.restart, restartsAt)
        if let machine {
            for (index, exchange) in underWay.enumerated() { consider(.exchangeEnds(index), exchange.endsAt) }
            consider(.savingAgain, unsaved?.triedAgainAt)
            consider(.signOut, signOutTime(of: machine.state))
            consider(.deadline, machine.state.deadline.map { max(clock.trueTime(of: $0), deadlineRestsUntil) })
        }
        for (index, next) in nextIncidents.enumerated() { consider(.incident(index), next.at) }
        return earliest
    }

    private mutating func arrive(_ request: Request, at time: Int64) {
        let answer = server.refresh(request.token, for: request.target, at: time)
        guard let index = underWay.firstIndex(where: { $0.number == request.exchange }) else {
            // Nobody waits for this request any more, but for the server it is a use or a replay like any other.
            promises.isAmbiguous = true
            if server.end == .reused { promises.isSpoilt = true }
            return
        }
        underWay[index].answer = answer
    }
}
