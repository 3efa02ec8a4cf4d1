internal import AuthRefreshInterface
internal import TextEncodings
internal import VarlinkClient

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
        try AcquiredToken(
            reply: daemon.ask(.acquireToken, json: parameters, patience: DaemonConnection.refreshPatience)
        )
    }

    /// A token that is valid for less than was asked for is worth more than none, but not in silence.
    func warnIfShort(_ token: AcquiredToken) {
        guard let minimumValidity else { return }
        let left = LocalTime.now.seconds(until: token.expiresAtUSec)
        guard left < minimumValidity - Self.slack else { return }
        let asked = LocalTime.length(minimumValidity)
        StandardError.warn("the token is valid for \(LocalTime.length(left)) only, \(asked) was asked for")
    }

    private var parameters: String {
        var object = JSONObjectText()
        object.add("account", JSONText.quote(account))
        object.add("audience", audience.map(JSONText.quote))
        object.add("force", force ? "true" : nil)
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
                throw .usage(message: "the token is none for an Authorization header", hint: "--format raw, or json")
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
            text += "export \(variable.0)=\(Self.quotedForShell(variable.1))\n"
        }
    }

    /// Quotes and backslashes stand outside the single quotes, each behind a backslash: within them a backslash is one character
    /// to POSIX shells and begins an escape in fish.
    private static func quotedForShell(_ text: String) -> String {
        var quoted = "'"
        for character in text.unicodeScalars {
            switch character {
            case "'": quoted += #"'\''"#
            case "\\": quoted += #"'\\'"#
            default: quoted.unicodeScalars.append(character)
            }
        }
        return quoted + "'"
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
            throw .usage(
                message: "'--format \(format.rawValue)' needs to know whose mailbox it is",
                hint: "add --user you@example.org, or name the account so"
            )
        }
        // ^A separates the fields of both mechanisms.
        guard !name.isEmpty, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw .usage(message: "'--user' is empty or has control characters in it", hint: nil)
        }
        return name
    }
}
