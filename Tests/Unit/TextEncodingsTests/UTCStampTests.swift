import Foundation
import TextEncodings
import Testing

@Suite struct UTCStampTests {
    /// The days around each end of a month, in leap years and others, in centuries, and in the four hundred years after
    /// which the calendar repeats.
    @Test func `a stamp equals Foundation's, for all days`() {
        let formatter = ISO8601DateFormatter()
        for day in stride(from: Int64(0), to: 2_932_896, by: 97) {
            let seconds = day * 86_400 + day % 86_400
            let text = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
            #expect(UTCStamp.text(seconds * 1_000_000) == text)
        }
        for year in [1970, 1999, 2000, 2024, 2026, 2100, 2400, 9999] {
            for (month, date) in [(1, 1), (2, 28), (2, 29), (3, 1), (12, 31)] {
                let text = String(format: "%04d-%02d-%02dT23:59:59Z", year, month, date)
                guard let instant = formatter.date(from: text), formatter.string(from: instant) == text else {
                    continue
                }
                #expect(UTCStamp.text(Int64(instant.timeIntervalSince1970) * 1_000_000) == text)
            }
        }
    }

    @Test func `a fraction has six digits, and is left out if it is zero`() {
        #expect(UTCStamp.text(0) == "1970-01-01T00:00:00Z")
        #expect(UTCStamp.text(1_040_000) == "1970-01-01T00:00:01.040000Z")
    }

    @Test(arguments: [-1, 253_402_300_800_000_000, .max] as [Int64])
    func `an instant without a four-digit year has no stamp`(instant: Int64) {
        #expect(UTCStamp.text(instant) == nil)
        #expect(StampedJSON.text(#"{"aUSec":\#(instant)}"#) == #"{"aUSec":\#(instant)}"#)
    }

    @Test func `instants get a second form, wherever they are`() {
        #expect(
            StampedJSON.text(#"{"a":[{"endUSec":0},{"x":"y\\"}],"atUSec":1000000}"#)
                == #"{"a":[{"end":"1970-01-01T00:00:00Z","endUSec":0},{"x":"y\\"}],"at":"1970-01-01T00:00:01Z","atUSec":1000000}"#
        )
        #expect(
            StampedJSON.text("{\n  \"atUSec\" : 0\n}") == "{\n  \"at\" : \"1970-01-01T00:00:00Z\",\n  \"atUSec\" : 0\n}"
        )
    }

    @Test(arguments: [
        #"{"a":"atUSec","b":":0"}"#, #"{"atUSec":"0"}"#, #"{"USec":0}"#, #"{"a\"b":"\"atUSec\":0"}"#, #"["atUSec",0]"#,
        #""atUSec"#,
        #"{"atUSec":null}"#, "",
    ])
    func `values that are not instants stay unchanged`(json: String) {
        #expect(StampedJSON.text(json) == json)
    }
}
