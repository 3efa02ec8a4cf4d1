internal import AuthRefreshInterface
internal import Basics
internal import Foundation
internal import OAuthMessages
internal import RefreshCore
internal import Yams

/// Reads YAML files, and reports errors by file, line and key.
enum ConfigurationFile {
    /// The largest file that is read. Real ones have a few KiB.
    private static let largestFile = 1 << 20

    /// Reads and decodes a file.
    ///
    /// - Throws: the first error.
    static func decode<T: Decodable>(_ type: T.Type, at path: String) throws(ProgramError) -> T {
        try decode(type, from: text(at: path), path: path)
    }

    /// Reads a file.
    static func text(at path: String) throws(ProgramError) -> String {
        do throws(FileError) {
            return String(decoding: try NamedFile.contents(of: path, limit: largestFile), as: UTF8.self)
        } catch {
            throw .configuration("'\(path)' cannot be read: \(error)")
        }
    }

    /// Decodes a text.
    ///
    /// - Parameter path: the path in error messages.
    static func decode<T: Decodable>(_ type: T.Type, from text: String, path: String) throws(ProgramError) -> T {
        do {
            // An empty file, or one with only comments, changes nothing.
            guard let root = try Yams.compose(yaml: text) else { return try YAMLDecoder().decode(type, from: "{}") }
            do {
                return try YAMLDecoder().decode(type, from: root)
            } catch let error as DecodingError {
                throw invalid(error, in: root, path: path)
            }
        } catch let error as ProgramError {
            throw error
        } catch let error as YamlError {
            let (line, problem) = error.place
            throw .configuration("'\(path)', line \(line): this is not YAML: \(problem)")
        } catch {
            throw .configuration("'\(path)', line 1: this is not YAML")
        }
    }

    private static func invalid(_ error: DecodingError, in root: Node, path: String) -> ProgramError {
        let (codingPath, reason) = error.place
        let keys = codingPath.map(\.stringValue)
        let key = keys.isEmpty ? "" : ", key '\(keys.joined(separator: "."))'"
        return .configuration("'\(path)', line \(line(of: keys, in: root))\(key): \(reason)")
    }

    /// The line, from 1, of the key at `keys`, or of its innermost existing parent.
    private static func line(of keys: [String], in root: Node) -> Int {
        var node = root
        var line = root.mark?.line ?? 1
        for key in keys {
            guard let mapping = node.mapping, let pair = mapping.first(where: { $0.key.string == key }) else { break }
            line = pair.key.mark?.line ?? line
            node = pair.value
        }
        return line
    }
}

extension DecodingError {
    /// The path of the error, and its reason.
    var place: (path: [any CodingKey], reason: String) {
        switch self {
        case .typeMismatch(let type, let context): (context.codingPath, "must be \(Self.name(of: type))")
        case .valueNotFound(let type, let context): (context.codingPath, "is empty, and must be \(Self.name(of: type))")
        case .keyNotFound(let key, let context): (context.codingPath + [key], "is missing")
        case .dataCorrupted(let context): (context.codingPath, context.debugDescription)
        @unknown default: ([], "cannot be used")
        }
    }

    private static func name(of type: Any.Type) -> String {
        switch type {
        case is String.Type: "text"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        default: "a mapping of keys to values"
        }
    }
}

extension YamlError {
    /// The line, from 1, and what is wrong there.
    fileprivate var place: (line: Int, problem: String) {
        switch self {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            (mark.line, problem)
        default: (1, "the parser stopped")
        }
    }
}

/// The content of `authrefreshd.yaml`. Every key has a default, and unknown keys are errors.
struct DaemonConfiguration: Decodable, Equatable, Sendable {
    /// The lowest level that is logged: debug, info, notice, warning, error.
    var logLevel = "notice"
    /// The time limit for one refresh with everything it needs; 1 to 40 s, below the lease of 45 s.
    var requestTimeout = Duration.seconds(30)
    /// A PEM file with certificate authorities that are trusted in addition to the system's.
    var caFile: String?
    /// The proxy for requests, perhaps with a password; nil for the one that the environment names.
    var proxy: Secret?
    /// The hosts that are reached without the proxy, in the form of `NO_PROXY`; nil for those of the environment.
    var noProxy: String?
    /// The limits on requests to an issuer, unless its profile sets others.
    var issuerLimits = IssuerGate.Limits()
    /// The most accounts.
    var maxAccounts = CallerLimits.accountsMax
    /// The most callers that may be connected; 16 to 65,536.
    var maxConnections = CallerLimits.connectionsMax
    /// Where the store's key is kept, unless it is a systemd credential.
    var storeKey = StoreKeyHome.file
    /// The browser for sign-ins, unless the account names one; nil uses the person's default. Only `authctl` uses it, and
    /// reads it itself.
    var loginBrowser: String?
    /// The command that runs after a change of an account; nil for none.
    var changeCommand: ChangeCommand?

    /// The values of `store_key`.
    enum StoreKeyHome: String, CaseIterable, Sendable {
        case file
        case secretService = "secret-service"
    }

    init() {}

    /// The keys that differ in `next` and take effect only after a restart.
    func keysAwaitingRestart(in next: DaemonConfiguration) -> [String] {
        var keys: [Key] = []
        if next.logLevel != logLevel { keys.append(.logLevel) }
        if next.requestTimeout != requestTimeout { keys.append(.requestTimeout) }
        if next.caFile != caFile { keys.append(.caFile) }
        if next.proxy != proxy { keys.append(.proxy) }
        if next.noProxy != noProxy { keys.append(.noProxy) }
        if next.maxConnections != maxConnections { keys.append(.maxConnections) }
        return keys.map(\.rawValue)
    }

    private enum Key: String, CaseIterable {
        case logLevel = "log_level"
        case requestTimeout = "request_timeout"
        case caFile = "ca_file"
        case proxy
        case noProxy = "no_proxy"
        case maxConcurrentRefreshes = "max_concurrent_refreshes"
        case maxRefreshesPerSecond = "max_refreshes_per_second"
        case maxAccounts = "max_accounts"
        case maxConnections = "max_connections"
        case storeKey = "store_key"
        case loginBrowser = "login_browser"
        case onChange = "on_change"
        case onChangeEvents = "on_change_events"
        case onChangeTimeLimit = "on_change_time_limit"
    }

    /// Decodes the file.
    ///
    /// - Throws: `DecodingError` at a key that is unknown, has the wrong type, or has an invalid value.
    init(from decoder: any Decoder) throws {
        let fields = try StrictFields(decoder, known: Key.allCases.map(\.rawValue))
        let levels = ["debug", "info", "notice", "warning", "error"]
        logLevel =
            try fields.converted(Key.logLevel.rawValue, "must be one of \(levels.joined(separator: ", "))") {
                levels.contains($0) ? $0 : nil
            } ?? logLevel
        requestTimeout =
            try fields.converted(Key.requestTimeout.rawValue, "must be a time span from 1s to 40s") { text in
                Duration(written: text).flatMap { (.seconds(1) ... .seconds(40)).contains($0) ? $0 : nil }
            } ?? requestTimeout
        caFile = try fields.converted(Key.caFile.rawValue, "must be an absolute path") { $0.hasPrefix("/") ? $0 : nil }
        proxy = try fields.converted(Key.proxy.rawValue, "must be http, https or socks5h://HOST:PORT") { text in
            let secret = Secret(text)
            return ProxySettings(configured: secret, environment: [:]).isUnusable ? nil : secret
        }
        noProxy = try fields.optional(Key.noProxy.rawValue)
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
        storeKey = try fields.choice(Key.storeKey.rawValue) ?? storeKey
        loginBrowser = try fields.converted(Key.loginBrowser.rawValue, "must be \(LoginBrowser.commandRule)") {
            LoginBrowser.isCommand($0) ? $0 : nil
        }
        guard maxAccounts >= 1 else { throw fields.error(Key.maxAccounts.rawValue, "must be at least 1") }
        changeCommand = try Self.changeCommand(fields)
    }

    private static func changeCommand(_ fields: StrictFields) throws -> ChangeCommand? {
        let (words, events): ([String]?, [String]?) = (
            try fields.optional(Key.onChange.rawValue), try fields.optional(Key.onChangeEvents.rawValue)
        )
        let limit = try fields.converted(Key.onChangeTimeLimit.rawValue, "must be a time span from 1s to 10m") { text in
            Duration(written: text).flatMap { ChangeCommand.timeLimits.contains($0) ? $0 : nil }
        }
        let news = try events?.map { event in
            guard let news = AccountNews(rawValue: event) else {
                let known = AccountNews.allCases.map(\.rawValue).sorted().joined(separator: ", ")
                throw fields.error(Key.onChangeEvents.rawValue, "'\(event)' is not an event; known: \(known)")
            }
            return news
        }
        guard let words else {
            guard events == nil, limit == nil else {
                let rule = "is missing, but on_change_events or on_change_time_limit is set"
                throw fields.error(Key.onChange.rawValue, rule)
            }
            return nil
        }
        guard let program = words.first, program.hasPrefix("/"), !words.contains(where: { $0.utf8.contains(0) })
        else {
            throw fields.error(
                Key.onChange.rawValue,
                "must be a list of a program's absolute path and its arguments; no shell reads it"
            )
        }
        guard words.joined().utf8.count <= ChangeCommand.commandBytesMax else {
            throw fields.error(Key.onChange.rawValue, "has more than \(ChangeCommand.commandBytesMax) bytes")
        }
        return ChangeCommand(words: words, events: news.map(Set.init), timeLimit: limit ?? .seconds(30))
    }
}

extension ProgramError {
    /// The configuration or a provider profile cannot be used.
    static func configuration(_ message: String) -> ProgramError {
        let check = Command(program: "authrefreshd", "--check")
        return ProgramError(.misconfigured, message, hint: "correct the file, then check it: \(check)")
    }
}
