import Testing

import TextEncodings

@Suite struct LocalTimeTests {
    private let time = LocalTime(nowUSec: 1_800_000_000_000_000)

    @Test(
        arguments: [
            (0, "now"), (1, "in 1 s"), (-1, "1 s ago"), (119, "in 119 s"), (120, "in 2 min"), (-7199, "119 min ago"),
            (7200, "in 2 h"), (172_799, "in 47 h"), (172_800, "in 2 days"), (-8_640_000, "100 days ago"),
        ] as [(Int64, String)]
    )
    func `a relative time uses its largest unit and is never rounded up`(seconds: Int64, words: String) {
        #expect(time.relative(time.nowUSec + seconds * 1_000_000) == words)
    }

    @Test func `a token that expires within a second is not promised a second`() {
        #expect(time.relative(time.nowUSec + 999_999) == "now")
    }

    @Test(arguments: [Int64.min, Int64.max])
    func `absurd instants do not crash`(instant: Int64) {
        #expect(!time.relative(instant).isEmpty)
        #expect(!time.both(instant).isEmpty)
    }

    @Test func `an instant on another day includes the date`() {
        let tomorrow = time.nowUSec + 86_400_000_000
        #expect(time.clock(time.nowUSec).wholeMatch(of: /[0-9]{2}:[0-9]{2}/) != nil)
        #expect(time.clock(tomorrow).wholeMatch(of: /2027-01-1[56] [0-9]{2}:[0-9]{2}/) != nil)
    }
}

@Suite struct WordsOfTimeTests {
    /// For times around each change of unit: the words stay until the announced moment, and differ at it.
    @Test(arguments: [0, 1, 59, 119, 120, 121, 3599, 7199, 7200, 7201, 172_799, 172_800, 864_000])
    func `the time until the words change is known`(seconds: Int64) throws {
        for offset: Int64 in [-1_000_000, -999_999, -1, 0, 1, 500_000] {
            for instant in [seconds * 1_000_000 + offset, -(seconds * 1_000_000 + offset)] {
                let wait = LocalTime(nowUSec: 0).untilWordsChange([instant])
                #expect(wait > 0)
                let words = LocalTime(nowUSec: 0).relative(instant)
                #expect(LocalTime(nowUSec: wait - 1).relative(instant) == words, "\(instant)")
                // "now" is used on both sides of the moment.
                guard abs(instant) >= 1_000_000 else { continue }
                #expect(LocalTime(nowUSec: wait).relative(instant) != words, "\(instant)")
            }
        }
    }

    @Test(arguments: [Int64.min, Int64.min + 1, -(1 << 62), 1 << 62, .max])
    func `an absurd instant has words, and a moment at which they change`(instant: Int64) {
        for now: Int64 in [0, 1_795_000_000_000_000] {
            let time = LocalTime(nowUSec: now)
            #expect(time.untilWordsChange([instant]) > 0)
            #expect(time.both(instant).hasSuffix(instant < 0 ? " ago)" : " days)"))
        }
    }

    @Test func `the earliest change counts, and without instants there is none`() {
        let time = LocalTime(nowUSec: 0)
        #expect(time.untilWordsChange([]) == .max)
        #expect(time.untilWordsChange([10_500_000, 7_000_000_000_000]) == 500_001)
    }
}
