internal import AuthRefreshInterface
internal import OAuthMessages

/// What `authctl doctor` finds of the daemon's executable.
enum ProgramFinding {
    case unchanged(path: String)
    case removed(path: String)
    case replaced(path: String)

    /// The finding, in the words of `authctl doctor`.
    var finding: Finding {
        switch self {
        case .unchanged(let path): .ok(.program, "it runs '\(path)', version \(Version.text)")
        case .removed(let path):
            .warning(
                .program,
                "'\(path)' was removed while the daemon was running: it cannot start again",
                needs: .repair,
                advice: "install it again, then: systemctl --user restart authrefreshd"
            )
        case .replaced(let path):
            .warning(
                .program,
                "'\(path)' was replaced after the daemon started: the installed version is not the one that runs",
                needs: .repair,
                advice: "systemctl --user restart authrefreshd"
            )
        }
    }
}

/// What `authctl doctor` finds of the configuration files.
enum ConfigurationFinding {
    case valid
    case invalid(ConfigurationError)
    case hangs(limit: Duration)

    /// The finding, in the words of `authctl doctor`.
    var finding: Finding {
        switch self {
        case .valid: .ok(.configuration, "the configuration is valid")
        case .invalid(let error):
            .error(
                .configuration,
                "\(error); the running daemon keeps its present configuration",
                needs: .repair,
                advice: "correct it, then: authrefreshd --check"
            )
        case .hangs(let limit):
            .warning(
                .configuration,
                "the configuration's file system has not answered within \(limit.words)",
                needs: .time,
                advice: "look at the file system: findmnt"
            )
        }
    }
}

/// What `authctl doctor` finds of the machine's clock.
enum ClockFinding {
    case tooEarly
    case stepsUnseen
    case sleepUnseen
    /// `slept` is how long the machine has slept since boot.
    case watched(slept: Duration)

    /// The finding, in the words of `authctl doctor`.
    var finding: Finding {
        switch self {
        case .tooEarly:
            .error(
                .clock,
                "the clock shows a time before this program was built: certificates and tokens seem to be valid or expired wrongly",
                needs: .repair,
                advice: "set the clock: timedatectl set-ntp true"
            )
        case .stepsUnseen:
            .note(.clock, "the kernel does not report clock steps: the daemon notices them at the next refresh")
        case .sleepUnseen:
            .note(.clock, "no system bus reports sleep: the daemon notices it by comparing clocks")
        case .watched(let slept):
            .ok(
                .clock,
                "the daemon notices clock steps and sleep at once; since boot, the machine "
                    + (slept < .seconds(1) ? "has not slept" : "has slept for \(slept.words)")
            )
        }
    }
}

/// What `authctl doctor` finds of the network, the proxy and the daemon's descriptors.
enum NetworkFinding {
    case up
    case down
    case routesUnseen
    /// `place` is host and port.
    case proxy(_ place: String, exceptions: Int)
    /// `variable` names the proxy.
    case proxyUnusable(ProxySettings.Flaw, variable: String)
    case noDescriptors
    /// `hoard` says which program holds how much.
    case hoarded(_ hoard: String, ago: Duration)

    /// The finding, in the words of `authctl doctor`.
    var finding: Finding {
        switch self {
        case .up: .ok(.network, "the network is up")
        case .down:
            .error(
                .network,
                "there is no network: refreshes wait until there is one",
                needs: .time,
                advice: "connect to a network; the daemon then continues by itself"
            )
        case .routesUnseen:
            .note(.network, "the kernel does not report routes: the daemon assumes that the network is up")
        case .proxy(let place, let exceptions):
            .note(.proxy, "requests go through the proxy \(place)\(Self.except(exceptions))")
        case .proxyUnusable(let flaw, let variable):
            .error(
                .proxy,
                "\(variable) \(Self.words(flaw)): the daemon sends nothing",
                needs: .repair,
                advice: "set it to http://HOST:PORT"
                    + " (systemctl --user edit authrefreshd), and restart the daemon"
            )
        case .noDescriptors:
            .error(
                .socket,
                "no file descriptor is left: callers are let in one at a time",
                needs: .repair,
                advice:
                    "see who keeps connections open (ss -xp), or raise LimitNOFILE= (systemctl --user edit authrefreshd)"
            )
        case .hoarded(let hoard, let ago):
            .warning(
                .socket,
                "a call was refused \(ago.words) ago, because \(hoard)",
                needs: .repair,
                advice: "if that program still runs and does not need all this, restart it"
            )
        }
    }

    private static func words(_ flaw: ProxySettings.Flaw) -> String {
        switch flaw {
        case .resolvesHere: "names a SOCKS proxy that leaves the look-up of names to this machine"
        case .unknownKind: "names a proxy of a kind that is not supported; http is"
        case .malformed: "is not the address of a proxy"
        }
    }

    private static func except(_ count: Int) -> String {
        switch count {
        case 0: ""
        case 1: ", except for 1 host or domain"
        case let count: ", except for \(count) hosts or domains"
        }
    }
}
