internal import AuthRefreshInterface
internal import OAuthClient
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
        var findings: [Finding] = []
        if condition.now.wall < Self.earliestTime {
            findings.append(
                .error(
                    .clock,
                    "the clock shows a time before this program was built: certificates and tokens seem to be valid or expired wrongly",
                    needs: .repair,
                    advice: "set the clock: timedatectl set-ntp true"
                )
            )
        }
        if !condition.watchesClock {
            findings.append(
                .note(.clock, "the kernel does not report clock steps: the daemon notices them at the next refresh")
            )
        }
        if !condition.watchesSleep {
            findings.append(.note(.clock, "no system bus reports sleep: the daemon notices it by the clocks"))
        }
        if findings.isEmpty {
            let slept = Duration.microseconds(clocks.drift)
            let sleep = slept < .seconds(1) ? "has not slept" : "has slept \(slept.words)"
            findings.append(
                .ok(.clock, "the daemon notices steps of the clock and sleep at once; the machine \(sleep) since boot")
            )
        }
        return findings
    }

    private var descriptorFindings: [Finding] {
        guard condition.overview.degradation.descriptors else { return [] }
        return [
            .error(
                .socket,
                "no file descriptor is left: callers are let in one at a time",
                needs: .repair,
                advice:
                    "see who keeps connections open (ss -xp), or raise LimitNOFILE= (systemctl --user edit authrefreshd)"
            )
        ]
    }

    private var network: Finding {
        guard condition.overview.isOnline else {
            return .error(
                .network,
                "there is no network: refreshes wait until there is one",
                needs: .time,
                advice: "connect to a network; the daemon then continues by itself"
            )
        }
        guard condition.watchesRoutes else {
            return .note(.network, "the kernel does not report routes: the daemon assumes that the network is up")
        }
        return .ok(.network, "the network is up")
    }

    private var proxyFindings: [Finding] {
        if proxy.isUnusable {
            return [
                .error(
                    .proxy,
                    "HTTPS_PROXY is not a usable proxy: nothing is sent",
                    needs: .repair,
                    advice: "set it to http://HOST:PORT (systemctl --user edit authrefreshd), and restart the daemon"
                )
            ]
        }
        guard let (host, port) = proxy.address else { return [] }
        let exceptions =
            switch proxy.exceptionCount {
            case 0: ""
            case 1: ", except for 1 entry of NO_PROXY"
            case let count: ", except for \(count) entries of NO_PROXY"
            }
        return [.note(.proxy, "requests go through the proxy \(host):\(port)\(exceptions)")]
    }
}
