internal import RefreshCore
internal import Systemd

/// Where the coordinator gets time and chance from; tests put in their own.
struct Timebase: Sendable {
    /// Both clocks, read together.
    var now: @Sendable () -> Moment
    /// 0..<1, drawn anew at each call.
    var jitter: @Sendable () -> Double

    /// The machine's clocks and the system's random numbers.
    ///
    /// - Throws: `SystemdError` if this boot has no id.
    static func system() throws(SystemdError) -> Timebase {
        let bootID = try BootClock.bootID()
        return Timebase(
            now: {
                Moment(
                    wall: Timestamp(microseconds: WallClock.now()),
                    boot: BootTime(bootID: bootID, microseconds: BootClock.now())
                )
            },
            jitter: { Double.random(in: 0..<1) }
        )
    }
}
