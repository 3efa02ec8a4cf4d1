import Glibc
import Testing

@testable import Systemd

@Suite struct ClockTests {
    @Test func `the wall clock counts microseconds since 1970`() {
        let seconds = Int64(time(nil))
        #expect(abs(WallClock.now() / 1_000_000 - seconds) <= 1)
    }

    @Test func `the boot clock advances and is never behind the monotonic one`() {
        let first = BootClock.now()
        let reading = ClockReading.now()
        #expect(BootClock.now() >= first)
        // It is read first, so it may lag by the time between the two readings.
        #expect(reading.drift > -SuspendDrift.threshold)
    }

    @Test func `the boot id is the first 64 bits of the kernel's`() throws {
        let text = try ChildProcess.run("cat", "/proc/sys/kernel/random/boot_id")
        let digits = text.filter(\.isHexDigit)
        #expect(try BootClock.bootID() == Int64(bitPattern: try #require(UInt64(digits.prefix(16), radix: 16))))
    }

    @Test func `only a UUID is a boot id`() {
        #expect(BootClock.bootID(in: "ffffffff-ffff-ffff-0000-000000000000\n") == -1)
        #expect(BootClock.bootID(in: "ffffffff-ffff-ffff-0000-00000000000\n") == nil)
        #expect(BootClock.bootID(in: "FFFFFFFF-ffff-ffff-0000-000000000000") == -1)
        #expect(BootClock.bootID(in: "00000000-0000-00ff-ffff-ffffffffffff") == 255)
        for text in [
            "", "98befa1e1e1e4c3ab05f2d7c06d8f01", "98befa1e1e1e4c3ab05f2d7c06d8f01a0",
            "g8befa1e1e1e4c3ab05f2d7c06d8f01a", "+8befa1e1e1e4c3ab05f2d7c06d8f01a", "９8befa1e1e1e4c3ab05f2d7c06d8f01a",
        ] {
            #expect(BootClock.bootID(in: text) == nil, "\(text)")
        }
    }

    @Test func `a sleep is reported once`() {
        var drift = SuspendDrift(since: ClockReading(boot: 10_000_000, monotonic: 10_000_000))
        let told = [
            drift.hasSlept(at: ClockReading(boot: 20_000_000, monotonic: 20_000_000)),
            drift.hasSlept(at: ClockReading(boot: 31_000_000, monotonic: 30_000_000)),
            drift.hasSlept(at: ClockReading(boot: 41_000_000, monotonic: 40_000_000)),
            drift.hasSlept(at: ClockReading(boot: 28_851_000_000, monotonic: 50_000_000)),
        ]
        #expect(told == [false, true, false, true])
    }

    @Test func `time between the two readings does not count as sleep`() {
        var drift = SuspendDrift(since: ClockReading(boot: 0, monotonic: 0))
        let told = [
            drift.hasSlept(at: ClockReading(boot: 10_000_000 + SuspendDrift.threshold - 1, monotonic: 10_000_000)),
            drift.hasSlept(at: ClockReading(boot: 20_000_000, monotonic: 20_000_000)),
        ]
        #expect(told == [false, false])
    }

    @Test func `a machine that did not sleep has not slept`() {
        var drift = SuspendDrift()
        let hasSlept = drift.hasSlept()
        #expect(!hasSlept)
    }
}
