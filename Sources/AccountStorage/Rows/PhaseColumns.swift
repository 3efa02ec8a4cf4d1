import GRDB
import RefreshCore

/// A `Phase`, spread over its columns: those that a phase has no use for are NULL.
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
    /// Of a lease that leaves a person called: since when.
    private(set) var calledSince: Timestamp?
    private(set) var attemptedAt: Moment?

    init(_ phase: Phase) {
        switch phase {
        case .signedOut:
            name = .signedOut
        case .parked:
            name = .parked
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

    /// Reads what follows `deadline_usec`.
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
        let stored = JSONColumn.value(StoredFailureDetail.self, from: try reader.required(detail, "failure_detail"))
        failure = RefreshFailure(
            failureClass,
            detail: try reader.required(stored, "failure_detail", .notJSON).detail,
            retryAfter: retryAfter
        )
    }

    /// The phase that these columns spell; `reader` names what is missing.
    func phase(_ reader: ColumnReader) throws(StoreError) -> Phase {
        switch name {
        case .signedOut:
            return .signedOut
        case .parked:
            return .parked
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
