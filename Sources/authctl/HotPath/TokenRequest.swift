internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// The request of `authctl token`. Both ways of reading the arguments produce it.
struct TokenRequest: Hashable, Sendable {
    var account: String
    /// How many seconds the token must still be valid; nil if it only must not have expired.
    var minimumValidity: Int64?
    /// The scope tokens of a token set. If these and the next three are empty, the request is for the account's default
    /// token.
    var scopes: [String] = []
    /// The resource URIs (RFC 8707) of a token set.
    var resources: [String] = []
    /// The audience of a token set; nil for none.
    var audience: String?
    /// The claims of a token set, a JSON object; nil for none.
    var claims: String?
    /// Whether to refresh even if the token is valid.
    var force = false
    /// Whether to request the account's ID token as well.
    var idToken = false
    var format = TokenFormat.raw
    /// The mailbox for the SASL formats; nil uses the account's name, if that is an address.
    var user: String?
    /// The program that keeps the token until a time that it is told; nil if the caller is none.
    var holder: TokenHolder?
    /// The value of `--socket`.
    var socket: String?

    /// The scope tokens in one option's value, because scopes are often copied together with their spaces.
    static func scopeTokens(of value: String) -> [String] {
        value.split(separator: " ").map(String.init)
    }
}

/// The forms in which `authctl token` prints a token.
enum TokenFormat: String, CaseIterable, Sendable {
    /// Only the access token.
    case raw
    /// An `Authorization` header line (RFC 9110 §11.6.2).
    case header
    /// The header as a JSON object, for programs that run a command for the headers of their requests.
    case headersJSON = "headers-json"
    /// The reply of `AcquireToken`: `accessToken`, `expiresAtUSec`, `tokenType`.
    case json
    /// Lines for a shell's `eval`: `export AUTHREFRESH_ACCESS_TOKEN='…'`.
    case env
    /// The initial response of SASL XOAUTH2 in base64, as defined by Google and Microsoft.
    case xoauth2
    /// The initial response of SASL OAUTHBEARER, in base64 (RFC 7628 §3.1).
    case oauthbearer

    /// Whether the form contains the mailbox.
    var needsUser: Bool {
        switch self {
        case .raw, .header, .headersJSON, .json, .env: false
        case .xoauth2, .oauthbearer: true
        }
    }
}

/// Reads the arguments of `authctl token` by hand.
///
/// Mail clients start this command for every connection, and the argument parser takes longer than the call to the
/// daemon (measured: 1.9 ms and 0.8 ms). Everything unusual, and every error, is left to the parser.
extension TokenRequest {
    /// Returns nil if the parser has to read the arguments.
    ///
    /// - Parameter arguments: without the program's name; the first is the command.
    init?(arguments: [String]) {
        guard arguments.first == "token" else { return nil }
        self.init(account: "")
        var hasFormat = false
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            if argument.hasPrefix("-") {
                guard take(argument, from: &rest, &hasFormat) else { return nil }
            } else {
                guard account.isEmpty, !argument.isEmpty else { return nil }
                account = argument
            }
        }
        guard !account.isEmpty else { return nil }
    }

    /// Reads one option with its value; false if it is unknown, repeated or invalid.
    private mutating func take(
        _ argument: String,
        from rest: inout ArraySlice<String>,
        _ hasFormat: inout Bool
    ) -> Bool {
        switch argument {
        case "--force":
            guard !force else { return false }
            force = true
            return true
        case "--json":
            guard !hasFormat else { return false }
            (format, hasFormat) = (.json, true)
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
        if name == "--format" {
            guard !hasFormat, let known = TokenFormat(rawValue: value) else { return false }
            (format, hasFormat) = (known, true)
            return true
        }
        return set(name, to: value)
    }

    private mutating func set(_ name: Substring, to value: String) -> Bool {
        switch name {
        case "--min-validity" where minimumValidity == nil:
            minimumValidity = LengthOfTime(value)?.seconds
            return minimumValidity != nil
        case "--scope":
            let tokens = Self.scopeTokens(of: value)
            scopes += tokens
            return !tokens.isEmpty
        case "--resource": resources.append(value)
        case "--audience" where audience == nil: audience = value
        case "--user" where user == nil: user = value
        case "--socket" where socket == nil: socket = value
        default: return false
        }
        return true
    }
}

extension TokenRequest {
    /// How many seconds a token may be shorter than requested without a warning. Its transport takes time, and servers
    /// state lifetimes in whole seconds.
    private static let slack: Int64 = 5

    /// Acquires the token, and passes the text for standard output to `deliver`.
    ///
    /// Nothing is deallocated before `deliver` returns. If the process ends there, that time is saved.
    func answer(_ deliver: (String) throws(Report) -> Void) throws(Report) {
        var daemon = try DaemonConnection(socket: socket)
        let request = try withMailbox(from: &daemon)
        let token = try acquire(from: &daemon)
        let text = try token.text(for: request)
        warnIfShort(token)
        try withExtendedLifetime(token) { () throws(Report) in try deliver(text) }
    }

    /// The request with the mailbox, if the format needs it: that of the person who signed in, unless `--user` or the
    /// account's name says whose it is.
    ///
    /// - Throws: `usage` if nobody says it.
    private func withMailbox(from daemon: inout DaemonConnection) throws(Report) -> TokenRequest {
        guard format.needsUser else { return self }
        var request = self
        if user == nil, !isNamedAfterMailbox {
            let accounts = JSONText.object([("accounts", JSONText.array([account]))])
            let reply = try daemon.ask(.getStatus, json: accounts, patience: DaemonConnection.patience)
            let person = reply["accounts"]?.elements?.first?["person"]
            // As `Person.mailbox`.
            let names = ["email", "username"].compactMap { person?[$0]?.string }
            request.user = names.first { $0.utf8.contains(UInt8(ascii: "@")) }
        }
        _ = try request.saslUser()
        return request
    }

    /// Acquires the token on a connection that can be used afterwards.
    func acquire(from daemon: inout DaemonConnection) throws(Report) -> AcquiredToken {
        try AcquiredToken(reply: reply(from: &daemon))
    }

    func reply(from daemon: inout DaemonConnection) throws(Report) -> JSONValue {
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

    /// Warns if the token is valid for less time than requested. Such a token is better than none.
    ///
    /// - Parameter end: when the token expires, in µs since 1970.
    func warnIfShort(endingAt end: Int64) {
        guard let minimumValidity else { return }
        let left = LocalTime.now.seconds(until: end)
        guard left < minimumValidity - Self.slack else { return }
        StandardError.warn(
            "the token is valid for only \(LocalTime.length(left));"
                + " \(LocalTime.length(minimumValidity)) was asked for"
        )
    }

    private var parameters: String {
        var object = JSONObjectText()
        object.add("account", JSONText.quote(account))
        object.add("audience", audience.map(JSONText.quote))
        object.add("claims", claims.map(JSONText.quote))
        object.add("force", force ? "true" : nil)
        object.add("holder", holder.map(Self.object))
        object.add("idToken", idToken ? "true" : nil)
        object.add("minimumValiditySec", minimumValidity.map { String($0) })
        object.add("resources", Self.array(resources))
        object.add("scopes", Self.array(scopes))
        return object.text
    }

    private static func object(_ holder: TokenHolder) -> String {
        var object = JSONObjectText()
        object.add("process", holder.process.map(JSONText.quote))
        object.add("use", holder.use.map(JSONText.quote))
        return object.text
    }

    /// The texts as a JSON array; nil if there are none.
    private static func array(_ texts: [String]) -> String? {
        texts.isEmpty ? nil : JSONText.array(texts)
    }
}

/// A token from the daemon, and its printed forms. It is written without Foundation, because mail clients wait for it.
struct AcquiredToken {
    let accessToken: String
    let tokenType: String
    /// When the token expires, in µs since 1970.
    let expiresAtUSec: Int64
    /// Until when the request's holder should keep it, in µs since 1970; nil if the daemon does not say.
    var heldUntilUSec: Int64? { reply["heldUntilUSec"]?.integer }
    private let reply: JSONValue

    /// Reads a reply.
    ///
    /// - Throws: `unreadableReply` if a part is missing, or contains characters that could forge a header.
    init(reply: JSONValue) throws(Report) {
        guard let token = reply["accessToken"]?.string, Self.isPrintable(token),
            let type = reply["tokenType"]?.string, Self.isPrintable(type),
            let end = reply["expiresAtUSec"]?.integer
        else { throw .unreadableReply }
        accessToken = token
        tokenType = type
        expiresAtUSec = end
        self.reply = reply
    }

    /// The text for standard output, with a newline.
    ///
    /// - Throws: `usage` if a SASL format has no user, or the token cannot be used in a header.
    func text(for request: TokenRequest) throws(Report) -> String {
        switch request.format {
        case .raw: "\(accessToken)\n"
        case .header: "Authorization: \(try authorization)\n"
        case .headersJSON: try headers().text + "\n"
        case .json: object().text + "\n"
        case .env: environment(of: request.account)
        case .xoauth2: Base64.encode("user=\(try request.saslUser())\u{1}auth=\(try authorization)\u{1}\u{1}") + "\n"
        case .oauthbearer: Base64.encode("n,a=\(try gs2User(request)),\u{1}auth=\(try authorization)\u{1}\u{1}") + "\n"
        }
    }

    private var authorization: String {
        get throws(Report) {
            // RFC 8693 §2.2.1: a token that is not an access token, for example an ID token.
            guard tokenType != "N_A" else {
                throw .usage(
                    "this token type cannot be used in an Authorization header",
                    hint: "use --format raw or --format json"
                )
            }
            return "\(tokenType) \(accessToken)"
        }
    }

    /// The headers of a request as a JSON object.
    ///
    /// - Parameter proof: the value of the DPoP header; nil for none.
    func headers(with proof: String? = nil) throws(Report) -> JSONObjectText {
        var object = JSONObjectText()
        object.add("Authorization", JSONText.quote(try authorization))
        object.add("DPoP", proof.map(JSONText.quote))
        return object
    }

    /// The reply as a JSON object.
    ///
    /// - Parameter proof: a proof to add; nil for none.
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

    /// The granted scopes of a token set; nil if they are unknown.
    private var scopes: [String]? { reply["scopes"]?.elements?.compactMap(\.string) }

    /// The lines for a shell. Times are in whole seconds, which `date` and shell arithmetic use, and are rounded down
    /// so that no token seems to live longer than it does.
    private func environment(of account: String) -> String {
        let variables = [
            ("AUTHREFRESH_ACCOUNT", account),
            ("AUTHREFRESH_ACCESS_TOKEN", accessToken),
            ("AUTHREFRESH_TOKEN_TYPE", tokenType),
            ("AUTHREFRESH_EXPIRES_AT", String(expiresAtUSec / 1_000_000)),
        ]
        return Self.exports(variables)
    }

    /// Lines that make a shell set and export variables.
    static func exports(_ variables: [(name: String, value: String)]) -> String {
        variables.reduce(into: "") { $0 += "export \($1.name)=\(ShellWord.quoted($1.value))\n" }
    }

    /// RFC 5801 §4: "," and "=" in a user name would end it.
    private func gs2User(_ request: TokenRequest) throws(Report) -> String {
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

    /// RFC 6749 §A.12: an access token consists of visible ASCII and spaces. A line break would forge a second header.
    static func isPrintable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension TokenRequest {
    private var isNamedAfterMailbox: Bool { account.utf8.contains(UInt8(ascii: "@")) }

    /// The mailbox that the token is for.
    ///
    /// - Throws: `usage` if neither `--user` nor the account's name contains it.
    func saslUser() throws(Report) -> String {
        guard let name = user ?? (isNamedAfterMailbox ? account : nil) else {
            throw .usage(
                "'--format \(format.rawValue)' needs to know whose mailbox it is",
                hint: "add --user you@example.org, or name the account after the mailbox"
            )
        }
        // ^A separates the fields of both mechanisms.
        guard !name.isEmpty, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw .usage("'--user' is empty or contains control characters", hint: "--user you@example.org")
        }
        return name
    }
}
