import RefreshCore
import Testing

@testable import authrefreshd

struct IssuerGatesTests {
    private let issuer = IssuerID(1)
    private let url: Issuer
    private let limits = IssuerGate.Limits(concurrent: 2, perSecond: 10)

    init() throws {
        url = try Issuer(url: "https://login.example.com")
    }

    private func at(_ milliseconds: Int64) -> Moment {
        Moment(
            wall: Timestamp(microseconds: 1_000_000_000 + milliseconds * 1000),
            boot: BootTime(bootID: 1, microseconds: milliseconds * 1000)
        )
    }

    @Test func `a gate admits as many as its limit, and the next when one has left`() {
        var gates = IssuerGates()
        #expect(gates.openSlots(for: issuer, limits: limits, at: at(0)) == 2)
        let place = gates.enter(issuer, limits: limits, at: at(0))
        _ = gates.enter(issuer, limits: limits, at: at(0))
        #expect(gates.openSlots(for: issuer, limits: limits, at: at(0)) == 0)
        gates.leave(issuer, place)
        #expect(gates.openSlots(for: issuer, limits: limits, at: at(0)) == 1)
    }

    @Test func `waiting accounts come first, in order, once for each event`() {
        var gates = IssuerGates()
        for _ in 0..<3 {
            gates.queue(AccountID(7), .tokenNeeded, at: issuer, url, at: at(0))
            gates.queue(AccountID(8), .tokenNeeded, at: issuer, url, at: at(0))
        }
        gates.queue(AccountID(7), .refreshRequested, at: issuer, url, at: at(0))
        #expect(gates.backlogged == [issuer])
        #expect(gates.takeWaiting(at: issuer, upTo: 2).map(\.account) == [AccountID(7), AccountID(8)])
        #expect(gates.takeWaiting(at: issuer, upTo: 9).map(\.event) == [.refreshRequested])
        #expect(gates.takeWaiting(at: issuer, upTo: 9).isEmpty)
    }

    @Test func `the next opening is when the rate allows one more, or a request counts as hanging`() throws {
        var gates = IssuerGates()
        let one = IssuerGate.Limits(concurrent: 5, perSecond: 1)
        _ = gates.enter(issuer, limits: one, at: at(0))
        #expect(gates.nextOpening(at: at(0)) == nil)
        gates.markBacklogged(issuer, url, at: at(0))
        let opening = try #require(gates.nextOpening(at: at(0)))
        #expect((Duration.milliseconds(990)...Duration.milliseconds(1010)).contains(opening - at(0).wall))

        let other = IssuerID(2)
        var full = IssuerGates()
        for _ in 0..<2 { _ = full.enter(other, limits: limits, at: at(0)) }
        full.markBacklogged(other, url, at: at(0))
        #expect(full.nextOpening(at: at(0)) == at(0).wall + IssuerGate.patience)
    }

    @Test func `a gate is forgotten when it has recovered, and not before`() {
        var gates = IssuerGates()
        let place = gates.enter(issuer, limits: limits, at: at(0))
        // The rate is full again. The request is in flight, and does not count as hanging yet.
        gates.forgetIdle(at: at(4000))
        #expect(gates.openSlots(for: issuer, limits: limits, at: at(4000)) == 1)
        gates.leave(issuer, place)
        gates.forgetIdle(at: at(10_000))
        // Its state now follows the new limits.
        let wider = IssuerGate.Limits(concurrent: 9, perSecond: 10)
        #expect(gates.openSlots(for: issuer, limits: wider, at: at(10_000)) == 9)
    }

    @Test func `an issuer is behind when accounts have waited at its gate for ten minutes without a break`() {
        var gates = IssuerGates()
        gates.markBacklogged(issuer, url, at: at(0))
        for minute in 1...9 { #expect(gates.look(at: issuer, at: at(Int64(minute) * 60_000)) == nil) }
        // Marked again, it continues to wait.
        gates.markBacklogged(issuer, url, at: at(599_000))
        #expect(gates.behind.isEmpty)
        #expect(gates.look(at: issuer, at: at(600_000)) == url)
        #expect(gates.behind.map(\.issuer) == [url] && gates.behind.map(\.since) == [at(0)])
        // It is reported once.
        #expect(gates.look(at: issuer, at: at(660_000)) == nil)
        #expect(gates.markServed(issuer) == url)
        #expect(gates.behind.isEmpty && gates.backlogged.isEmpty)
    }

    @Test func `an issuer that was served or not checked starts to wait again`() {
        var gates = IssuerGates()
        gates.markBacklogged(issuer, url, at: at(0))
        #expect(gates.look(at: issuer, at: at(100_000)) == nil)
        #expect(gates.markServed(issuer) == nil)
        gates.markBacklogged(issuer, url, at: at(599_000))
        #expect(gates.look(at: issuer, at: at(610_000)) == nil)
        // The machine slept.
        #expect(gates.look(at: issuer, at: at(9_000_000)) == nil)
        #expect(gates.look(at: issuer, at: at(9_060_000)) == nil)
    }
}
