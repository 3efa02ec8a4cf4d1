internal import AuthRefreshInterface
internal import OAuthMessages
internal import RefreshCore
internal import Systemd

/// Checks what the machine provides: clocks, network, proxy.
struct HostCheck: Sendable {
    /// 2026-01-01. A clock that shows a time before this program existed is wrong.
    private static let earliestTime = Timestamp(microseconds: 1_767_225_600_000_000)

    let condition: DaemonCondition
    let proxy: ProxySettings
    let clocks: ClockReading

    var findings: [Finding] {
        clockFindings + [network] + proxyFindings + descriptorFindings
    }

    private var clockFindings: [Finding] {
        var findings: [ClockFinding] = []
        if condition.now.wall < Self.earliestTime { findings.append(.tooEarly) }
        if !condition.watchesClock { findings.append(.stepsUnseen) }
        if !condition.watchesSleep { findings.append(.sleepUnseen) }
        if findings.isEmpty { findings.append(.watched(slept: .microseconds(clocks.drift))) }
        return findings.map(\.finding)
    }

    private var descriptorFindings: [Finding] {
        (condition.overview.degradation.descriptors ? [NetworkFinding.noDescriptors.finding] : [])
            + condition.hoarders.map { NetworkFinding.hoarded($0.hoarder.text, ago: $0.ago).finding }
    }

    private var network: Finding {
        guard condition.overview.isOnline else { return NetworkFinding.down.finding }
        return condition.watchesRoutes ? NetworkFinding.up.finding : NetworkFinding.routesUnseen.finding
    }

    private var proxyFindings: [Finding] {
        if let flaw = proxy.flaw, let variable = proxy.variable {
            return [NetworkFinding.proxyUnusable(flaw, variable: variable).finding]
        }
        guard let place = proxy.place else { return [] }
        return [NetworkFinding.proxy(place, exceptions: proxy.exceptionCount).finding]
    }
}
