internal import Foundation
internal import RefreshCore

/// When the server was asked for which account, and what that says. Times are true, in µs since 1970.
struct ServerRecord {
    let families: [Int]
    /// In their order; one for each refresh that was granted.
    let requests: [(family: Int, at: Int64)]
    /// When what happened to the clocks began, when it no longer kept anything from being refreshed, when it was over, and when the watch
    /// ended.
    let began: Int64
    let ableSince: Int64
    let acted: Int64
    let ended: Int64

    /// What contradicts `expectation`.
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
                // Its own time is half of the lifetime, less a tenth, from when the first of the two was sent; a busy machine may be a
                // second and a half late with that one.
                let isEarly = next - one < lifetime * 3 / 10 && next < ended
                if isEarly, !(isInWave(next) && expectation.isEarlyGood) {
                    surprises.append("grant \(family) was refreshed after \((next - one) / 1000) ms")
                }
            }
        }
        return surprises + stampede(rate)
    }

    /// For the table: refreshes after it happened, the most in a second, and when each account had been refreshed once since it could be.
    var cells: [String] {
        let after = requests.filter { $0.at >= began }
        let firsts = families.compactMap { family in after.first { $0.family == family && $0.at >= ableSince }?.at }
        let last = firsts.count == families.count ? firsts.max() : nil
        return [
            "\(after.count)", "\(mostInSecond)",
            last.map { String(format: "%.1f s", max(0, Double($0 - acted) / 1e6)) } ?? "-",
        ]
    }

    /// Whether more has come than `rate` a second allows: a second's requests may have been saved up, and a few were under way. What
    /// comes late on a busy machine is no stampede.
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
    /// Whether what is due only by a clock that was set may be refreshed before its own time.
    fileprivate var isEarlyGood: Bool {
        switch self {
        case .onTime: false
        case .inTime, .atOnce, .atOnceAfterEnd: true
        }
    }

    /// Whether each account is to be refreshed in the first seconds.
    fileprivate var isHurried: Bool {
        switch self {
        case .onTime, .inTime: false
        case .atOnce, .atOnceAfterEnd: true
        }
    }

    /// Whether tokens end before anything can be done about it.
    var isEndGood: Bool {
        switch self {
        case .onTime, .inTime, .atOnce: false
        case .atOnceAfterEnd: true
        }
    }
}
