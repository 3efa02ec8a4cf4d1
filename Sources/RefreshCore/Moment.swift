/// One instant, as both clocks of the machine show it.
///
/// The wall clock says when a token expires for everybody else, but it can be stepped. The boot-time clock
/// (`CLOCK_BOOTTIME`) counts through suspend and cannot be stepped, but means nothing after a reboot. Together they
/// show how old a token really is.
package struct Moment: Hashable, Sendable {
    package var wall: Timestamp
    package var boot: BootTime

    package init(wall: Timestamp, boot: BootTime) {
        self.wall = wall
        self.boot = boot
    }

    /// How much time really passed since `earlier`; never negative.
    ///
    /// Within one boot, this is the boot-time clock's difference, even if the wall clock was stepped. Across boots,
    /// only the wall clock is left.
    package func elapsed(since earlier: Moment) -> Duration {
        max(boot.elapsed(since: earlier.boot) ?? wall - earlier.wall, .zero)
    }

    /// Whether this instant is from another boot and later than `now`. The clock was then set back, and no time can be
    /// counted from it.
    func isFuture(at now: Moment) -> Bool {
        boot.bootID != now.boot.bootID && wall > now.wall
    }

    /// The time since `earlier` by the clock that shows more of it; never negative.
    ///
    /// This is for things that are better done early than late. The wall clock may have been stepped, and the boot-time
    /// clock stands still while a virtual machine is paused.
    package func longestElapsed(since earlier: Moment) -> Duration {
        max(elapsed(since: earlier), wall - earlier.wall)
    }

    /// Whether both clocks have shown the same time since `earlier`, to a second. If not, the wall clock was set, the
    /// virtual machine was paused, or this is another boot.
    package func agrees(with earlier: Moment) -> Bool {
        guard let byBoot = boot.elapsed(since: earlier.boot) else { return false }
        let byWall = wall - earlier.wall
        return max(byWall - byBoot, byBoot - byWall) <= .seconds(1)
    }

    /// This instant by the wall clock of `now`. If the wall clock was set back since, the result is not later than the
    /// instant can have been.
    func asSeen(at now: Moment) -> Moment {
        Moment(wall: now.wall - now.longestElapsed(since: self), boot: boot)
    }
}

/// The end of a time in which something may be given out, on each clock of the machine. The time is over as soon as one
/// clock says so.
///
/// The clocks disagree after the wall clock was stepped, and after a virtual machine was paused. We cannot know which
/// one is right.
package struct ClockEnds: Hashable, Sendable {
    package var wall: Timestamp
    /// In the boot in which this was computed.
    package var boot: BootTime

    /// The end of `lifetime`, which began at `start`, as it is known at `now`.
    package init(of lifetime: Duration, since start: Moment, at now: Moment) {
        wall = start.wall + lifetime
        let rest = lifetime - now.elapsed(since: start)
        boot = BootTime(
            bootID: now.boot.bootID,
            microseconds: now.boot.microseconds.addingClamped(rest.microseconds)
        )
    }

    /// How much is left at `now`, by the clock that shows less; zero if the time is over, or if the machine was rebooted.
    package func remaining(at now: Moment) -> Duration {
        guard let past = now.boot.elapsed(since: boot) else { return .zero }
        return max(min(wall - now.wall, .zero - past), .zero)
    }

    /// The earlier end, on each clock. Both must be of the same boot.
    package func earlier(_ other: ClockEnds?) -> ClockEnds {
        guard let other else { return self }
        var ends = self
        ends.wall = min(wall, other.wall)
        ends.boot.microseconds = min(boot.microseconds, other.boot.microseconds)
        return ends
    }
}

/// A reading of `CLOCK_BOOTTIME`, with the boot that it belongs to.
package struct BootTime: Hashable, Sendable {
    /// The boot: a number derived from `/proc/sys/kernel/random/boot_id`. Readings of two boots cannot be compared.
    package var bootID: Int64
    /// Microseconds since that boot, suspend included.
    package var microseconds: Int64

    package init(bootID: Int64, microseconds: Int64) {
        self.bootID = bootID
        self.microseconds = microseconds
    }

    /// The time since `earlier`; nil if the machine was rebooted in between.
    package func elapsed(since earlier: BootTime) -> Duration? {
        guard bootID == earlier.bootID else { return nil }
        return .microseconds(microseconds.subtractingClamped(earlier.microseconds))
    }
}

/// An instant of wall-clock time, in microseconds since 1970-01-01 00:00 UTC.
///
/// 64 bits of microseconds, the unit of systemd, span 292,000 years and pass through SQLite and JSON without rounding.
package struct Timestamp: Hashable, Comparable, Sendable {
    package var microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    package static func < (lhs: Timestamp, rhs: Timestamp) -> Bool {
        lhs.microseconds < rhs.microseconds
    }

    /// The instant `duration` later; saturates instead of trapping.
    package static func + (lhs: Timestamp, rhs: Duration) -> Timestamp {
        Timestamp(microseconds: lhs.microseconds.addingClamped(rhs.microseconds))
    }

    package static func - (lhs: Timestamp, rhs: Duration) -> Timestamp {
        lhs + (.zero - rhs)
    }

    /// The time from `rhs` to `lhs`; negative if `rhs` is the later one.
    package static func - (lhs: Timestamp, rhs: Timestamp) -> Duration {
        .microseconds(lhs.microseconds.subtractingClamped(rhs.microseconds))
    }
}

extension Duration {
    /// Whole microseconds, rounded towards zero, clamped to what 64 bits hold.
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return product.addingClamped(attoseconds / 1_000_000_000_000)
    }

    /// This duration times `factor`, for the fractions in the refresh rule.
    package func scaled(by factor: Double) -> Duration {
        let scaled = Double(microseconds) * factor
        // 2⁶² µs is 146,000 years: nothing here is longer, and the conversion cannot trap.
        return .microseconds(Int64(max(-0x1p62, min(0x1p62, scaled))))
    }
}

extension Int64 {
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
