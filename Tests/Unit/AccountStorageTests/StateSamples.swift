@testable import RefreshCore

@testable import AccountStorage

/// States that together use each case and each optional field of `RefreshState`, with and without a value.
enum StateSamples {
    static let all: [RefreshState] =
        phases.map { phase in
            RefreshState(generation: Generation(3), phase: phase, deadline: Sample.start + .microseconds(11))
        } + [full, refused, signingOut, withheld, RefreshState(generation: Generation(3), phase: .scheduled)]

    static let full = RefreshState(
        generation: Generation(3),
        phase: .refreshing(Lease(generation: Generation(2), startedAt: Sample.moment(2))),
        deadline: Sample.start,
        accessToken: AccessTokenTimes(
            issuedAt: Sample.moment(1),
            lifetime: .seconds(3600),
            refreshAfter: .microseconds(2_400_000_001)
        ),
        refreshToken: RefreshTokenTimes(
            issuedAt: Sample.moment(-9),
            lifetime: .seconds(86_400),
            isExtendedByUse: false,
            isEndAnnounced: true
        ),
        previous: PreviousRefreshToken(generation: Generation(2), replacedAt: Sample.moment(3)),
        isOutcomeUnknown: true,
        failures: 5,
        refusals: 2,
        hasWorked: true
    )

    /// A parked account with the tokens of another person.
    static let withheld = RefreshState(generation: Generation(3), phase: .parked(.moved), isWithheld: true)

    /// An account that signs out by itself, and has announced it.
    static let signingOut = RefreshState(
        generation: Generation(3),
        phase: .scheduled,
        deadline: Sample.start,
        signOut: RefreshTokenTimes(
            issuedAt: Sample.moment(-5),
            lifetime: .seconds(28_800),
            isExtendedByUse: false,
            isEndAnnounced: true
        )
    )

    /// An account that was refused without a reason, and is tried while a person is called.
    static let refused = RefreshState(
        generation: Generation(3),
        phase: .refreshing(
            Lease(
                generation: Generation(3),
                startedAt: Sample.moment(2),
                interaction: InteractionRequired(
                    reason: .rejectedWithoutReason,
                    since: Sample.start,
                    failure: Sample.failure,
                    attemptedAt: Sample.moment(1),
                    leastDelay: .seconds(7)
                )
            )
        ),
        deadline: Sample.start,
        accessToken: AccessTokenTimes(
            issuedAt: Sample.moment(1),
            lifetime: .seconds(3600),
            refreshAfter: .seconds(2400),
            basis: .unreadable
        ),
        refusals: 4,
        refusal: RefusalMemory(since: Sample.moment(-2), text: "rejected 403   ")
    )

    static func counts(of states: [RefreshState]) -> PhaseCounts {
        var counts = PhaseCounts()
        for state in states {
            switch state.phase {
            case .signedOut: counts.signedOut += 1
            case .scheduled: counts.scheduled += 1
            case .refreshing: counts.refreshing += 1
            case .backingOff(let backOff):
                if backOff.kind == .misconfigured || backOff.failure.failureClass == .misconfigured {
                    counts.misconfigured += 1
                } else {
                    counts.backingOff += 1
                }
            case .interactionRequired: counts.interactionRequired += 1
            case .parked: counts.parked += 1
            }
        }
        return counts
    }

    private static let phases: [Phase] =
        [.signedOut, .scheduled, .refreshing(Lease(generation: Generation(3), startedAt: Sample.moment(0)))]
        + ParkReason.allCases.map { .parked($0) }
        + BackOff.Kind.allCases.map { backingOff($0, Sample.failure) }
        + FailureClass.allCases.map {
            backingOff(.serverAsked, RefreshFailure($0, detail: FailureDetail(summary: "none of the optional ones")))
        }
        + InteractionReason.allCases.map {
            .interactionRequired(
                InteractionRequired(
                    reason: $0,
                    since: Sample.start,
                    failure: Sample.failure,
                    attemptedAt: Sample.moment(6),
                    leastDelay: .seconds(5)
                )
            )
        }

    private static func backingOff(_ kind: BackOff.Kind, _ failure: RefreshFailure) -> Phase {
        .backingOff(
            BackOff(failedAt: Sample.moment(4), delay: .microseconds(1_234_567), kind: kind, failure: failure)
        )
    }
}
