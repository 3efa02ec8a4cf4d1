internal import Basics
@testable internal import OAuthMessages
internal import RefreshCore
@testable internal import authrefreshd

/// The YAML files that people write.
enum ConfigurationFiles {
    private static let now = Moment(
        wall: Timestamp(microseconds: 1_800_000_000_000_000),
        boot: BootTime(bootID: 1, microseconds: 0)
    )

    static func runConfiguration(_ input: [UInt8]) {
        guard let file = read(DaemonConfiguration.self, input) else { return }
        require(
            ["debug", "info", "notice", "warning", "error"].contains(file.logLevel),
            "the level is one that is known"
        )
        require(
            file.requestTimeout >= .seconds(1) && file.requestTimeout <= .seconds(40),
            "a request ends within its lease"
        )
        require(file.maxAccounts >= 1, "there may be an account")
        require(file.caFile?.hasPrefix("/") ?? true, "a file is named by an absolute path")
        let proxy = ProxySettings(configured: file.proxy, exceptions: file.noProxy, environment: [:])
        require(!proxy.isUnusable && (proxy.address == nil) == (file.proxy == nil), "a proxy that is taken can be used")
        open(file.issuerLimits)
    }

    static func runProfile(_ input: [UInt8]) {
        guard let profile = read(ProviderProfile.self, input) else { return }
        open(
            IssuerGate.Limits(
                concurrent: profile.maxConcurrentRefreshes ?? 1,
                perSecond: profile.maxRefreshesPerSecond ?? 1
            )
        )
        check(profile)
        let samples = Dictionary(profile.variables.map { ($0.name, $0.standard ?? "x") }) { first, _ in first }
        if let resolved = try? profile.resolved(with: samples) { check(resolved) }
        check(profile.unfilled)
    }

    private static func read<T: Decodable>(_ type: T.Type, _ input: [UInt8]) -> T? {
        do {
            return try ConfigurationFile.decode(type, from: String(decoding: input, as: UTF8.self), path: "fuzzed")
        } catch {
            // 'fuzzed', line 3, key 'max_accounts': must be at least 1
            let rest = error.description.split(
                separator: "'fuzzed', line ",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard let place = rest.last, rest.count == 2, let line = Int(place.prefix { $0.isNumber }) else {
                require(false, "what is wrong with a text is wrong in one of its lines")
                return nil
            }
            let lines = input.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            require(line >= 1 && line <= lines * 3 + 2, "the line that is named is there")
            require(place.contains(": "), "something is said")
            return nil
        }
    }

    private static func check(_ profile: ProviderProfile) {
        let endpoints =
            [profile.tokenEndpoint, profile.refreshEndpoint, profile.revocationEndpoint].compactMap { $0 }
            + ServerEndpoints.names.compactMap { profile.endpoints[keyPath: $0.path] }
        for endpoint in endpoints {
            require(endpoint.isSecure || endpoint.isLoopback, "what crosses the network is encrypted")
            MetadataDocuments.check(endpoint)
        }
        require(profile.defaultLifetime ?? .seconds(1) >= .seconds(1), "a token lives a second or more")
        require(
            ReservedParameter.first(in: profile.refreshParameters) == nil,
            "no parameter changes what a request means"
        )
    }

    /// Limits that were taken must work.
    private static func open(_ limits: IssuerGate.Limits) {
        var gate = IssuerGate(limits: limits, at: now)
        require(gate.openSlots(at: now) >= 1, "the first request may start at once")
        let place = gate.enter(at: now)
        if let wait = gate.wait(at: now) { require(wait >= .zero, "nobody waits for the past") }
        gate.leave(place)
        let later = Moment(wall: now.wall + .seconds(86_400), boot: BootTime(bootID: 1, microseconds: 86_400_000_000))
        require(gate.openSlots(at: later) >= 1, "the next request may start a day later")
    }
}
