internal import AuthRefreshInterface
internal import StrictJSON
internal import TextEncodings
internal import VarlinkClient

/// What `authctl token` was asked for; both ways of reading the arguments end here.
struct TokenRequest: Hashable, Sendable {
    var account: String
    /// Seconds the token must still be valid. Nil: it must not have ended.
    var minimumValidity: Int64?
    /// Scope tokens of a token set of its own. Empty, as are the next two: the account's default token.
    var scopes: [String] = []
    /// Resource URIs (RFC 8707) of a token set of its own.
    var resources: [String] = []
    /// The audience of a token set of its own. Nil: none.
    var audience: String?
    /// The claims of a token set of its own, a JSON object. Nil: none.
    var claims: String?
    /// Refresh even if the token is valid.
    var force = false
    /// Ask for the account's ID token, too.
    var idToken = false
    var format = TokenFormat.raw
    /// Whose mailbox it is, for the SASL formats. Nil: the account's name says it, if it is an address.
    var user: String?
    /// The value of `--socket`.
    var socket: String?

    /// The scope tokens in the value of one option: scopes are often copied with their spaces.
    static func scopeTokens(of value: String) -> [String] {
        value.split(separator: " ").map(String.init)
    }
}

/// How `authctl token` prints a token.
enum TokenFormat: String, CaseIterable, Sendable {
    /// The access token alone.
    case raw
    /// An `Authorization` header line (RFC 9110 §11.6.2).
    case header
    /// The reply of `AcquireToken`: `accessToken`, `expiresAtUSec`, `tokenType`.
    case json
    /// Lines for a shell's `eval`: `export AUTHREFRESH_ACCESS_TOKEN='…'`.
    case env
    /// The initial response of SASL XOAUTH2, in base64, as Google and Microsoft describe it.
    case xoauth2
    /// The initial response of SASL OAUTHBEARER, in base64 (RFC 7628 §3.1).
    case oauthbearer

    /// Whether the form names whose mailbox the token is for.
    var needsUser: Bool {
        switch self {
        case .raw, .header, .json, .env: false
        case .xoauth2, .oauthbearer: true
        }
    }
}

/// Reads the arguments of `authctl token` by hand.
///
/// Mail clients start this command for every connection: the argument parser costs more than the question itself
/// (measured: 1.9 ms against 0.8 ms). What is not understood here, and every error, is left to the parser.
enum TokenArguments {
    /// The request, or nil if the parser must look at the arguments.
    ///
    /// - Parameter arguments: without the program's name; the first is the command.
    static func parse(_ arguments: [String]) -> TokenRequest? {
        guard arguments.first == "token" else { return nil }
        var account: String?
        var options = Options()
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-") else {
                guard account == nil, !argument.isEmpty else { return nil }
                account = argument
                continue
            }
            guard options.take(argument, from: &rest) else { return nil }
        }
        guard let account else { return nil }
        return TokenRequest(
            account: account,
            minimumValidity: options.minimumValidity,
            scopes: options.scopes,
            resources: options.resources,
            audience: options.audience,
            force: options.force,
            format: options.format ?? .raw,
            user: options.user,
            socket: options.socket
        )
    }

    private struct Options {
        var minimumValidity: Int64?
        var scopes: [String] = []
        var resources: [String] = []
        var audience: String?
        var force = false
        var format: TokenFormat?
        var user: String?
        var socket: String?

        /// Takes one option with its value; false if it is unknown, given twice or wrong.
        mutating func take(_ argument: String, from rest: inout ArraySlice<String>) -> Bool {
            switch argument {
            case "--force":
                guard !force else { return false }
                force = true
                return true
            case "--json":
                guard format == nil else { return false }
                format = .json
                return true
            default: break
            }
            let name: Substring
            let value: String
            if let equals = argument.firstIndex(of: "=") {
                name = argument[..<equals]
                value = String(argument[argument.index(after: equals)...])
            } else {
                guard let next = rest.popFirst() else { return false }
                name = argument[...]
                value = next
            }
            guard !value.isEmpty, !value.hasPrefix("-") else { return false }
            return set(name, to: value)
        }

        private mutating func set(_ name: Substring, to value: String) -> Bool {
            switch name {
            case "--min-validity" where minimumValidity == nil:
                minimumValidity = LengthOfTime(value)?.seconds
                return minimumValidity != nil
            case "--scope":
                let tokens = TokenRequest.scopeTokens(of: value)
                scopes += tokens
                return !tokens.isEmpty
            case "--resource":
                resources.append(value)
                return true
            case "--audience" where audience == nil:
                audience = value
                return true
            case "--format" where format == nil:
                format = TokenFormat(rawValue: value)
                return format != nil
            case "--user" where user == nil:
                user = value
                return true
            case "--socket" where socket == nil:
                socket = value
                return true
            default:
                return false
            }
        }
    }
}

extension TokenRequest {
    /// Seconds that a token may fall short of what was asked for without a word: its way here takes time, and a server's word on
    /// a lifetime is in whole seconds.
    private static let slack: Int64 = 5

    /// Acquires the token, and hands over the text for standard output.
    ///
    /// Nothing of it is taken apart before `deliver` returns: an end of the process there saves that.
    func answer(_ deliver: (String) throws(AuthctlError) -> Void) throws(AuthctlError) {
        if format.needsUser { _ = try saslUser() }
        var daemon = try DaemonConnection(socket: socket)
        let token = try acquire(from: &daemon)
        let text = try token.text(for: self)
        warnIfShort(token)
        try withExtendedLifetime(token) { () throws(AuthctlError) in try deliver(text) }
    }

    /// Acquires the token on a connection that others may use after it.
    func acquire(from daemon: inout DaemonConnection) throws(AuthctlError) -> AcquiredToken {
        try AcquiredToken(reply: reply(from: &daemon))
    }

    func reply(from daemon: inout DaemonConnection) throws(AuthctlError) -> JSONText {
        try daemon.ask(
            .acquireToken,
            json: parameters,
            patience: DaemonConnection.refreshPatience,
            waitingFor: .server(ofAccount: account)
        )
    }

    func warnIfShort(_ token: AcquiredToken) {
        warnIfShort(endingAt: token.expiresAtUSec)
    }

    /// A token that is valid for less than was asked for is worth more than none, but not in silence.
    ///
    /// - Parameter end: the token's, µs since 1970.
    func warnIfShort(endingAt end: Int64) {
        guard let minimumValidity else { return }
        let left = LocalTime.now.seconds(until: end)
        guard left < minimumValidity - Self.slack else { return }
        StandardError.warn(.shortToken(left: LocalTime.length(left), asked: LocalTime.length(minimumValidity)))
    }

    private var parameters: String {
        var object = JSONObjectText()
        object.add("account", JSONText.quote(account))
        object.add("audience", audience.map(JSONText.quote))
        object.add("claims", claims.map(JSONText.quote))
        object.add("force", force ? "true" : nil)
        object.add("idToken", idToken ? "true" : nil)
        object.add("minimumValiditySec", minimumValidity.map { String($0) })
        object.add("resources", Self.array(resources))
        object.add("scopes", Self.array(scopes))
        return object.text
    }

    /// Nil if there is nothing to name.
    private static func array(_ texts: [String]) -> String? {
        texts.isEmpty ? nil : JSONText.array(texts)
    }
}

/// A token as the daemon handed it out, and the forms in which it is printed. Written without Foundation: mail clients wait
/// for it.
struct AcquiredToken {
    let accessToken: String
    let tokenType: String
    /// µs since 1970.
    let expiresAtUSec: Int64
    private let reply: JSONText

    /// - Throws: `connection(.unreadableReply)` if a part is missing, or holds characters that could forge a header.
    init(reply: JSONText) throws(AuthctlError) {
        guard let token = reply["accessToken"]?.string, Self.isPrintable(token),
            let type = reply["tokenType"]?.string, Self.isPrintable(type),
            let end = reply["expiresAtUSec"]?.integer
        else { throw .connection(.unreadableReply) }
        accessToken = token
        tokenType = type
        expiresAtUSec = end
        self.reply = reply
    }

    /// The text for standard output, with its newline.
    ///
    /// - Throws: `usage` if a SASL format has no user, or the token is for no header.
    func text(for request: TokenRequest) throws(AuthctlError) -> String {
        switch request.format {
        case .raw: "\(accessToken)\n"
        case .header: "Authorization: \(try authorization)\n"
        case .json: object().text + "\n"
        case .env: environment(of: request.account)
        case .xoauth2: Base64.encode("user=\(try request.saslUser())\u{1}auth=\(try authorization)\u{1}\u{1}") + "\n"
        case .oauthbearer: Base64.encode("n,a=\(try gs2User(request)),\u{1}auth=\(try authorization)\u{1}\u{1}") + "\n"
        }
    }

    private var authorization: String {
        get throws(AuthctlError) {
            // RFC 8693 §2.2.1: a token that is no access token, an id_token for one.
            guard tokenType != "N_A" else {
                throw .usage(.noAuthorizationHeader)
            }
            return "\(tokenType) \(accessToken)"
        }
    }

    /// The reply as one object.
    ///
    /// - Parameter proof: what stands in it besides; nil if there is none.
    func object(with proof: String? = nil) -> JSONObjectText {
        var object = JSONObjectText()
        object.add("accessToken", JSONText.quote(accessToken))
        object.add("dpopProof", proof.map(JSONText.quote))
        object.add("expiresAt", UTCStamp.text(expiresAtUSec).map(JSONText.quote))
        object.add("expiresAtUSec", String(expiresAtUSec))
        object.add("scopes", scopes.map(JSONText.array))
        object.add("tokenType", JSONText.quote(tokenType))
        return object
    }

    /// What was granted, of a token set; nil if it is not told.
    private var scopes: [String]? { reply["scopes"]?.elements?.compactMap(\.string) }

    /// Whole seconds, because that is what `date` and the arithmetic of shells work with; rounded down, so that a token is not
    /// promised longer than it lives.
    private func environment(of account: String) -> String {
        let variables = [
            ("AUTHREFRESH_ACCOUNT", account),
            ("AUTHREFRESH_ACCESS_TOKEN", accessToken),
            ("AUTHREFRESH_TOKEN_TYPE", tokenType),
            ("AUTHREFRESH_EXPIRES_AT", String(expiresAtUSec / 1_000_000)),
        ]
        return variables.reduce(into: "") { text, variable in
            text += "export \(variable.0)=\(ShellWord.quoted(variable.1))\n"
        }
    }

    /// RFC 5801 §4: in the user's name "," and "=" would end it.
    private func gs2User(_ request: TokenRequest) throws(AuthctlError) -> String {
        var escaped = ""
        for character in try request.saslUser().unicodeScalars {
            switch character {
            case ",": escaped += "=2C"
            case "=": escaped += "=3D"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    /// RFC 6749 §A.12: an access token is visible ASCII and space. A line break in it would forge a second header.
    static func isPrintable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension TokenRequest {
    /// Whose mailbox the token is for.
    ///
    /// - Throws: `usage` if neither `--user` nor the account's name says it.
    func saslUser() throws(AuthctlError) -> String {
        let isAddress = account.utf8.contains(UInt8(ascii: "@"))
        guard let name = user ?? (isAddress ? account : nil) else {
            throw .usage(.mailboxUnknown(format: format.rawValue))
        }
        // ^A separates the fields of both mechanisms.
        guard !name.isEmpty, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw .usage(.userNotPrintable)
        }
        return name
    }
}
