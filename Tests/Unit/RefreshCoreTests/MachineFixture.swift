@testable import RefreshCore

/// A machine in a given phase, at a time that is easy to calculate with.
enum MachineFixture {
    static let start = Moment(
        wall: Timestamp(microseconds: 1_800_000_000_000_000),
        boot: BootTime(bootID: 7, microseconds: 1_000_000_000)
    )
    static let generation = Generation(5)
    static let issuance = Issuance(lifetime: .seconds(3600), isRotated: true)
    static let lease = Lease(generation: generation, startedAt: start)
    static let interaction = InteractionRequired(reason: .grantEnded, since: start.wall, failure: failure(.grantEnded))

    static func failure(_ failureClass: FailureClass, retryAfter: Duration? = nil) -> RefreshFailure {
        RefreshFailure(failureClass, detail: FailureDetail(summary: "a test failure"), retryAfter: retryAfter)
    }

    static func backOff(_ kind: BackOff.Kind, delay: Duration = .seconds(100)) -> BackOff {
        let failureClass: FailureClass = kind == .misconfigured ? .misconfigured : .unavailable
        return BackOff(failedAt: start, delay: delay, kind: kind, failure: failure(failureClass))
    }

    /// One phase of each kind.
    static let phases: [Phase] =
        [.signedOut, .scheduled, .refreshing(lease), .interactionRequired(interaction)]
        + BackOff.Kind.allCases.map { .backingOff(backOff($0)) }

    /// An account that was refreshed at `start` and is now in `phase`. Its access token is due after 2400 s.
    static func machine(_ phase: Phase, policy: RefreshPolicy = RefreshPolicy()) -> RefreshMachine {
        guard phase != .signedOut else {
            return RefreshMachine(state: RefreshState(generation: generation), policy: policy)
        }
        let deadline: Timestamp? =
            switch phase {
            case .signedOut, .interactionRequired, .parked: nil
            case .scheduled: start.wall + .seconds(2400)
            case .refreshing: start.wall + Lease.duration
            case .backingOff(let backOff): start.wall + backOff.delay
            }
        let state = RefreshState(
            generation: generation,
            phase: phase,
            deadline: deadline,
            accessToken: AccessTokenTimes(issuedAt: start, lifetime: .seconds(3600), refreshAfter: .seconds(2400)),
            hasWorked: true
        )
        return RefreshMachine(state: state, policy: policy)
    }

    static func begin(at now: Moment, generation: Generation = generation) -> [Effect] {
        [.persist(.unchanged), .send(Lease(generation: generation, startedAt: now))]
    }
}

extension Moment {
    /// This moment, later by `duration`.
    func later(_ duration: Duration) -> Moment {
        Moment(
            wall: wall + duration,
            boot: BootTime(bootID: boot.bootID, microseconds: boot.microseconds + duration.microseconds)
        )
    }

    /// This moment with the wall clock stepped by `duration`.
    func stepped(_ duration: Duration) -> Moment {
        Moment(wall: wall + duration, boot: boot)
    }

    /// This moment after a reboot, later by `duration` according to the wall clock.
    func rebooted(_ duration: Duration) -> Moment {
        Moment(wall: wall + duration, boot: BootTime(bootID: boot.bootID + 1, microseconds: 5_000_000))
    }
}

extension Phase {
    var isBackingOff: Bool {
        if case .backingOff = self { true } else { false }
    }

    /// The kind of the back-off; nil in other phases.
    var backOffKind: BackOff.Kind? {
        if case .backingOff(let backOff) = self { backOff.kind } else { nil }
    }
}
