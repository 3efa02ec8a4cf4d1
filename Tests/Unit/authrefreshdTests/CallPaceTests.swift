import AuthRefreshInterface
import Testing

@testable import authrefreshd

struct CallPaceTests {
    private let start = ContinuousClock.now

    /// Makes `count` calls of a process, and returns how long the last one waits.
    private func wait(_ count: Int, _ pace: inout CallPace, by process: Int32 = 1, after: Duration = .zero) -> Duration?
    {
        var last: Duration?
        for _ in 0..<count { last = pace.wait(for: 1, by: process, at: start + after) }
        return last
    }

    @Test func `a burst of calls waits for nothing, and each further one for its turn`() {
        var pace = CallPace()
        let turn = Duration.seconds(1) / CallPace.perSecond
        #expect(wait(CallPace.burst, &pace) == .zero)
        #expect(wait(1, &pace) == turn)
        #expect(wait(1, &pace) == turn * 2)
        // Another process does not wait for it.
        #expect(wait(CallPace.burst, &pace, by: 2) == .zero)
        // After a rest, the process has its burst again.
        #expect(wait(CallPace.burst, &pace, after: .seconds(60)) == .zero)
        #expect(wait(1, &pace, after: .seconds(60)) == turn)
    }

    @Test func `pacedCalls: calls beyond those that may wait are refused, and do not count`() {
        var pace = CallPace()
        #expect(wait(CallPace.burst + CallPace.waitingMax, &pace) == .seconds(CallPace.waitingMax / CallPace.perSecond))
        #expect(wait(10, &pace) == nil)
        #expect(wait(1, &pace, after: .seconds(1) / CallPace.perSecond) != nil)
        #expect(wait(1, &pace, by: 2) == .zero)
    }

    @Test func `calls that only read cost nothing, and a question to a server costs much`() {
        var pace = CallPace()
        for _ in 0..<1000 { #expect(pace.wait(for: Method.acquireToken.cost, by: 1, at: start) == .zero) }
        let atOnce = CallPace.burst / CallPace.costOfQuestion
        for method in [Method.diagnose, .checkServer, .discoverProvider, .discoverResource] {
            var pace = CallPace()
            for _ in 0..<atOnce { #expect(pace.wait(for: method.cost, by: 1, at: start) == .zero) }
            #expect(pace.wait(for: method.cost, by: 1, at: start) != .zero)
        }
        #expect(Method.applyAccounts.cost == CallPace.burst)
        for method in [Method.renameAccount, .addAccount, .removeAccount, .signOut, .refresh] {
            #expect(method.cost == 1, "\(method)")
        }
    }

    @Test func `processes that are gone are forgotten`() {
        var pace = CallPace()
        for process in 1...3000 as ClosedRange<Int32> {
            _ = pace.wait(for: 1, by: process, at: start + .seconds(Int(process)))
        }
        #expect(pace.count <= 1001)
    }
}
