import Testing

@testable import authctl

@Suite struct LengthOfTimeTests {
    @Test(
        arguments: [("0", 0), ("45", 45), ("60s", 60), ("5m", 300), ("1h", 3600), ("90d", 7_776_000)]
            as [(String, Int64)]
    )
    func `a number with a unit is seconds`(text: String, seconds: Int64) {
        #expect(LengthOfTime(text)?.seconds == seconds)
    }

    @Test(arguments: [
        "", "s", "-5", "+5", "1.5h", "5 m", "5min", "h1", "٥m", "9223372036854775807", "9223372036854775807d",
    ])
    func `anything else is refused`(text: String) {
        #expect(LengthOfTime(text) == nil)
    }

    @Test func `the time of an option that ends a grant needs a unit`() throws {
        #expect(try LengthOfTime.withUnit("8h").seconds == 28_800)
        for text in ["8", "0", "", "h", "1.5h"] {
            #expect(throws: (any Error).self, "\(text)") { try LengthOfTime.withUnit(text) }
        }
    }
}
