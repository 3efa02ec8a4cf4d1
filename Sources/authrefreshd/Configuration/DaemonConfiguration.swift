internal import OAuthClient
internal import RefreshCore

/// What `authrefreshd.yaml` can say; every key has a default, and unknown keys are errors.
struct DaemonConfiguration: Decodable, Equatable, Sendable {
    /// The least serious records that are logged: debug, info, notice, warning, error.
    var logLevel = "notice"
    /// For one refresh with all it needs; 1 to 40 s, below the lease of 45 s.
    var requestTimeout = Duration.seconds(30)
    /// PEM file with certificate authorities trusted beside the system's.
    var caFile: String?
    /// How an issuer is asked unless its profile says otherwise.
    var issuerLimits = IssuerGate.Limits()
    /// How many accounts may be added.
    var maxAccounts = CallerLimits.accountsMax
    /// How many callers may be connected; 16 to 65,536.
    var maxConnections = CallerLimits.connectionsMax
    /// Where the store's key is kept, unless it is a systemd credential.
    var storeKey = StoreKeyHome.file

    /// The values of `store_key`.
    enum StoreKeyHome: String, CaseIterable, Sendable {
        case file
        case secretService = "secret-service"
    }

    init() {}

    /// The keys that `next` says something else for, and that take effect with a restart only.
    func keysAwaitingRestart(in next: DaemonConfiguration) -> [String] {
        var keys: [Key] = []
        if next.logLevel != logLevel { keys.append(.logLevel) }
        if next.requestTimeout != requestTimeout { keys.append(.requestTimeout) }
        if next.caFile != caFile { keys.append(.caFile) }
        if next.maxConnections != maxConnections { keys.append(.maxConnections) }
        return keys.map(\.rawValue)
    }

    private enum Key: String, CaseIterable {
        case logLevel = "log_level"
        case requestTimeout = "request_timeout"
        case caFile = "ca_file"
        case maxConcurrentRefreshes = "max_concurrent_refreshes"
        case maxRefreshesPerSecond = "max_refreshes_per_second"
        case maxAccounts = "max_accounts"
        case maxConnections = "max_connections"
        case storeKey = "store_key"
    }

    /// - Throws: `DecodingError` at the key that is unknown, has the wrong type or a value that cannot be used.
    init(from decoder: any Decoder) throws {
        let fields = try StrictFields(decoder, known: Key.allCases.map(\.rawValue))
        let levels = ["debug", "info", "notice", "warning", "error"]
        logLevel =
            try fields.converted(Key.logLevel.rawValue, "must be one of \(levels.joined(separator: ", "))") {
                levels.contains($0) ? $0 : nil
            } ?? logLevel
        requestTimeout =
            try fields.converted(Key.requestTimeout.rawValue, "must be a time span from 1s to 40s") { text in
                ProfileDuration(text).map(\.duration).flatMap { (.seconds(1) ... .seconds(40)).contains($0) ? $0 : nil }
            } ?? requestTimeout
        caFile = try fields.converted(Key.caFile.rawValue, "must be an absolute path") { $0.hasPrefix("/") ? $0 : nil }
        let concurrent: Int = try fields.optional(Key.maxConcurrentRefreshes.rawValue) ?? issuerLimits.concurrent
        guard concurrent >= 1 else { throw fields.error(Key.maxConcurrentRefreshes.rawValue, "must be at least 1") }
        let perSecond: Double = try fields.optional(Key.maxRefreshesPerSecond.rawValue) ?? issuerLimits.perSecond
        guard perSecond > 0 else { throw fields.error(Key.maxRefreshesPerSecond.rawValue, "must be more than 0") }
        issuerLimits = IssuerGate.Limits(concurrent: concurrent, perSecond: perSecond)
        maxAccounts = try fields.optional(Key.maxAccounts.rawValue) ?? maxAccounts
        maxConnections = try fields.optional(Key.maxConnections.rawValue) ?? maxConnections
        guard (16...65_536).contains(maxConnections) else {
            throw fields.error(Key.maxConnections.rawValue, "must be from 16 to 65536")
        }
        let homes = StoreKeyHome.allCases.map(\.rawValue).joined(separator: ", ")
        storeKey =
            try fields.converted(Key.storeKey.rawValue, "must be one of \(homes)", StoreKeyHome.init(rawValue:))
            ?? storeKey
        guard maxAccounts >= 1 else { throw fields.error(Key.maxAccounts.rawValue, "must be at least 1") }
    }
}
