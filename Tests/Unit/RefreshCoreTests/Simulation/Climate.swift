@testable import RefreshCore
import TestSupport

/// The conditions in a world: how the server is configured, and how often which faults happen.
struct Climate: Hashable {
    var rules = ModelServer.Rules()
    var policy = RefreshPolicy()
    /// How long the world lasts, in days of true time.
    var days = 365.0
    /// The share of exchanges that go wrong.
    var faultRate = 0.1
    /// The faults that an exchange may have.
    var faults: [Fault] = Fault.allCases
    /// Whether the exchange after a lost answer always succeeds.
    var spareAfterLoss = false
    /// The average days between two incidents of a kind. A kind that is missing does not happen.
    var daysBetween: [Incident: Double] = [:]
    /// The share of effects before or after which the process dies.
    var crashRate = 0.0
    /// The longest time, in seconds, until a dead process is restarted or an outage ends.
    var longestAbsence = 3600.0
    /// Whether the shell may report the end of a lease while the request is still in flight, as can happen if both come
    /// at once.
    var tellsLeaseEndEarly = false

    /// The time after the last trouble after which the machine must keep all its promises again.
    var recovery: Duration {
        // The longest wait (an hour and its jitter), with one more lease and request before it.
        BackOffRule.longestRetryAfter.scaled(by: 1.1) + Lease.duration + .seconds(300 + 60)
    }
}

/// A fault of one exchange.
enum Fault: Hashable, CaseIterable {
    case unreachable
    /// The connection breaks before the server has seen the request.
    case cutBefore
    /// The server does its work, and its answer is lost.
    case answerLost
    case unavailable
    case tooManyRequests
    case junk
    /// The answer takes up to the time limit of requests, which is far longer than callers wait.
    case slow
    /// The answer comes after the time limit.
    case late
    /// A refusal without a code. It is not meant, however often it comes.
    case rejected
    case misconfigured

    /// The faults of a server that is down.
    static let outage: [Fault] = [.unreachable, .unavailable, .cutBefore, .tooManyRequests]
}

/// An event that happens to the machine, the server or the user.
enum Incident: Int, Hashable, CaseIterable {
    case callerComes, accessTokenRejected, personAsks
    case wallClockStepped, suspended, paused, rebooted, crashed
    case networkLost, networkRestored, outageBegins, outageEnds, diskFills, diskEmpties
    case grantRevoked, userWanted, userSignsOut, userSignsIn, accountEdited
    case targetWanted, targetRejected

    /// The incident that ends this one; nil if it does not last.
    var end: Incident? {
        switch self {
        case .networkLost: .networkRestored
        case .outageBegins: .outageEnds
        case .diskFills: .diskEmpties
        case .callerComes, .accessTokenRejected, .personAsks, .wallClockStepped, .suspended, .paused, .rebooted,
            .crashed,
            .networkRestored, .outageEnds, .diskEmpties, .grantRevoked, .userWanted, .userSignsOut, .userSignsIn,
            .accountEdited, .targetWanted, .targetRejected:
            nil
        }
    }

    var isEnd: Bool {
        self == .networkRestored || self == .outageEnds || self == .diskEmpties
    }

    /// Whether the machine needs time to recover from the incident. A stepped clock alone is no excuse.
    var isTrouble: Bool {
        self != .callerComes && self != .personAsks && self != .accountEdited && self != .wallClockStepped
            && self != .userSignsIn && self != .targetWanted && self != .targetRejected
    }
}

extension Climate {
    /// A random climate. Different seeds give climates as different as possible.
    static func drawn(from random: inout SplitMix64) -> Climate {
        var climate = Climate()
        // Short-lived tokens live in worlds of days, long-lived ones in worlds of decades, because the cost of a world
        // is its number of refreshes.
        let lives: [(lifetime: Double, days: Double)] = [
            (20, 0.1), (300, 1), (3600, 20), (8 * 3600, 100), (86_400, 400), (14 * 86_400, 7_500),
            (60 * 86_400, 36_500),
        ]
        let life = random.pick(lives)
        climate.days = life.days
        climate.rules.accessLifetime = .seconds(life.lifetime)
        climate.rules.isRotating = random.chance(0.7)
        climate.rules.detectsReuse = random.chance(0.7)
        climate.rules.grace = random.pick([.zero, .zero, .seconds(60), .seconds(7 * 86_400)])
        // If the server did not tell the lifetime, there would be a refresh each hour, too many for a world of decades.
        climate.rules.tellsAccessLifetime = life.lifetime != 8 * 3600 || random.chance(0.5)
        climate.rules.givesRefreshToken = !climate.rules.tellsAccessLifetime || random.chance(0.85)
        climate.drawRefreshEnd(lifetime: life.lifetime, from: &random)
        if random.chance(0.5) { climate.policy.rotationGrace = climate.rules.isRotating ? climate.rules.grace : nil }
        if random.chance(0.2) { climate.policy.leadTime = climate.leadTime(random.fraction()) }
        climate.faultRate = random.pick([0, 0.02, 0.1, 0.3])
        climate.tellsLeaseEndEarly = random.chance(0.3)
        climate.longestAbsence = min(3600, life.days * 864)
        climate.drawIncidentRates(from: &random)
        climate.drawRefusedTargets(from: &random)
        return climate
    }

    /// The token targets that callers ask for in addition to the account's default token.
    static let targets: [TokenTarget] = ["a", "b", "c", "d"].compactMap { try? TokenTarget(scopes: [$0]) }

    /// In half of the worlds every target is granted.
    private mutating func drawRefusedTargets(from random: inout SplitMix64) {
        guard random.chance(0.5) else { return }
        for target in Climate.targets where random.chance(0.5) {
            rules.refusedTargets[target] = random.pick([.misconfigured, .rejected, .userRequired, .grantEnded])
        }
    }

    /// A lead time that leaves enough time for one exchange.
    func leadTime(_ fraction: Double) -> Duration {
        .seconds(2) + rules.accessLifetime.scaled(by: fraction)
    }

    private mutating func drawRefreshEnd(lifetime: Double, from random: inout SplitMix64) {
        let end = Duration.seconds(lifetime * random.pick([0.5, 4.0, 100.0]) + 7_200)
        rules.refreshEnd = random.pick([.never, .idle(end), .absolute(end)])
        rules.tellsRefreshLifetime = random.chance(0.7)
        if case .idle(let lifetime) = rules.refreshEnd, !rules.tellsRefreshLifetime, random.chance(0.7) {
            policy.refreshTokenLifetime = lifetime
        }
    }

    private mutating func drawIncidentRates(from random: inout SplitMix64) {
        // Incidents are as frequent for each refresh in every world, whatever the time between refreshes.
        let unit = days / 400
        for incident in Incident.allCases where random.chance(0.7) {
            daysBetween[incident] = unit * random.pick([1, 5, 20])
        }
        for incident in Incident.allCases {
            if let end = incident.end { daysBetween[end] = daysBetween[incident] }
        }
        // The user returns after some time. Otherwise the world would end with the first lost grant.
        daysBetween[.userSignsIn] = unit / 2
        crashRate = random.pick([0, 0.001, 0.01])
    }
}

extension Climate {
    /// A server without grace, and a network that fails often but loses no answer: the grant must last forever.
    static let honest: Climate = {
        var climate = Climate(days: 150, faultRate: 0.3)
        climate.faults = [.unreachable, .unavailable, .tooManyRequests, .junk, .slow, .rejected, .misconfigured]
        climate.daysBetween = [
            .callerComes: 0.5, .personAsks: 2, .wallClockStepped: 1, .networkLost: 3, .outageBegins: 3,
            .targetWanted: 0.05, .targetRejected: 1,
        ]
        climate.rules.refusedTargets = [targets[0]: .grantEnded, targets[1]: .userRequired]
        climate.daysBetween[.networkRestored] = 3
        climate.daysBetween[.outageEnds] = 3
        return climate
    }()

    /// A server that is known to accept a second use within a minute, a network that loses answers, and long outages:
    /// the grant must last.
    static let forgetful: Climate = {
        var climate = Climate(
            days: 150,
            faultRate: 0.5,
            faults: [.unavailable, .answerLost, .slow],
            spareAfterLoss: true
        )
        climate.rules.grace = .seconds(60)
        climate.policy.rotationGrace = .seconds(60)
        climate.daysBetween = [.outageBegins: 1, .outageEnds: 1, .targetWanted: 0.05]
        return climate
    }()

    /// A person who signs in each day for eight hours, at a machine whose clocks, network, disk and process fail often.
    static let forgetting: Climate = {
        var climate = Climate(days: 150, faultRate: 0.2, crashRate: 0.001, longestAbsence: 1800)
        climate.rules.grace = .seconds(86_400)
        climate.policy.forgetAfter = .seconds(8 * 3600)
        climate.daysBetween = [
            .callerComes: 0.05, .personAsks: 0.5, .wallClockStepped: 0.7, .suspended: 1, .paused: 2, .rebooted: 2,
            .crashed: 1, .networkLost: 2, .outageBegins: 2, .diskFills: 3, .userSignsIn: 0.3, .targetWanted: 0.1,
            .accountEdited: 3, .accessTokenRejected: 2,
        ]
        for incident in [Incident.networkLost, .outageBegins, .diskFills] {
            if let end = incident.end { climate.daysBetween[end] = climate.daysBetween[incident] }
        }
        return climate
    }()

    /// The process dies before or after one effect in ten, and is restarted within a minute. The server accepts a
    /// second use for a day.
    static let deadly: Climate = {
        var climate = Climate(days: 100, faultRate: 0.1, crashRate: 0.05, longestAbsence: 60)
        climate.rules.grace = .seconds(86_400)
        climate.daysBetween = [.callerComes: 0.2, .crashed: 0.5, .rebooted: 2, .diskFills: 3, .diskEmpties: 3]
        climate.daysBetween[.targetWanted] = 0.05
        return climate
    }()
}
