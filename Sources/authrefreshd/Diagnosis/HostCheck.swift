internal import AuthRefreshInterface
internal import Basics
internal import OAuthMessages
internal import RefreshCore
internal import Systemd

/// What the machine provides: clocks, network, proxy, file descriptors.
extension DaemonCondition {
    /// 2026-01-01. A clock that shows a time before this program existed is wrong.
    private static let earliestTime = Timestamp(microseconds: 1_767_225_600_000_000)

    func hostFindings(_ proxy: ProxySettings, _ clocks: ClockReading) -> [Finding] {
        clockFindings(clocks) + [network] + proxyFindings(proxy) + descriptorFindings
    }

    private func clockFindings(_ clocks: ClockReading) -> [Finding] {
        var findings: [Finding] = []
        if now.wall < Self.earliestTime {
            findings.append(
                .error(
                    .clock,
                    "the clock shows a time before this program was built: certificates and tokens seem to be valid or expired wrongly",
                    needs: .repair,
                    advice: "set the clock: \(Command(program: "timedatectl", "set-ntp", "true"))"
                )
            )
        }
        if !watchesClock {
            findings.append(
                .note(.clock, "the kernel does not report clock steps: the daemon notices them at the next refresh")
            )
        }
        if !watchesSleep {
            findings.append(.note(.clock, "no system bus reports sleep: the daemon notices it by comparing clocks"))
        }
        guard findings.isEmpty else { return findings }
        let slept = Duration.microseconds(clocks.drift)
        return [
            .ok(
                .clock,
                "the daemon notices clock steps and sleep at once; since boot, the machine "
                    + (slept < .seconds(1) ? "has not slept" : "has slept for \(slept.words)")
            )
        ]
    }

    private var network: Finding {
        guard overview.isOnline else {
            return .error(
                .network,
                "there is no network: refreshes wait until there is one",
                needs: .time,
                advice: "connect to a network; the daemon then continues by itself"
            )
        }
        guard watchesRoutes else {
            return .note(.network, "the kernel does not report routes: the daemon assumes that the network is up")
        }
        return .ok(.network, "the network is up")
    }

    private func proxyFindings(_ proxy: ProxySettings) -> [Finding] {
        if let flaw = proxy.flaw, let variable = proxy.variable {
            return [
                .error(
                    .proxy,
                    "\(variable) \(Self.words(flaw)): the daemon sends nothing",
                    needs: .repair,
                    advice: "set it to \(flaw == .resolvesHere ? "socks5h" : "http")://HOST:PORT"
                        + " (\(Command(program: "systemctl", "--user", "edit", "authrefreshd"))), and restart the daemon"
                )
            ]
        }
        guard let place = proxy.place else { return [] }
        let exceptions =
            switch proxy.exceptionCount {
            case 0: ""
            case 1: ", except for 1 host or domain"
            case let count: ", except for \(count) hosts or domains"
            }
        return [.note(.proxy, "requests go through the proxy \(place)\(exceptions)")]
    }

    private static func words(_ flaw: ProxySettings.Finding) -> String {
        switch flaw {
        case .resolvesHere: "names a SOCKS proxy that leaves the look-up of names to this machine"
        case .unknownKind: "names a proxy of a kind that is not supported; http, https and socks5h are"
        case .malformed: "is not the address of a proxy"
        }
    }

    private var descriptorFindings: [Finding] {
        let lack = Finding.error(
            .socket,
            "no file descriptor is left: callers are let in one at a time",
            needs: .repair,
            advice:
                "see who keeps connections open (\(Command(program: "ss", "-xp"))), or raise LimitNOFILE="
                + " (\(Command(program: "systemctl", "--user", "edit", "authrefreshd")))"
        )
        let refusals = hoarders.map { hoarder, ago in
            Finding.warning(
                .socket,
                "a call was refused \(ago.words) ago, because \(hoarder)",
                needs: .repair,
                advice: "if that program still runs and does not need all this, restart it"
            )
        }
        return (overview.degradation.descriptors ? [lack] : []) + refusals
    }
}
