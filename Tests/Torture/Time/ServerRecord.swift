internal import Foundation
internal import RefreshCore

/// The times of the server's requests, by account, and their meaning. Times are true, in µs since 1970.
struct ServerRecord {
    let families: [Int]
    /// The granted refreshes, in their order.
    let requests: [(family: Int, at: Int64)]
    /// When the event at the clocks began, when it no longer prevented refreshes, when it was over, and when the
    /// observation ended.
    let began: Int64
    let ableSince: Int64
    let acted: Int64
    let ended: Int64

    /// The facts that contradict `expectation`.
    func surprises(
        _ expectation: TimeScenario.Expectation,
        lifetime: Duration,
        wave: Duration,
        rate: Int
    ) -> [String] {
        let (lifetime, wave) = (lifetime.microseconds, wave.microseconds)
        var surprises: [String] = []
        for family in families {
            let times = requests.filter { $0.family == family }.map(\.at)
            let isInWave = { (time: Int64) in time >= began && time <= acted + wave }
            if expectation.isHurried, !times.contains(where: { isInWave($0) && $0 >= ableSince }) {
                surprises.append("grant \(family) was not refreshed within \(wave / 1_000_000) s")
            }
            for (one, next) in zip(times, times.dropFirst() + [ended]) {
                let isAcross = one < acted && next >= began
                if next - one > lifetime, !(isAcross && expectation.isEndGood) {
                    surprises.append("grant \(family) had no token for \((next - one - lifetime) / 1000) ms")
                }
                // A refresh is due after half of the lifetime, less a tenth, from the previous request. On a busy
                // machine that one may be a second and a half late.
                let isEarly = next - one < lifetime * 3 / 10 && next < ended
                if isEarly, !(isInWave(next) && expectation.isEarlyGood) {
                    surprises.append("grant \(family) was refreshed after \((next - one) / 1000) ms")
                }
            }
        }
        return surprises + stampede(rate)
    }

    /// The cells for the table: the refreshes after the event, the most in a second, and the time until each account
    /// had been refreshed.
    var cells: [String] {
        let after = requests.filter { $0.at >= began }
        let firsts = families.compactMap { family in after.first { $0.family == family && $0.at >= ableSince }?.at }
        let last = firsts.count == families.count ? firsts.max() : nil
        return [
            "\(after.count)", "\(mostInSecond)",
            last.map { String(format: "%.1f s", max(0, Double($0 - acted) / 1e6)) } ?? "-",
        ]
    }

    /// Whether more requests came than `rate` a second allows. The requests of a second may have been saved up, and a
    /// few were in flight. Late requests on a busy machine are not a stampede.
    private func stampede(_ rate: Int) -> [String] {
        let times = requests.map(\.at).filter { $0 >= acted }
        let excess = times.enumerated().first { number, time in
            Double(number + 1) > Double(rate) * (2 + Double(time - acted) / 1e6)
        }
        return excess.map { ["\($0.offset + 1) requests within \(($0.element - acted) / 1000) ms"] } ?? []
    }

    private var mostInSecond: Int {
        var (most, first) = (0, 0)
        let times = requests.map(\.at).filter { $0 >= began }
        for (index, time) in times.enumerated() {
            while times[first] <= time - 1_000_000 { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }
}

extension TimeScenario.Expectation {
    /// Whether an account may be refreshed early because it is due by the stepped clock.
    fileprivate var isEarlyGood: Bool {
        switch self {
        case .onTime: false
        case .inTime, .atOnce, .atOnceAfterEnd: true
        }
    }

    /// Whether each account must be refreshed in the first seconds.
    fileprivate var isHurried: Bool {
        switch self {
        case .onTime, .inTime: false
        case .atOnce, .atOnceAfterEnd: true
        }
    }

    /// Whether tokens may expire because nothing could be done in time.
    var isEndGood: Bool {
        switch self {
        case .onTime, .inTime, .atOnce: false
        case .atOnceAfterEnd: true
        }
    }
}
