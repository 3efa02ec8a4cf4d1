import RefreshCore

/// The clocks of a machine in virtual time, and the true time, which none of them shows.
struct VirtualClock {
    /// True time in µs since the world began.
    private(set) var trueTime: Int64 = 0
    /// The difference of the wall clock to true time. The wall clock starts in 2026.
    private(set) var wallOffset: Int64 = 1_770_000_000_000_000
    private var bootID: Int64 = 1
    /// The true time at which the boot-time clock would have shown zero.
    private var bootOrigin: Int64 = -60_000_000

    var now: Moment {
        Moment(
            wall: Timestamp(microseconds: trueTime + wallOffset),
            boot: BootTime(bootID: bootID, microseconds: trueTime - bootOrigin)
        )
    }

    /// The true time at which the wall clock will show `timestamp`, unless it is stepped before.
    func trueTime(of timestamp: Timestamp) -> Int64 {
        timestamp.microseconds - wallOffset
    }

    /// Advances to `time`. Both clocks of the machine go on, as in a suspend.
    mutating func advance(to time: Int64) {
        trueTime = max(trueTime, time)
    }

    mutating func stepWall(by microseconds: Int64) {
        wallOffset += microseconds
    }

    /// Pauses the virtual machine: its boot-time clock stops, and its wall clock is corrected afterwards.
    mutating func pause(for microseconds: Int64) {
        trueTime += microseconds
        bootOrigin += microseconds
    }

    mutating func reboot() {
        bootID += 1
        bootOrigin = trueTime
    }
}
