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

    private func slots(_ gates: inout IssuerGates, _ milliseconds: Int64, of limits: IssuerGate.Limits? = nil) -> Int {
        gates.openSlots(for: issuer, limits: limits ?? self.limits, expecting: .answers, at: at(milliseconds))
    }

    @Test func `a gate admits as many as its limit, and the next when one has left`() {
        var gates = IssuerGates()
        #expect(slots(&gates, 0) == 2)
        let place = gates.enter(issuer, limits: limits, at: at(0))
        _ = gates.enter(issuer, limits: limits, at: at(0))
        #expect(slots(&gates, 0) == 0)
        gates.end(place, of: issuer, hasAnswer: true, askedAt: at(0), at: at(0))
        #expect(slots(&gates, 0) == 1)
    }

    @Test func `the issuer that has waited longest comes first`() {
        var gates = IssuerGates()
        let order = [5, 2, 9, 1, 7].map { IssuerID($0) }
        for id in order + order.reversed() { gates.markBacklogged(id, url, at: at(0)) }
        #expect(gates.backloggedInOrder == order)
        _ = gates.markServed(order[0])
        gates.markBacklogged(order[0], url, at: at(0))
        #expect(gates.backloggedInOrder == Array(order.dropFirst()) + [order[0]])
    }

    /// Begins as many requests as issuers beginning with `first` may be sent, one for each. Returns their places.
    private func fill(
        _ gates: inout IssuerGates,
        from first: Int64,
        expecting expectation: IssuerGates.Expectation
    ) -> [(issuer: IssuerID, place: IssuerGate.Place)] {
        var places: [(issuer: IssuerID, place: IssuerGate.Place)] = []
        while places.count <= IssuerGates.requestsMax {
            let id = IssuerID(first + Int64(places.count))
            let slots = gates.openSlots(for: id, limits: limits, expecting: expectation, at: at(0))
            guard slots > 0 else { break }
            places.append((id, gates.enter(id, limits: limits, at: at(0))))
        }
        return places
    }

    @Test func `silent issuers share a quarter of all requests, and issuers that answer have the last one`() {
        let (most, quarter) = (IssuerGates.requestsMax, IssuerGates.requestsMax / 4)
        var gates = IssuerGates()
        let silent = fill(&gates, from: 1000, expecting: .silent)
        #expect(silent.count == quarter)
        let unknown = fill(&gates, from: 2000, expecting: .unknown)
        #expect(unknown.count == most - 2 * quarter)
        #expect(fill(&gates, from: 3000, expecting: .answers).count == quarter)
        // There is no timer for what only the end of a request can bring.
        gates.markBacklogged(IssuerID(1000 + Int64(quarter)), url, at: at(0))
        #expect(gates.nextOpening(at: at(0)) == nil)
        gates.end(silent[0].place, of: silent[0].issuer, hasAnswer: true, askedAt: at(0), at: at(0))
        #expect(gates.openSlots(for: silent[0].issuer, at: at(0)) == 1)
        #expect(gates.openSlots(for: silent[1].issuer, at: at(0)) == 0)
    }

    @Test func `an issuer is silent from the time limit of its last request until it answers`() {
        var gates = IssuerGates()
        let silent = fill(&gates, from: 1000, expecting: .silent)
        let place = gates.enter(issuer, limits: limits, at: at(0))
        #expect(gates.openSlots(for: issuer, at: at(10_000)) == 2)
        gates.passLimit(place, of: issuer, askedAt: at(0))
        #expect(gates.openSlots(for: issuer, at: at(10_000)) == 0)
        // Its connection counts until it ends. The late answer shows that the issuer is well.
        gates.end(place, of: issuer, hasAnswer: true, askedAt: at(0), at: at(60_000))
        #expect(gates.openSlots(for: issuer, at: at(60_000)) == 2)
        // So does the answer to a later request: only this one is lost.
        let (lost, next) = (
            gates.enter(issuer, limits: limits, at: at(60_000)), gates.enter(issuer, limits: limits, at: at(61_000))
        )
        gates.end(next, of: issuer, hasAnswer: true, askedAt: at(61_000), at: at(62_000))
        gates.passLimit(lost, of: issuer, askedAt: at(60_000))
        #expect(gates.openSlots(for: issuer, at: at(70_000)) == 2)
        gates.end(lost, of: issuer, hasAnswer: false, askedAt: at(60_000), at: at(90_000))
        // A refused connection does not keep anybody waiting; one that hangs does, and is not forgotten.
        let refused = gates.enter(issuer, limits: limits, at: at(100_000))
        gates.end(refused, of: issuer, hasAnswer: false, askedAt: at(100_000), at: at(100_010))
        #expect(gates.openSlots(for: issuer, at: at(101_000)) == 2)
        let hanging = gates.enter(issuer, limits: limits, at: at(110_000))
        gates.end(hanging, of: issuer, hasAnswer: false, askedAt: at(110_000), at: at(120_000))
        gates.forgetIdle(at: at(999_000))
        #expect(gates.openSlots(for: issuer, at: at(999_000)) == 0)
        #expect(silent.count == IssuerGates.requestsMax / 4)
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
        #expect(slots(&gates, 4000) == 1)
        gates.end(place, of: issuer, hasAnswer: true, askedAt: at(0), at: at(4000))
        gates.forgetIdle(at: at(10_000))
        // Its state now follows the new limits.
        let wider = IssuerGate.Limits(concurrent: 9, perSecond: 10)
        #expect(slots(&gates, 10_000, of: wider) == 9)
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
