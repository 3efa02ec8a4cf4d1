/// One instant as both of the machine's clocks show it.
///
/// The wall clock says when a token ends for the rest of the world, but it can be stepped. The boot-time clock
/// (`CLOCK_BOOTTIME`) counts through suspend and cannot be stepped, but it means nothing after a reboot. Read together they
/// tell how old a token really is.
package struct Moment: Hashable, Sendable {
    package var wall: Timestamp
    package var boot: BootTime

    package init(wall: Timestamp, boot: BootTime) {
        self.wall = wall
        self.boot = boot
    }

    /// How much time really passed since `earlier`; never negative.
    ///
    /// Within one boot the boot-time clock tells, whatever was done to the wall clock; across boots only the wall clock can.
    package func elapsed(since earlier: Moment) -> Duration {
        max(boot.elapsed(since: earlier.boot) ?? wall - earlier.wall, .zero)
    }

    /// Whether this is of another boot, and later than `now`: the clock was set back in between, and nothing can be counted from it.
    func isFuture(at now: Moment) -> Bool {
        boot.bootID != now.boot.bootID && wall > now.wall
    }

    /// The time since `earlier` by the clock that counts more of it; never negative.
    ///
    /// For what is better done early than late: the wall clock may have been stepped, the boot-time clock stands still while a
    /// virtual machine is paused.
    func longestElapsed(since earlier: Moment) -> Duration {
        max(elapsed(since: earlier), wall - earlier.wall)
    }

    /// The same instant with the wall clock as it stands at `now`, so that it is no later than it can have been if the wall clock
    /// was set back since.
    func asSeen(at now: Moment) -> Moment {
        Moment(wall: now.wall - now.longestElapsed(since: self), boot: boot)
    }
}

/// A reading of `CLOCK_BOOTTIME`, with the boot it belongs to.
package struct BootTime: Hashable, Sendable {
    /// Which boot: a number drawn from `/proc/sys/kernel/random/boot_id`. Readings of two boots cannot be compared.
    package var bootID: Int64
    /// Microseconds since that boot, suspend included.
    package var microseconds: Int64

    package init(bootID: Int64, microseconds: Int64) {
        self.bootID = bootID
        self.microseconds = microseconds
    }

    /// The time since `earlier`, or nil if the machine was booted in between.
    package func elapsed(since earlier: BootTime) -> Duration? {
        guard bootID == earlier.bootID else { return nil }
        return .microseconds(microseconds.subtractingClamped(earlier.microseconds))
    }
}

/// An instant of wall-clock time, in microseconds since 1970-01-01 00:00 UTC.
///
/// Microseconds, as systemd counts them, fit 292,000 years into 64 bits and survive SQLite and JSON unrounded.
package struct Timestamp: Hashable, Comparable, Sendable {
    package var microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    package static func < (lhs: Timestamp, rhs: Timestamp) -> Bool {
        lhs.microseconds < rhs.microseconds
    }

    /// The instant `duration` later; stops at the ends of time instead of trapping.
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

    /// This duration times `factor`, for the fractions that the refresh rule is written in.
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
