import GRDB
import RefreshCore

/// The columns of a `RefreshState`, written and read in one order.
enum StateColumns {
    static let names = [
        "generation", "phase", "deadline_usec", "lease_generation",
        "phase_wall_usec", "phase_boot_id", "phase_boot_usec", "delay_usec", "back_off_kind", "interaction_reason",
        "failure_class", "failure_retry_after_usec", "failure_detail",
        "called_wall_usec", "attempt_wall_usec", "attempt_boot_id", "attempt_boot_usec",
        "access_wall_usec", "access_boot_id", "access_boot_usec", "access_lifetime_usec", "access_refresh_after_usec",
        "access_lifetime_basis",
        "refresh_wall_usec", "refresh_boot_id", "refresh_boot_usec", "refresh_lifetime_usec",
        "refresh_extended_by_use", "refresh_end_announced",
        "previous_generation", "previous_wall_usec", "previous_boot_id", "previous_boot_usec",
        "outcome_unknown", "failures", "refusals", "has_refreshed", "is_refreshable",
        "refusal", "refusal_wall_usec", "refusal_boot_id", "refusal_boot_usec", "is_rotating",
        "sign_out_wall_usec", "sign_out_boot_id", "sign_out_boot_usec", "sign_out_after_usec", "sign_out_announced",
        "sign_out_next_usec",
        "park_reason", "is_withheld",
    ]

    /// The column values of `state`. The deadline is converted to the schedule's clock, which is `offset` behind the
    /// wall clock.
    static func values(of state: RefreshState, offset: Duration) throws -> ColumnValues {
        var values: ColumnValues = []
        values.reserveCapacity(names.count + 8)
        values.append(state.generation.rawValue)
        let columns = PhaseColumns(state.phase)
        values.append(columns.name.rawValue)
        values.append(state.deadline.map { ($0 - offset).microseconds })
        values.append(columns.leaseGeneration?.rawValue)
        values.append(columns.wall?.microseconds)
        values.append(columns.boot?.bootID)
        values.append(columns.boot?.microseconds)
        values.append(columns.delay?.microseconds)
        values.append(columns.kind?.rawValue)
        values.append(columns.reason?.rawValue)
        values.append(columns.failure?.failureClass.rawValue)
        values.append(columns.failure?.retryAfter?.microseconds)
        values.append(try columns.failure.map { try JSONColumn.text(of: $0.detail) })
        values.append(columns.calledSince?.microseconds)
        values.append(moment: columns.attemptedAt)
        values.append(moment: state.accessToken?.issuedAt)
        values.append(state.accessToken?.lifetime.microseconds)
        values.append(state.accessToken?.refreshAfter.microseconds)
        values.append(state.accessToken?.basis.rawValue)
        values.append(moment: state.refreshToken?.issuedAt)
        values.append(state.refreshToken?.lifetime.microseconds)
        values.append(state.refreshToken?.isExtendedByUse)
        values.append(state.refreshToken?.isEndAnnounced)
        values.append(state.previous?.generation.rawValue)
        values.append(moment: state.previous?.replacedAt)
        values.append(state.isOutcomeUnknown)
        values.append(state.failures)
        values.append(state.refusals)
        values.append(state.hasWorked)
        values.append(state.isRefreshable)
        values.append(state.refusal?.text)
        values.append(moment: state.refusal?.since)
        values.append(state.isRotating)
        values.append(moment: state.signOut?.issuedAt)
        values.append(state.signOut?.lifetime.microseconds)
        values.append(state.signOut?.isEndAnnounced)
        values.append(state.signOut?.nextAfter.microseconds)
        values.append(columns.parkReason?.rawValue)
        values.append(state.isWithheld)
        return values
    }

    static func state(from reader: inout ColumnReader, offset: Duration) throws(StoreError) -> RefreshState {
        let generation = try reader.required(reader.generation(), "generation")
        let name = try reader.required(reader.choice(PhaseColumns.Name.self), "phase")
        let deadline = try reader.timestamp().map { $0 + offset }
        let phase = try PhaseColumns(name, from: &reader).phase(reader)
        var state = RefreshState.unused
        state.generation = generation
        state.phase = phase
        state.deadline = deadline
        state.accessToken = try accessToken(from: &reader)
        state.refreshToken = try refreshToken(from: &reader)
        state.previous = try previous(from: &reader)
        state.isOutcomeUnknown = try reader.required(reader.flag(), "outcome_unknown")
        state.failures = try reader.required(reader.count(), "failures")
        state.refusals = try reader.required(reader.count(), "refusals")
        state.hasWorked = try reader.required(reader.flag(), "has_refreshed")
        state.isRefreshable = try reader.required(reader.flag(), "is_refreshable")
        let (refusal, refusedSince) = (reader.text(), try reader.moment())
        if let refusal, let refusedSince { state.refusal = RefusalMemory(since: refusedSince, text: refusal) }
        state.isRotating = reader.flag()
        state.signOut = try signOut(from: &reader)
        // Earlier versions wrote NULL.
        let parkReason = try reader.choice(ParkReason.self) ?? .moved
        if state.phase.isParked { state.phase = .parked(parkReason) }
        state.isWithheld = try reader.required(reader.flag(), "is_withheld")
        return state
    }

    private static func accessToken(from reader: inout ColumnReader) throws(StoreError) -> AccessTokenTimes? {
        let (issuedAt, lifetime, refreshAfter) = (try reader.moment(), try reader.duration(), try reader.duration())
        // Earlier versions, which did not know this column, wrote NULL.
        let basis = try reader.choice(LifetimeBasis.self) ?? .stated
        guard let issuedAt else { return nil }
        return AccessTokenTimes(
            issuedAt: issuedAt,
            lifetime: try reader.required(lifetime, "access_lifetime_usec"),
            refreshAfter: try reader.required(refreshAfter, "access_refresh_after_usec"),
            basis: basis
        )
    }

    private static func refreshToken(from reader: inout ColumnReader) throws(StoreError) -> RefreshTokenTimes? {
        let (issuedAt, lifetime) = (try reader.moment(), try reader.duration())
        let (isExtendedByUse, isEndAnnounced) = (reader.flag(), reader.flag())
        guard let issuedAt else { return nil }
        return RefreshTokenTimes(
            issuedAt: issuedAt,
            lifetime: try reader.required(lifetime, "refresh_lifetime_usec"),
            isExtendedByUse: isExtendedByUse,
            isEndAnnounced: try reader.required(isEndAnnounced, "refresh_end_announced")
        )
    }

    private static func signOut(from reader: inout ColumnReader) throws(StoreError) -> RefreshTokenTimes? {
        let (signedInAt, after, isAnnounced) = (try reader.moment(), try reader.duration(), reader.flag())
        // For queries only: it follows from the others.
        _ = reader.integer()
        guard let signedInAt else { return nil }
        return RefreshTokenTimes(
            issuedAt: signedInAt,
            lifetime: try reader.required(after, "sign_out_after_usec"),
            isExtendedByUse: false,
            isEndAnnounced: try reader.required(isAnnounced, "sign_out_announced")
        )
    }

    private static func previous(from reader: inout ColumnReader) throws(StoreError) -> PreviousRefreshToken? {
        let (generation, replacedAt) = (try reader.generation(), try reader.moment())
        guard let generation else { return nil }
        return PreviousRefreshToken(
            generation: generation,
            replacedAt: try reader.required(replacedAt, "previous_wall_usec")
        )
    }
}

/// A `Phase`, spread over its columns. Columns that a phase does not use are NULL.
struct PhaseColumns {
    /// The values of the column `phase`.
    enum Name: String, CaseIterable {
        case signedOut, scheduled, refreshing, backingOff, interactionRequired, parked
    }

    let name: Name
    private(set) var leaseGeneration: Generation?
    private(set) var wall: Timestamp?
    private(set) var boot: BootTime?
    private(set) var delay: Duration?
    private(set) var kind: BackOff.Kind?
    private(set) var reason: InteractionReason?
    private(set) var failure: RefreshFailure?
    /// For a lease during which a person is still needed: since when.
    private(set) var calledSince: Timestamp?
    private(set) var attemptedAt: Moment?
    private(set) var parkReason: ParkReason?

    init(_ phase: Phase) {
        switch phase {
        case .signedOut:
            name = .signedOut
        case .parked(let reason):
            name = .parked
            parkReason = reason
        case .scheduled:
            name = .scheduled
        case .refreshing(let lease):
            name = .refreshing
            leaseGeneration = lease.generation
            (wall, boot) = (lease.startedAt.wall, lease.startedAt.boot)
            calledSince = lease.interaction?.since
            note(lease.interaction)
        case .backingOff(let backOff):
            name = .backingOff
            (wall, boot) = (backOff.failedAt.wall, backOff.failedAt.boot)
            (delay, kind, failure) = (backOff.delay, backOff.kind, backOff.failure)
        case .interactionRequired(let interaction):
            name = .interactionRequired
            wall = interaction.since
            note(interaction)
        }
    }

    private mutating func note(_ interaction: InteractionRequired?) {
        guard let interaction else { return }
        (reason, failure) = (interaction.reason, interaction.failure)
        (attemptedAt, delay) = (interaction.attemptedAt, interaction.leastDelay)
    }

    /// Reads the columns after `deadline_usec`.
    init(_ name: Name, from reader: inout ColumnReader) throws(StoreError) {
        self.name = name
        leaseGeneration = try reader.generation()
        wall = try reader.timestamp()
        let (bootID, bootTime) = (reader.integer(), reader.integer())
        if let bootID, let bootTime { boot = BootTime(bootID: bootID, microseconds: bootTime) }
        delay = try reader.duration()
        kind = try reader.choice(BackOff.Kind.self)
        reason = try reader.choice(InteractionReason.self)
        let failureClass = try reader.choice(FailureClass.self)
        let (retryAfter, detail) = (try reader.duration(), reader.text())
        calledSince = try reader.timestamp()
        attemptedAt = try reader.moment()
        guard let failureClass else { return }
        let stored = JSONColumn.value(FailureDetail.self, from: try reader.required(detail, "failure_detail"))
        failure = RefreshFailure(
            failureClass,
            detail: try reader.required(stored, "failure_detail", .notJSON),
            retryAfter: retryAfter
        )
    }

    /// The phase in these columns. If a value is missing, `reader` names it in the error.
    func phase(_ reader: ColumnReader) throws(StoreError) -> Phase {
        switch name {
        case .signedOut:
            return .signedOut
        case .parked:
            // The reason is in a later column.
            return .parked(.moved)
        case .scheduled:
            return .scheduled
        case .refreshing:
            let generation = try reader.required(leaseGeneration, "lease_generation")
            var lease = Lease(generation: generation, startedAt: try moment(reader))
            if let calledSince { lease.interaction = try interaction(since: calledSince, reader) }
            return .refreshing(lease)
        case .backingOff:
            let backOff = BackOff(
                failedAt: try moment(reader),
                delay: try reader.required(delay, "delay_usec"),
                kind: try reader.required(kind, "back_off_kind"),
                failure: try reader.required(failure, "failure_class")
            )
            return .backingOff(backOff)
        case .interactionRequired:
            let since = try reader.required(wall, "phase_wall_usec")
            return .interactionRequired(try interaction(since: since, reader))
        }
    }

    private func interaction(since: Timestamp, _ reader: ColumnReader) throws(StoreError) -> InteractionRequired {
        InteractionRequired(
            reason: try reader.required(reason, "interaction_reason"),
            since: since,
            failure: try reader.required(failure, "failure_class"),
            attemptedAt: attemptedAt,
            leastDelay: delay ?? .zero
        )
    }

    private func moment(_ reader: ColumnReader) throws(StoreError) -> Moment {
        Moment(
            wall: try reader.required(wall, "phase_wall_usec"),
            boot: try reader.required(boot, "phase_boot_id")
        )
    }
}
