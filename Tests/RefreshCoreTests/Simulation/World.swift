import TestSupport

@testable import RefreshCore

/// A promise that was broken.
struct Violation: Error, Hashable {
    var text: String
}

/// One account, one machine, one server in virtual time: the world that a seed makes.
///
/// `World+Shell` runs the machine's effects as the daemon does, `World+Incidents` is the weather, `World+Promises` checks what was
/// promised.
struct World {
    let climate: Climate
    var random: SplitMix64
    var clock = VirtualClock()
    var server: ModelServer
    var store = ModelStore()
    /// The running process's machine; nil while there is none.
    var machine: RefreshMachine?
    var trace = Trace()
    var promises = Promises()

    // What is under way in the process.
    var underWay: [Exchange] = []
    var unsaved: UnsavedAnswer?
    /// The shell lets a deadline whose commit failed rest until then.
    var deadlineRestsUntil: Int64 = 0

    // What is under way outside.
    var requests: [Request] = []
    var restartsAt: Int64?
    var nextIncidents: [(incident: Incident, at: Int64)] = []
    var isOffline = false
    var isServerDown = false
    var isDiskFull = false
    var exchanges = 0
    /// The event that is being handled.
    var cause = Event.deadlineReached

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

    /// What can happen next, apart from the weather.
    private enum Next {
        case requestArrives(Int), exchangeEnds(Int), savingAgain, deadline, restart
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
            consider(.deadline, machine.state.deadline.map { max(clock.trueTime(of: $0), deadlineRestsUntil) })
        }
        for (index, next) in nextIncidents.enumerated() { consider(.incident(index), next.at) }
        return earliest
    }

    private mutating func arrive(_ request: Request, at time: Int64) {
        let answer = server.refresh(request.token, for: request.target, at: time)
        guard let index = underWay.firstIndex(where: { $0.number == request.exchange }) else {
            // Nobody waits for it any more; to the server it was a use, or a replay, like any other.
            promises.isAmbiguous = true
            if server.end == .reused { promises.isSpoilt = true }
            return
        }
        underWay[index].answer = answer
    }
}
