internal import AuthRefreshInterface
internal import OAuthMessages

/// Why the configuration or a provider profile cannot be used.
enum ConfigurationError: Error, Equatable {
    case unreadable(path: String, reason: String)
    /// The text is not YAML, or has an unknown key, a wrong type or an impossible value at this place.
    case invalid(path: String, line: Int, key: String, reason: String)
    /// Two profiles of one name in the same folder.
    case duplicateProfile(name: String, path: String)
}

extension ConfigurationError: CustomStringConvertible {
    /// The file, the line and the key, then what is wrong there. Lower case, no full stop.
    var description: String {
        switch self {
        case .unreadable(let path, let reason): "'\(path)' cannot be read: \(reason)"
        case .invalid(let path, let line, "", let reason): "'\(path)', line \(line): \(reason)"
        case .invalid(let path, let line, let key, let reason): "'\(path)', line \(line), key '\(key)': \(reason)"
        case .duplicateProfile(let name, let path):
            "'\(path)': another file in this folder also has a profile named '\(name)'"
        }
    }
}

/// What is wrong with a value of `authrefreshd.yaml`, or with a provider setting of an account. The reader of profiles
/// says what is wrong with a value of a profile.
enum ConfigurationFault: ValueFlaw, Hashable {
    /// `problem` is the parser's word for it; nil if it has none.
    case notYAML(String?)
    /// `name` says what is expected: "a whole number".
    case type(String)
    case empty(String)
    case missing
    case unusable

    // Values of `authrefreshd.yaml`.
    case oneOf([String])
    case timeSpan(from: String, to: String)
    case absolutePath
    case proxy
    case atLeastOne
    case aboveZero
    case connections
    case browser
    case event(String, known: [String])
    case command
    case commandMissing
    case commandTooLong(limit: Int)

    // Provider settings of an account.
    case notForAccounts(String)
    case notPlain(String)
    case badBrackets(String)
}

extension ConfigurationFault {
    /// Follows "key '…': ". Lower case, no full stop.
    var text: String {
        switch self {
        case .notYAML(let problem): "this is not YAML" + (problem.map { ": \($0)" } ?? "")
        case .type(let name): "must be \(name)"
        case .empty(let name): "is empty, and must be \(name)"
        case .missing: "is missing"
        case .unusable: "cannot be used"
        case .oneOf(let values): "must be one of \(values.joined(separator: ", "))"
        case .timeSpan(let least, let most): "must be a time span from \(least) to \(most)"
        case .absolutePath: "must be an absolute path"
        case .proxy: "must be http, https or socks5h://HOST:PORT"
        case .atLeastOne: "must be at least 1"
        case .aboveZero: "must be more than 0"
        case .connections: "must be from 16 to 65536"
        case .browser: "must be \(LoginBrowser.commandRule)"
        case .event(let name, let known): "'\(name)' is not an event; known: \(known.joined(separator: ", "))"
        case .command: "must be a list of a program's absolute path and its arguments; no shell reads it"
        case .commandMissing: "is missing, but on_change_events or on_change_time_limit is set"
        case .commandTooLong(let limit): "has more than \(limit) bytes"
        case .notForAccounts(let key): "\"\(key)\" belongs to profiles only; accounts cannot set it"
        case .notPlain(let key):
            "\"\(key)\" has brackets that do not close or are too deep, or texts with & * ! # ? ' \" and no quotes around them"
        case .badBrackets(let key): "\"\(key)\" has brackets, but is neither a list nor a mapping"
        }
    }
}
