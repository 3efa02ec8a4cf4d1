import Testing
import Varlink

struct SharesTests {
    @Test func `a process may have half of what the others leave, and the last piece goes, too`() {
        var shares = Shares(capacity: 16)
        var taken: [Int32: Int] = [:]
        for process in 1...6 as ClosedRange<Int32> {
            while shares.take(for: process) == nil { taken[process, default: 0] += 1 }
        }
        #expect(taken == [1: 8, 2: 4, 3: 2, 4: 1, 5: 1])
        #expect(shares.crowding(1, for: 6) == Shares.Crowding(capacity: 16, process: 1, amount: 8))
        // What the one with the most gives back is for the others.
        shares.count(-8, for: 1)
        #expect(shares.take(for: 6) == nil)
        #expect(shares.crowding(1, for: 7) == nil)
        #expect(shares.crowding(3, for: 2)?.process == 2)
    }

    @Test func `a refusal names the process with the most, or the caller if nobody holds anything`() {
        let shares = Shares(capacity: 100, holders: [4, 5, 5, 6])
        #expect(shares.crowding(48, for: 4) == nil)
        #expect(shares.crowding(49, for: 4) == Shares.Crowding(capacity: 100, process: 5, amount: 2))
        #expect(Shares(capacity: 100).crowding(51, for: 9) == Shares.Crowding(capacity: 100, process: 9, amount: 0))
        #expect(!shares.isEmpty && Shares(capacity: 100).isEmpty)
    }

    @Test func `a process makes room only for one that would not have more than it`() {
        let shares = Shares(capacity: 100, holders: [1, 1, 1, 2, 2])
        #expect(shares.gives(1, to: 3, from: 1) && shares.gives(3, to: 3, from: 1))
        #expect(!shares.gives(4, to: 3, from: 1))
        #expect(shares.gives(1, to: 2, from: 1) && !shares.gives(1, to: 1, from: 2))
        #expect(!shares.gives(1, to: 1, from: 1))
    }
}
