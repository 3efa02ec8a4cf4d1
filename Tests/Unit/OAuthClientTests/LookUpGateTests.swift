import Testing

@testable import OAuthClient

/// Names that hang, and others at the same time.
struct LookUpGateTests {
    /// A gate that expectations can ask.
    private final class Gate {
        private var gate = LookUpGate()

        func enter(_ number: UInt64, for host: String?, at now: SuspendingClock.Instant) -> Bool {
            gate.enter(number, for: host, at: now)
        }

        func leave(_ number: UInt64, isFound: Bool, at now: SuspendingClock.Instant) -> [UInt64] {
            gate.leave(number, isFound: isFound, at: now)
        }
    }

    private let now = SuspendingClock.now

    @Test func `there is one look-up for each name until it is found, and then any number`() {
        let gate = Gate()
        #expect(gate.enter(1, for: "hangs.example", at: now))
        #expect(!gate.enter(2, for: "hangs.example", at: now))
        #expect(gate.enter(3, for: "quick.example", at: now))
        #expect(gate.leave(3, isFound: true, at: now) == [2])
        #expect(!gate.enter(2, for: "hangs.example", at: now))
        #expect(gate.enter(4, for: "quick.example", at: now))
        #expect(gate.enter(5, for: "quick.example", at: now))
        #expect(gate.leave(1, isFound: false, at: now) == [2])
        #expect(gate.enter(2, for: "hangs.example", at: now))
    }

    @Test func `a found name is looked up alone again after a while`() {
        let gate = Gate()
        #expect(gate.enter(1, for: "a.example", at: now))
        #expect(gate.leave(1, isFound: true, at: now).isEmpty)
        let later = now + LookUpGate.memory
        #expect(gate.enter(2, for: "a.example", at: later))
        #expect(!gate.enter(3, for: "a.example", at: later))
    }

    @Test func `if as many look-ups hang as are allowed, the next waits until one ends`() {
        let gate = Gate()
        for number in 0..<LookUpGate.lookUpsMax {
            #expect(gate.enter(UInt64(number), for: "hangs\(number).example", at: now))
        }
        #expect(!gate.enter(100, for: "quick.example", at: now))
        #expect(gate.leave(7, isFound: false, at: now) == [100])
        #expect(gate.enter(100, for: "quick.example", at: now))
    }

    @Test func `one that gives up does not wait any more, and an address needs no look-up`() {
        let gate = Gate()
        #expect(gate.enter(1, for: "hangs.example", at: now))
        #expect(!gate.enter(2, for: "hangs.example", at: now))
        #expect(gate.leave(2, isFound: false, at: now).isEmpty)
        #expect(gate.leave(1, isFound: false, at: now).isEmpty)
        #expect(gate.enter(3, for: nil, at: now))
    }
}
