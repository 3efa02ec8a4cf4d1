import RefreshCore

/// A machine in a named phase, at an instant that is easy to count from.
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

    /// One of each.
    static let phases: [Phase] =
        [.signedOut, .scheduled, .refreshing(lease), .interactionRequired(interaction)]
        + BackOff.Kind.allCases.map { .backingOff(backOff($0)) }

    /// An account that has been refreshed at `start`, and is now in `phase`; its access token is due after 2400 s.
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
    /// The same machine, so much later.
    func later(_ duration: Duration) -> Moment {
        Moment(
            wall: wall + duration,
            boot: BootTime(bootID: boot.bootID, microseconds: boot.microseconds + duration.microseconds)
        )
    }

    /// The wall clock set by so much.
    func stepped(_ duration: Duration) -> Moment {
        Moment(wall: wall + duration, boot: boot)
    }

    /// So much later by the wall clock, after a reboot.
    func rebooted(_ duration: Duration) -> Moment {
        Moment(wall: wall + duration, boot: BootTime(bootID: boot.bootID + 1, microseconds: 5_000_000))
    }
}

extension Phase {
    var isBackingOff: Bool {
        if case .backingOff = self { true } else { false }
    }

    /// The kind of the back-off, if it is one.
    var backOffKind: BackOff.Kind? {
        if case .backingOff(let backOff) = self { backOff.kind } else { nil }
    }
}
