import RefreshCore
import Testing

@Suite struct IssuerGateTests {
    private let start = MachineFixture.start

    @Test func `no more than the limit are in flight`() {
        var gate = IssuerGate(limits: IssuerGate.Limits(concurrent: 2, perSecond: 50), at: start)
        #expect(gate.openSlots(at: start) == 2)
        gate.enter(at: start)
        gate.enter(at: start)
        #expect(gate.openSlots(at: start) == 0)
        #expect(gate.wait(at: start) == nil)
        gate.leave()
        #expect(gate.openSlots(at: start) == 1)
        #expect(gate.wait(at: start) == .zero)
    }

    @Test func `a burst is followed by the rate`() {
        var gate = IssuerGate(limits: IssuerGate.Limits(concurrent: 100, perSecond: 4), at: start)
        for _ in 0..<4 { gate.enter(at: start) }
        #expect(gate.openSlots(at: start) == 0)
        #expect(gate.wait(at: start) == .milliseconds(250))
        #expect(gate.openSlots(at: start.later(.milliseconds(250))) == 1)
        #expect(gate.openSlots(at: start.later(.seconds(3600))) == 4)
    }

    @Test func `after the wait a request may start`() {
        var gate = IssuerGate(limits: IssuerGate.Limits(concurrent: 1000, perSecond: 3), at: start)
        var now = start
        for _ in 0..<500 {
            while gate.openSlots(at: now) == 0 {
                guard let wait = gate.wait(at: now), wait > .zero else {
                    Issue.record("no slot, and no wait for one")
                    return
                }
                now = now.later(wait)
            }
            gate.enter(at: now)
        }
        let passed = now.elapsed(since: start)
        #expect(passed > .seconds(165) && passed < .seconds(166))
    }

    @Test func `a stepped wall clock opens nothing`() {
        var gate = IssuerGate(limits: IssuerGate.Limits(concurrent: 100, perSecond: 1), at: start)
        gate.enter(at: start)
        #expect(gate.openSlots(at: start.stepped(.seconds(86_400))) == 0)
    }

    @Test func `a gate is full again when all have left and the allowance is back`() {
        var gate = IssuerGate(limits: IssuerGate.Limits(concurrent: 8, perSecond: 1), at: start)
        #expect(gate.isFull(at: start))
        gate.enter(at: start)
        #expect(!gate.isFull(at: start.later(.seconds(60))))
        gate.leave()
        #expect(!gate.isFull(at: start))
        #expect(gate.isFull(at: start.later(.seconds(1))))
    }

    @Test func `limits that make no sense are made to make some`() {
        let limits = IssuerGate.Limits(concurrent: 0, perSecond: 0)
        #expect(limits.concurrent == 1)
        #expect(limits.perSecond > 0)
    }

    @Test(arguments: [Double.infinity, 1e300, 1e19]) func `a rate without end opens as many slots as there are`(
        rate: Double
    ) {
        var gate = IssuerGate(limits: IssuerGate.Limits(concurrent: 3, perSecond: rate), at: start)
        #expect(gate.openSlots(at: start) == 3)
        gate.enter(at: start)
        #expect(gate.openSlots(at: start.later(.seconds(1))) == 2)
        #expect(gate.wait(at: start) == .zero)
    }
}
