import TextEncodings
import Testing

struct HTTPDateTests {
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Tue, 29 Feb 2028 23:59:60 GMT", 1_835_481_600),
        ("Thu, 31 Dec 2099 23:59:59 GMT", 4_102_444_799),
    ])
    func `all three date forms of RFC 9110 are read`(_ text: String, _ seconds: Int) {
        #expect(HTTPDate.parse(text) == seconds)
    }

    @Test(arguments: [
        "", "soon", "Sun, 06 Nov 1994", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:4x:37 GMT",
    ])
    func `other dates are not read`(_ text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test(arguments: [
        ("2026-11-21T10:00:00Z", 1_795_255_200), ("2026-11-21T10:00:00.123Z", 1_795_255_200),
        ("2026-11-21T12:30:00+02:30", 1_795_255_200), ("2026-11-21T05:00:00-05:00", 1_795_255_200),
    ])
    func `RFC 3339 dates are read`(_ text: String, _ seconds: Int) {
        #expect(HTTPDate.parseISO8601(text) == seconds)
    }

    @Test(arguments: ["2026-11-21", "2026-11-21T10:00:00", "2026-13-21T10:00:00Z", "2026-11-21T10:00:00+9", "€€€€€€€"])
    func `other RFC 3339 dates are not read`(_ text: String) {
        #expect(HTTPDate.parseISO8601(text) == nil)
    }

    @Test func `a written date reads back, with the right day of the week`() {
        #expect(HTTPDate.format(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
        for seconds in stride(from: 0, to: 5_000_000_000, by: 40_000_007) {
            #expect(HTTPDate.parse(HTTPDate.format(seconds)) == seconds)
        }
    }
}
