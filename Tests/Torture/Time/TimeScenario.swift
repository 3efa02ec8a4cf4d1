internal import Foundation
internal import TestSupport

/// An event at a machine's clocks, and the expected behaviour of a daemon.
struct TimeScenario: Sendable {
    /// The requests that the server must see afterwards.
    enum Expectation: String, Sendable {
        /// Each account is refreshed at its usual time, neither early nor with a gap.
        case onTime = "at the usual time"
        /// All accounts are refreshed as soon as the server's limits allow, and none is ever without a token.
        case atOnce = "at once"
        /// Each account is refreshed at its usual time or before, and none is ever without a token.
        case inTime = "by the usual time"
        /// The tokens have expired meanwhile. All accounts are refreshed as soon as the server's limits allow.
        case atOnceAfterEnd = "at once, after the tokens' end"

        /// Whether each account must be refreshed before any more time passes.
        var isHurried: Bool { self == .atOnce || self == .atOnceAfterEnd }
    }

    let name: String
    var start = ShiftedClock.Shift()
    var environment: [String: String] = [:]
    /// Whether the server uses TLS, whose certificates also depend on the clock.
    var isSecure = false
    let expectation: Expectation
    /// Whether the journal reports a step.
    var isStepTold: Bool
    let act: @Sendable (TimeTrial) async throws -> Void
}

extension TimeScenario {
    private static let hour = Duration.seconds(3_600)
    private static let year = Duration.seconds(31_557_600)

    static var all: [TimeScenario] {
        steps + slow + sleeps + certificates
    }

    /// How far `Date.now` must be moved to reach this time of the calendar.
    private static func ahead(_ time: String) -> Duration {
        let then = (try? Date(time, strategy: .iso8601)) ?? .now
        return .seconds(Int64(then.timeIntervalSinceNow))
    }

    private static func step(_ name: String, by step: Duration) -> TimeScenario {
        TimeScenario(name: name, expectation: step > .zero ? .atOnce : .onTime, isStepTold: true) { trial in
            try await trial.move(to: ShiftedClock.Shift(wall: step))
        }
    }

    private static var steps: [TimeScenario] {
        [
            step("the wall clock is set an hour ahead", by: hour),
            step("the wall clock is set an hour back", by: .zero - hour),
            step("the wall clock is set a year ahead", by: year),
            step("the wall clock is set a year back", by: .zero - year),
            step("the wall clock is set to 1970", by: ahead("1970-01-01T00:01:00Z")),
            step("the wall clock is set to 2040", by: ahead("2040-01-19T03:14:07Z")),
            TimeScenario(
                name: "the wall clock is set a year ahead, and right again when the daemon has noticed",
                expectation: .inTime,
                isStepTold: true
            ) { trial in
                try await trial.move(to: ShiftedClock.Shift(wall: year))
                try await trial.noticedStep()
                try await trial.move(to: ShiftedClock.Shift())
            },
        ]
    }

    private static var slow: [TimeScenario] {
        [
            TimeScenario(
                name: "summer time ends",
                start: ShiftedClock.Shift(wall: ahead("2026-10-25T00:59:55Z")),
                environment: ["TZ": "Europe/Berlin"],
                expectation: .onTime,
                isStepTold: false
            ) { _ in },
            TimeScenario(name: "a leap second is inserted", expectation: .onTime, isStepTold: false) { trial in
                try await trial.move(to: ShiftedClock.Shift(wall: .seconds(-1)))
            },
            // adjtimex(2) slews all clocks in the same way. This smears a day's adjustment in a moment.
            TimeScenario(name: "a leap second is smeared", expectation: .onTime, isStepTold: false) { trial in
                for part in 1...20 {
                    let slewed = Duration.milliseconds(-50 * part)
                    try await trial.move(to: ShiftedClock.Shift(wall: slewed, boot: slewed, monotonic: slewed))
                }
            },
        ]
    }

    private static func sleep(_ name: String, _ time: Duration) -> TimeScenario {
        TimeScenario(name: name, expectation: .atOnceAfterEnd, isStepTold: false) { trial in
            try await trial.move(to: ShiftedClock.Shift(wall: time, boot: time))
        }
    }

    private static var sleeps: [TimeScenario] {
        [
            sleep("the machine sleeps for ten minutes", .seconds(600)),
            sleep("the machine sleeps for eight hours", .seconds(28_800)),
            sleep("the machine sleeps for three months", .seconds(90 * 86_400)),
            // Its own boot-time clock has stopped, and the wall clock is corrected when it continues.
            TimeScenario(
                name: "a virtual machine is paused for an hour",
                expectation: .atOnceAfterEnd,
                isStepTold: true
            ) { trial in
                try await trial.move(to: ShiftedClock.Shift(wall: hour))
            },
            TimeScenario(
                name: "the daemon is frozen beyond its tokens' end",
                expectation: .atOnceAfterEnd,
                isStepTold: false
            ) { trial in
                // When the daemon continues, this time has passed.
                try await trial.pass(TimeTrial.lifetime + .seconds(2))
            },
        ]
    }

    /// A machine half a minute after its boot, in 1970.
    private static let withoutClock: ShiftedClock.Shift = {
        let boot = Duration.seconds(30) - .seconds(ProcessInfo.processInfo.systemUptime)
        return ShiftedClock.Shift(wall: ahead("1970-01-01T00:02:00Z"), boot: boot, monotonic: boot)
    }()

    private static var certificates: [TimeScenario] {
        [
            TimeScenario(
                name: "a boot without a clock, which stays in 1970",
                expectation: .atOnceAfterEnd,
                isStepTold: true
            ) { trial in
                try await trial.reboot(to: withoutClock)
            },
            TimeScenario(
                name: "a boot without a clock: in 1970, then right, over TLS",
                isSecure: true,
                expectation: .atOnceAfterEnd,
                isStepTold: true
            ) { trial in
                try await trial.reboot(to: withoutClock)
                try await trial.refusedCertificate()
                try await trial.move(
                    to: ShiftedClock.Shift(boot: withoutClock.boot, monotonic: withoutClock.monotonic)
                )
            },
            TimeScenario(
                name: "the clock goes beyond the certificates' end and back, over TLS",
                isSecure: true,
                expectation: .atOnceAfterEnd,
                isStepTold: true
            ) { trial in
                try await trial.move(to: ShiftedClock.Shift(wall: ahead("2100-01-01T00:00:00Z")))
                try await trial.refusedCertificate()
                try await trial.move(to: ShiftedClock.Shift())
            },
        ]
    }
}
