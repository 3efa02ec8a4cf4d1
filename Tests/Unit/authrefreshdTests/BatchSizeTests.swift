import Testing

@testable import authrefreshd

struct BatchSizeTests {
    @Test func `a batch grows while it takes no time, shrinks when it takes too long, and stays within bounds`() {
        var size = BatchSize()
        let first = size.count
        size.fit(to: .milliseconds(1))
        #expect(size.count == 2 * first)
        size.fit(to: .milliseconds(10))
        #expect(size.count == 2 * first)
        for _ in 0..<40 { size.fit(to: .zero) }
        #expect(size.count == 1024)
        for _ in 0..<40 { size.fit(to: .seconds(1)) }
        #expect(size.count == 8)
    }
}
