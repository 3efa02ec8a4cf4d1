internal import Basics

/// A request of git to its credential helper (git-credential(1), "INPUT/OUTPUT FORMAT").
struct GitCredential {
    private(set) var scheme: String?
    private(set) var host: String?
    private(set) var path: String?
    private(set) var username: String?
    /// The password, or the credential for another authentication type.
    private(set) var secret: SecretText?
    /// Whether git can send an `Authorization` header that we choose.
    private(set) var takesAuthenticationTypes = false
    /// Whether the server has asked for a Bearer token.
    private(set) var hasBearerChallenge = false
    /// Whether git asks again if the server refuses the answer, and then sends the mark that was in the answer.
    private(set) var takesStates = false
    /// When the token in our previous answer expires, in µs since 1970, if the server has refused that token; nil if
    /// git asks for the first time.
    private(set) var refusedExpiry: Int64?

    /// The beginning of our mark in `state[]`, which also has marks of other helpers.
    private static let mark = "authctl.expiresAtUSec="

    /// Reads a request.
    ///
    /// - Parameter text: lines of `key=value` up to an empty line.
    /// - Throws: `document` for an invalid line.
    init(_ text: String) throws(Report) {
        // The text is split by scalars. To Swift, CR and LF together are one character, so a split at LF would join two
        // lines. Like git, this drops only a CR directly before the LF.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, scalars) in lines.enumerated() {
            let line = Substring(scalars.last == "\r" ? scalars.dropLast() : scalars)
            guard !line.isEmpty else { return }
            guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
                throw .toolInput("has no 'key=value' in line \(index + 1)")
            }
            take(line[..<equals], String(line[equals...].dropFirst()))
        }
    }

    private mutating func take(_ key: Substring, _ value: String) {
        switch key {
        case "url": take(url: value)
        case "protocol": scheme = value.lowercased()
        case "host": host = value
        case "path": path = value
        case "username": username = value
        case "password", "credential": secret = SecretText(value)
        case "capability[]":
            takesAuthenticationTypes = takesAuthenticationTypes || value == "authtype"
            takesStates = takesStates || value == "state"
        case "state[]":
            if value.hasPrefix(Self.mark) { refusedExpiry = Int64(value.dropFirst(Self.mark.count)) }
        case "wwwauth[]":
            hasBearerChallenge = hasBearerChallenge || Self.asksForBearer(value)
        // "Unrecognized attributes and capabilities are silently discarded."
        default: break
        }
    }

    /// Whether one of the challenges in a field is for a Bearer token (RFC 9110 §11.6.1). Text in quotes does not begin
    /// a challenge.
    private static func asksForBearer(_ field: String) -> Bool {
        var (plain, isQuoted, isEscaped) = ("", false, false)
        for character in field {
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            if !isQuoted { plain.append(character) }
        }
        return plain.split(separator: ",").contains { $0.split(separator: " ").first?.lowercased() == "bearer" }
    }

    /// Reads the parts of an address, "as if they were read in its place" (git-credential(1)). A password in it does
    /// not concern us.
    private mutating func take(url: String) {
        guard let separator = url.firstRange(of: "://") else { return }
        let rest = url[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let parts = authority.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        scheme = url[..<separator.lowerBound].lowercased()
        host = parts.last.map(String.init)
        username = parts.count == 2 ? parts[0].split(separator: ":").first.map(String.init) : nil
        path = String(rest[authority.endIndex...])
    }

    /// Whether the server has just refused this token.
    func wasRefused(_ token: ToolToken) -> Bool { refusedExpiry == token.expiresAtUSec }

    /// The address that git wants to authenticate at; nil if git does not send it.
    var url: String? {
        guard let scheme, let host, !scheme.isEmpty, !host.isEmpty else { return nil }
        // git decodes escapes in the host, too. "git.example.org%2F.evil.example" must not be read as the host
        // git.example.org with a path.
        guard !host.contains(where: { "/?#@\\".contains($0) || $0.isWhitespace }) else { return nil }
        let path = (path ?? "").prefix { $0 != "?" && $0 != "#" }.drop { $0 == "/" }
        return path.isEmpty ? "\(scheme)://\(host)" : "\(scheme)://\(host)/\(Self.escaped(path))"
    }

    /// The path with escapes, as in an address, because git decodes them ("My%20Project").
    private static func escaped(_ path: Substring) -> String {
        path.utf8.map { byte in
            // Characters that RFC 3986 §3.3 allows stay as they are, and so do existing escapes.
            let isPlain = (0x21...0x7E).contains(byte) && !"\"<>[\\]^`{|}".utf8.contains(byte)
            let digits = String(byte, radix: 16, uppercase: true)
            return isPlain ? String(UnicodeScalar(byte)) : (byte < 16 ? "%0" : "%") + digits
        }.joined()
    }
}

extension GitCredential {
    /// The lines that answer `get`.
    ///
    /// - Parameters:
    ///   - username: the user name that the service wants with the token; nil for any.
    ///   - takesBearer: whether the service is known to accept the token in a header.
    func answer(_ token: ToolToken, username: String?, takesBearer: Bool) -> String {
        let isHeader = takesAuthenticationTypes && (hasBearerChallenge || takesBearer)
        var lines: [(String, String)] = []
        if isHeader {
            lines = [
                ("capability[]", "authtype"), ("authtype", "Bearer"), ("credential", token.secret.reveal()),
                ("ephemeral", "1"),
            ]
        } else {
            lines = [
                ("username", username ?? self.username ?? "oauth2"), ("password", token.secret.reveal()),
            ]
        }
        lines.append(("password_expiry_utc", String(token.expiresAt)))
        // git-credential(1), "continue": after a refusal, git asks once more instead of failing. This is done only
        // once, because a new token that is refused, too, lacks the permission.
        if takesStates, refusedExpiry == nil {
            lines += [
                ("capability[]", "state"), ("state[]", "\(Self.mark)\(token.expiresAtUSec)"), ("continue", "1"),
            ]
        }
        return lines.map { "\($0)=\($1)\n" }.joined()
    }
}
