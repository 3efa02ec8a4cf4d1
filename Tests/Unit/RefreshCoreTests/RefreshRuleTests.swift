import RefreshCore
import Testing

@Suite struct RefreshRuleTests {
    /// The arguments are the lifetime, then the earliest refresh time, the one without jitter, and the latest, in
    /// seconds: the table of `RefreshRule.refreshAfter`.
    @Test(
        arguments: [
            (20.0, 9.0, 10.0, 11.0), (300, 162, 180, 180), (3600, 2160, 2400, 2640), (86_400, 51_840, 57_600, 63_360),
        ]
    )
    func `refresh times follow the table`(lifetime: Double, earliest: Double, middle: Double, latest: Double) {
        #expect(refreshAfter(lifetime, jitter: 0) == earliest)
        #expect(refreshAfter(lifetime, jitter: 0.5) == middle)
        #expect(abs(refreshAfter(lifetime, jitter: 1) - latest) < 0.001)
    }

    @Test(arguments: [20.0, 239, 240, 300, 360, 3600, 86_400], [0, 0.5, 0.999])
    func `a refresh is never later than the reserve allows`(lifetime: Double, jitter: Double) {
        let reserve = lifetime < 240 ? lifetime / 10 : max(120, lifetime / 10)
        #expect(refreshAfter(lifetime, jitter: jitter) <= lifetime - reserve + 0.001)
    }

    @Test(arguments: [240.0, 270, 300]) func `tokens of a few minutes are spread, too`(lifetime: Double) {
        #expect(refreshAfter(lifetime, jitter: 0) < refreshAfter(lifetime, jitter: 0.4))
    }

    @Test(arguments: [0.0, 0.001, 0.5, 1, 4]) func `nothing is refreshed unasked more often than once in two seconds`(
        lifetime: Double
    ) {
        #expect(refreshAfter(lifetime, jitter: 0) == 2)
    }

    @Test func `a sensible wish of the server overrides our rule`() {
        #expect(refreshAfter(3600, refreshIn: 1000, jitter: 0.5) == 1000)
        #expect(refreshAfter(3600, refreshIn: 3600, jitter: 0.5) == 2400)
        #expect(refreshAfter(3600, refreshIn: 0, jitter: 0.5) == 2400)
    }

    @Test func `the owner's lead time overrides everything except half of the lifetime and its last tenth`() {
        #expect(refreshAfter(3600, refreshIn: 1000, leadTime: 600, jitter: 0.5) == 3000)
        #expect(refreshAfter(600, leadTime: 90, jitter: 0.999) > 480)
        #expect(refreshAfter(3600, leadTime: 60, jitter: 0.5) == 3240)
        #expect(refreshAfter(3600, leadTime: 60, jitter: 0.999) == 3240)
        #expect(refreshAfter(3600, leadTime: 7200, jitter: 0.5) == 1800)
    }

    private func refreshAfter(
        _ lifetime: Double,
        refreshIn: Double? = nil,
        leadTime: Double? = nil,
        jitter: Double
    ) -> Double {
        let result = RefreshRule.refreshAfter(
            lifetime: .seconds(lifetime),
            refreshIn: refreshIn.map { .seconds($0) },
            leadTime: leadTime.map { .seconds($0) },
            jitter: jitter
        )
        return Double(result.microseconds) / 1e6
    }
}
