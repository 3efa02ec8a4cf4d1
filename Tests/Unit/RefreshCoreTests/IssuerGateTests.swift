import RefreshCore
import Testing

@Suite struct IssuerGateTests {
    private let start = MachineFixture.start

    @Test func `no more requests than the limit are in flight`() {
        var gate = IssuerGate(limits: IssuerGate.Limits(concurrent: 2, perSecond: 50), at: start)
        #expect(gate.openSlots(at: start) == 2)
        let first = gate.enter(at: start)
        gate.enter(at: start)
        #expect(gate.openSlots(at: start) == 0)
        #expect(gate.wait(at: start) == IssuerGate.patience)
        gate.leave(first)
        // Leaving twice has no effect.
        gate.leave(first)
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

    @Test func `a gate is full again when all requests have left and the allowance is back`() {
        var gate = IssuerGate(limits: IssuerGate.Limits(concurrent: 8, perSecond: 1), at: start)
        #expect(gate.isFull(at: start))
        let place = gate.enter(at: start)
        #expect(!gate.isFull(at: start.later(.seconds(60))))
        gate.leave(place)
        #expect(!gate.isFull(at: start))
        #expect(gate.isFull(at: start.later(.seconds(1))))
    }

    @Test func `nonsensical limits are corrected`() {
        let limits = IssuerGate.Limits(concurrent: 0, perSecond: 0)
        #expect(limits.concurrent == 1)
        #expect(limits.perSecond > 0)
    }

    @Test(arguments: [Double.infinity, 1e300, 1e19]) func `an infinite rate opens all slots`(
        rate: Double
    ) {
        var gate = IssuerGate(limits: IssuerGate.Limits(concurrent: 3, perSecond: rate), at: start)
        #expect(gate.openSlots(at: start) == 3)
        gate.enter(at: start)
        #expect(gate.openSlots(at: start.later(.seconds(1))) == 2)
        #expect(gate.wait(at: start) == .zero)
    }

    // MARK: Requests that hang

    @Test func `requests that hang longer than the patience delay nobody, up to a limit`() {
        var gate = IssuerGate(limits: IssuerGate.Limits(concurrent: 8, perSecond: 50), at: start)
        var now = start
        for lot in 1...8 {
            #expect(gate.openSlots(at: now) == 8, "lot \(lot)")
            for _ in 0..<8 { gate.enter(at: now) }
            #expect(gate.openSlots(at: now) == 0)
            #expect(gate.openSlots(at: now.later(.milliseconds(4999))) == 0)
            if lot < 8 { #expect(gate.wait(at: now.later(.seconds(1))) == .seconds(4)) }
            now = now.later(.seconds(5))
        }
        #expect(gate.inFlight == 64)
        #expect(gate.openSlots(at: now) == 0)
        #expect(gate.wait(at: now) == nil)
    }

    // MARK: Servers that want fewer requests

    private let work = AccountID(1)
    private let home = AccountID(2)
    private let third = AccountID(3)

    /// A gate at which `work` was refused at `start`.
    private func throttled(retryAfter: Duration? = .seconds(30)) -> IssuerGate {
        var gate = IssuerGate(limits: IssuerGate.Limits(), at: start)
        gate.leave(gate.enter(at: start))
        gate.note(.throttled(retryAfter: retryAfter), to: work, askedAt: start, at: start)
        return gate
    }

    @Test func `if only one account is throttled, one other is tried, and then all as before`() {
        var gate = throttled()
        #expect(gate.openSlots(at: start) == 1)
        let probe = gate.enter(at: start.later(.milliseconds(1)))
        #expect(gate.openSlots(at: start.later(.seconds(1))) == 0)
        gate.leave(probe)
        gate.note(.served, to: home, askedAt: start.later(.milliseconds(1)), at: start.later(.seconds(1)))
        #expect(gate.openSlots(at: start.later(.seconds(1))) == 8)
        // Further refusals of this account do not concern the others.
        let later = start.later(.seconds(40))
        gate.note(.throttled(retryAfter: .seconds(30)), to: work, askedAt: later, at: later)
        #expect(gate.openSlots(at: later) == 8)
    }

    @Test func `two throttled accounts close the gate for as long as the server says`() {
        var gate = throttled()
        gate.note(.throttled(retryAfter: .seconds(30)), to: home, askedAt: start, at: start)
        #expect(gate.openSlots(at: start.later(.seconds(29))) == 0)
        #expect(gate.wait(at: start.later(.seconds(10))) == .seconds(20))
        let now = start.later(.seconds(30))
        #expect(gate.openSlots(at: now) == 1)
        gate.note(.served, to: third, askedAt: now, at: now)
        #expect(gate.openSlots(at: now.later(.seconds(1))) == 8)
    }

    @Test(arguments: [Duration?.none, .seconds(86_400)])
    func `whatever a server says, its other accounts are asked within a minute`(retryAfter: Duration?) {
        var gate = throttled(retryAfter: retryAfter)
        var now = start
        for _ in 0..<10 {
            gate.note(.throttled(retryAfter: retryAfter), to: home, askedAt: now, at: now)
            now = now.later(IssuerGate.longestPause)
            #expect(gate.openSlots(at: now) == 1)
        }
        #expect(!gate.isFull(at: now.later(.seconds(3600))))
    }

    @Test func `if the server states no time, the pauses grow`() {
        var gate = throttled(retryAfter: nil)
        var pauses: [Duration?] = []
        for _ in 0..<6 {
            gate.note(.throttled(retryAfter: nil), to: home, askedAt: start, at: start)
            pauses.append(gate.wait(at: start))
        }
        #expect(pauses == [4, 8, 16, 32, 60, 60].map { .seconds($0) })
    }

    @Test func `a request from before the refusal proves nothing`() {
        var gate = throttled()
        let now = start.later(.seconds(1))
        gate.note(.throttled(retryAfter: .seconds(30)), to: home, askedAt: start, at: now)
        gate.note(.served, to: third, askedAt: start, at: now)
        #expect(gate.openSlots(at: now) == 0)
    }

    @Test func `nobody waits for a probe that hangs`() {
        var gate = throttled()
        gate.enter(at: start)
        #expect(gate.openSlots(at: start.later(.seconds(4))) == 0)
        #expect(gate.wait(at: start.later(.seconds(4))) == .seconds(1))
        #expect(gate.openSlots(at: start.later(.seconds(5))) == 1)
    }
}
