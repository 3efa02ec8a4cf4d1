import Testing

@testable import RefreshCore

@Suite struct TimestampTests {
    private let end = Timestamp(microseconds: .max)
    private let beginning = Timestamp(microseconds: .min)

    @Test func `instants and durations add up`() {
        let instant = Timestamp(microseconds: 5_000_000)
        #expect(instant + .seconds(2) == Timestamp(microseconds: 7_000_000))
        #expect(instant - .seconds(7) == Timestamp(microseconds: -2_000_000))
        #expect(instant - Timestamp(microseconds: 6_000_000) == .seconds(-1))
        #expect(instant < instant + .microseconds(1))
    }

    @Test func `time saturates at its limits`() {
        #expect(end + .seconds(1) == end)
        #expect(beginning - .seconds(1) == beginning)
        #expect(end - beginning == .microseconds(Int64.max))
        #expect(beginning - end == .microseconds(Int64.min))
        #expect(Timestamp(microseconds: 0) + .seconds(Int64.max) == end)
        #expect(Timestamp(microseconds: 0) - .seconds(Int64.max) == beginning)
    }

    @Test func `durations are whole microseconds, rounded towards zero`() {
        #expect(Duration.nanoseconds(1999).microseconds == 1)
        #expect(Duration.nanoseconds(-1999).microseconds == -1)
        #expect(Duration.seconds(Int64.max).microseconds == .max)
        #expect(Duration.seconds(Int64.min).microseconds == .min)
    }

    @Test func `a scaled duration stays in range`() {
        #expect(Duration.seconds(90).scaled(by: 2.0 / 3.0) == .seconds(60))
        #expect(Duration.seconds(Int64.max).scaled(by: 4) == .microseconds(1 << 62))
        #expect(Duration.seconds(Int64.min).scaled(by: 4) == .microseconds(-(1 << 62)))
    }
}
