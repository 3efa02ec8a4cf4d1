internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// The proxy of this shell, which the daemon does not use: a service does not see the variables of a shell.
struct UnusedProxy: Hashable, Sendable {
    private static let edit = Command(program: "systemctl", "--user", "edit", "authrefreshd")
    private static let restart = Command(program: "systemctl", "--user", "restart", "authrefreshd")

    /// `http://proxy.example:3128`, without credentials.
    let url: String
    /// What `NO_PROXY` excepts, separated by commas; empty for nothing.
    private let exceptions: String
    private let hasCredentials: Bool

    /// Reads the shell's proxy; nil if there is none, or none that the daemon could use.
    ///
    /// - Parameter environment: the value of a variable; nil if it is not set or is empty.
    init?(environment: (String) -> String?) {
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        guard let value = names.compactMap(environment).first else { return nil }
        let mark = value.firstRange(of: "://")
        let rest = mark.map { value[$0.upperBound...] } ?? value[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let at = authority.lastIndex(of: "@")
        let place = at.map { authority[authority.index(after: $0)...] } ?? authority
        // In a URL that is not percent-encoded, a part of the password may stand before the first slash.
        guard !rest[authority.endIndex...].contains("@"), !place.isEmpty, place.allSatisfy(Self.isPlain) else {
            return nil
        }
        switch mark.map({ value[..<$0.lowerBound].lowercased() }) {
        case "http", nil: url = "http://\(place)"
        case "https": url = "https://\(place)"
        // Names are always looked up by the proxy.
        case "socks5h", "socks5": url = "socks5h://\(place)"
        default: return nil
        }
        hasCredentials = at != nil
        let list = environment("no_proxy") ?? environment("NO_PROXY") ?? ""
        exceptions = list.split { $0 == "," || $0.isWhitespace }
            .filter { $0.allSatisfy { Self.isPlain($0) || $0 == "*" || $0 == "/" } }.joined(separator: ",")
    }

    /// The two lines of the drop-in that gives the daemon the proxy.
    var dropIn: [String] {
        ["[Service]", "Environment=HTTPS_PROXY=\(url)" + (exceptions.isEmpty ? "" : " NO_PROXY=\(exceptions)")]
    }

    /// The hints after an error.
    var hints: [Hint] {
        ["\(difference); for the same proxy, add these two lines\(omission): \(Self.edit)"] + dropIn.map { Hint($0) }
            + ["then: \(Self.restart)"]
    }

    /// The finding of `authctl doctor`.
    var finding: Finding {
        .note(
            .proxy,
            difference,
            advice:
                "for the same proxy, add two lines\(omission), '\(dropIn.joined(separator: "' and '"))': \(Self.edit);"
                + " then: \(Self.restart)"
        )
    }

    private var difference: String { "this shell uses the proxy \(url), and the daemon uses none" }

    private var omission: String { hasCredentials ? " (the password is left out here)" : "" }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "-._:[]".contains(character))
    }
}

extension UnusedProxy {
    /// The time limit for the daemon's answer, in seconds. It has just answered.
    private static let patience: Int32 = 5

    /// Compares this shell's proxy with the daemon's; nil if the daemon has one, too.
    static func found(_ daemon: inout DaemonConnection) -> UnusedProxy? {
        guard let proxy = UnusedProxy(environment: environmentValue) else { return nil }
        let asked = GetInfo.Parameters()
        let info = try? daemon.ask(asked, patience: patience)
        return info.flatMap { $0.proxy == nil ? proxy : nil }
    }

    /// The hints that follow an error: a server may not have been reached because of the proxy.
    ///
    /// - Parameter arguments: this program's, for the socket.
    static func hints(after error: Report, _ arguments: [String]) -> [Hint] {
        guard error.isWithoutAnswer, UnusedProxy(environment: environmentValue) != nil else { return [] }
        guard var daemon = try? DaemonConnection(socket: DaemonCompletion.socket(in: arguments)) else { return [] }
        return found(&daemon)?.hints ?? []
    }
}

extension ErrorReply {
    /// Whether the daemon says that it got no answer from an authorization server.
    var isWithoutAnswer: Bool {
        guard name != ServerUnavailableError.name else { return true }
        let names = [
            TemporarilyUnavailableError.name, SignInFailedError.name, ClientNotRegisteredError.name,
            GrantNotImportedError.name,
        ]
        guard names.contains(name), let error = JSONValue(parameters), let failure = error["failure"] else {
            return false
        }
        return error["kind"]?.string ?? "unavailable" == "unavailable"
            && WireText.decode(FailureReport.self, fromText: failure.text)?.isWithoutAnswer ?? false
    }
}

extension AccountStatus {
    /// Whether the last refresh got no answer from a server elsewhere.
    var isWithoutAnswer: Bool {
        knownState == .retrying && failure?.isWithoutAnswer ?? false
            && !LoopbackHost.isNamed(in: ShownHost.of(issuer))
    }
}

extension FailureReport {
    fileprivate var isWithoutAnswer: Bool { httpStatus == nil && oauthError == nil }
}
