import AccountStorage
import AuthRefreshInterface
import OAuthClient
import OAuthMessages
import RefreshCore

@testable import authrefreshd

/// One value of each finding of `authctl doctor` that the daemon makes.
extension MessageSamples {
    static let findings: [Finding] =
        accounts.map { $0.finding(of: "work", advice: "authctl status work") }
        + allAccounts.map { $0.finding }
        + programs.map { $0.finding }
        + configurations.map { $0.finding }
        + clocks.map { $0.finding }
        + networks.map { $0.finding }
        + stores.map { $0.finding(at: "/s/accounts.sqlite") }
        + keys.map { $0.finding }
        + servers.map { $0.finding(of: "https://as.example") }
        + names.map { $0.finding(of: "as.example") }
        + certificates.map { $0.finding(of: "as.example") }

    /// How many cases have a sample, and how many there are.
    static let findingKinds: [(sampled: Int, all: Int)] = [
        (Set(accounts.map(name)).count, 12),
        (Set(allAccounts.map(name)).count, 5),
        (Set(programs.map(name)).count, 3),
        (Set(configurations.map(name)).count, 3),
        (Set(clocks.map(name)).count, 4),
        (Set(networks.map(name)).count, 7),
        (Set(stores.map(name)).count, 8),
        (Set(keys.map(name)).count, 5),
        (Set(servers.map(name)).count, 8),
        (Set(names.map(name)).count, 2),
        (Set(certificates.map(name)).count, 3),
    ]

    private static let day = Duration.seconds(86_400)
    private static let now = Timestamp(microseconds: 1_767_225_600_000_000)

    private static let accounts: [AccountFinding] = [
        .damaged(reason: nil), .damaged(reason: "its row in the store is damaged"), .noRefreshToken,
        .clientSecretExpires(in: day), .clientSecretExpired, .retryingWithoutToken(reason: "the server is busy"),
        .retrying(failures: 1, reason: "the server is busy", validFor: day),
        .retrying(failures: 3, reason: nil, validFor: day), .needsSignIn(for: day, reason: nil), .signsOut(in: day),
        .refreshTokenExpires(in: day), .refreshTokenExpires(in: nil), .signedOut, .parked,
        .misconfigured(reason: "the server does not accept this client's credentials"),
    ]

    private static let allAccounts: [AccountsFinding] = [
        .well(1), .well(2), .moreWithProblems(1), .none, .someUnchecked(seen: 2, total: 3),
        .serversUnchecked(limit: 64),
    ]

    private static let programs: [ProgramFinding] = [
        .unchanged(path: "/usr/bin/authrefreshd"), .removed(path: "/usr/bin/authrefreshd"),
        .replaced(path: "/usr/bin/authrefreshd"),
    ]

    private static let configurations: [ConfigurationFinding] = [
        .valid, .invalid(.unreadable(path: "/c.yaml", reason: "it is too large")), .hangs(limit: .seconds(5)),
    ]

    private static let clocks: [ClockFinding] = [
        .tooEarly, .stepsUnseen, .sleepUnseen, .watched(slept: .zero), .watched(slept: day),
    ]

    private static let networks: [NetworkFinding] = [
        .up, .down, .routesUnseen, .proxy("proxy.example:3128", exceptions: 1),
        .proxy("proxy.example:3128", exceptions: 2), .noDescriptors,
        .proxyUnusable(.resolvesHere, variable: "HTTPS_PROXY"), .proxyUnusable(.unknownKind, variable: "ALL_PROXY"),
        .proxyUnusable(.malformed, variable: "HTTPS_PROXY"),
        .hoarded("'python3' (process 4711) has 256 of 512 connections", ago: .seconds(90)),
    ]

    private static let stores: [StoreFileFinding] = [
        .hangs(limit: .seconds(5)), .trouble(.diskFull(path: "/s/accounts.sqlite")), .fileGone, .fileOpen(mode: 0o644),
        .folderOpen(mode: 0o777), .logGrown(bytes: 1 << 30), .littleSpace(bytes: 4096),
        .well(bytes: 40_960, log: 100, free: 1 << 40), .well(bytes: 40_960, log: 100, free: nil),
    ]

    private static let keys: [KeyFinding] = [
        .found(.credential, file: "/s/store-key"), .found(.nextCredential, file: "/s/store-key"),
        .found(.secretService, file: "/s/store-key"), .found(.file, file: "/s/store-key"),
        .found(.nextFile, file: "/s/store-key"), .hangs(limit: .seconds(5)), .unavailable(.secretServiceLocked),
        .gone(.keyMissing(path: "/s/store-key")), .rekeying,
    ]

    private static let servers: [ServerFinding] = [
        .notChecked, .behind(for: day),
        .noMetadata(MetadataError.notPublished(status: 404).refreshFailure, account: "work"),
        .noMetadata(MetadataError.unavailable(status: 503, retryAfter: nil).refreshFailure, account: "work"),
        .refreshNotListed, .methodNotListed(account: "work", method: "private_key_jwt"),
        .complete(byProfile: true, tokenHost: "as.example"), .complete(byProfile: false, tokenHost: "as.example"),
        .clockAgrees, .clockDiffers(skew: day, isSerious: true), .clockDiffers(skew: .zero - day, isSerious: false),
    ]

    private static let names: [NameFinding] = [
        .found(addresses: 1, isProxy: false), .found(addresses: 2, isProxy: true),
        .failed(.noSuchName, isProxy: false), .failed(.noSuchName, isProxy: true),
        .failed(.serverFailed, isProxy: false),
        .failed(.timedOut, isProxy: false), .failed(.resolverHangs, isProxy: false),
    ]

    private static let certificates: [CertificateFinding] = [
        .valid(for: day), .expiresSoon(in: day), .failed(.unreachable, now: now), .failed(.timedOut, now: now),
        .failed(.handshake, now: now), .failed(.authorityFile, now: now), .failed(.authorityFileHangs, now: now),
        .failed(.expired(at: now), now: now), .failed(.notYetValid(until: now), now: now),
        .failed(.wrongHost, now: now), .failed(.untrusted, now: now),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: AccountFinding) -> String {
        switch finding {
        case .damaged: "damaged"
        case .noRefreshToken: "noRefreshToken"
        case .clientSecretExpires: "clientSecretExpires"
        case .clientSecretExpired: "clientSecretExpired"
        case .retryingWithoutToken: "retryingWithoutToken"
        case .retrying: "retrying"
        case .needsSignIn: "needsSignIn"
        case .signsOut: "signsOut"
        case .refreshTokenExpires: "refreshTokenExpires"
        case .signedOut: "signedOut"
        case .parked: "parked"
        case .misconfigured: "misconfigured"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: AccountsFinding) -> String {
        switch finding {
        case .well: "well"
        case .moreWithProblems: "moreWithProblems"
        case .none: "none"
        case .someUnchecked: "someUnchecked"
        case .serversUnchecked: "serversUnchecked"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: ProgramFinding) -> String {
        switch finding {
        case .unchanged: "unchanged"
        case .removed: "removed"
        case .replaced: "replaced"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: ConfigurationFinding) -> String {
        switch finding {
        case .valid: "valid"
        case .invalid: "invalid"
        case .hangs: "hangs"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: ClockFinding) -> String {
        switch finding {
        case .tooEarly: "tooEarly"
        case .stepsUnseen: "stepsUnseen"
        case .sleepUnseen: "sleepUnseen"
        case .watched: "watched"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: NetworkFinding) -> String {
        switch finding {
        case .up: "up"
        case .down: "down"
        case .routesUnseen: "routesUnseen"
        case .proxy: "proxy"
        case .proxyUnusable: "proxyUnusable"
        case .noDescriptors: "noDescriptors"
        case .hoarded: "hoarded"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: StoreFileFinding) -> String {
        switch finding {
        case .hangs: "hangs"
        case .trouble: "trouble"
        case .fileGone: "fileGone"
        case .fileOpen: "fileOpen"
        case .folderOpen: "folderOpen"
        case .logGrown: "logGrown"
        case .littleSpace: "littleSpace"
        case .well: "well"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: KeyFinding) -> String {
        switch finding {
        case .found: "found"
        case .hangs: "hangs"
        case .unavailable: "unavailable"
        case .gone: "gone"
        case .rekeying: "rekeying"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: ServerFinding) -> String {
        switch finding {
        case .notChecked: "notChecked"
        case .behind: "behind"
        case .noMetadata: "noMetadata"
        case .refreshNotListed: "refreshNotListed"
        case .methodNotListed: "methodNotListed"
        case .complete: "complete"
        case .clockAgrees: "clockAgrees"
        case .clockDiffers: "clockDiffers"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: NameFinding) -> String {
        switch finding {
        case .found: "found"
        case .failed: "failed"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: CertificateFinding) -> String {
        switch finding {
        case .valid: "valid"
        case .expiresSoon: "expiresSoon"
        case .failed: "failed"
        }
    }
}
