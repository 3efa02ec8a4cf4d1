import Testing

@testable import authrefreshd

struct RekeyingTests {
    @Test func `a batch grows while it takes no time, shrinks when it takes too long, and stays within bounds`() {
        var rekeying = Rekeying()
        let first = rekeying.batchSize
        rekeying.fitBatch(to: .milliseconds(1))
        #expect(rekeying.batchSize == 2 * first)
        rekeying.fitBatch(to: .milliseconds(10))
        #expect(rekeying.batchSize == 2 * first)
        for _ in 0..<40 { rekeying.fitBatch(to: .zero) }
        #expect(rekeying.batchSize == 1024)
        for _ in 0..<40 { rekeying.fitBatch(to: .seconds(1)) }
        #expect(rekeying.batchSize == 8)
    }
}
