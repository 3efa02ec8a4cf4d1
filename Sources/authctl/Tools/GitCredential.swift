/// What git asks its credential helper, or tells it (git-credential(1), "INPUT/OUTPUT FORMAT").
struct GitCredential {
    private(set) var scheme: String?
    private(set) var host: String?
    private(set) var path: String?
    private(set) var username: String?
    /// The password, or the credential of another kind of authentication.
    private(set) var secret: SecretText?
    /// Whether git can send an `Authorization` header of our choice.
    private(set) var takesAuthenticationTypes = false
    /// Whether the server has asked for a Bearer token.
    private(set) var hasBearerChallenge = false

    /// - Parameter text: lines of `key=value` up to an empty one.
    /// - Throws: `unusableDocument` for a line that is none.
    init(_ text: String) throws(AuthctlError) {
        // By scalars: to a Character, CR and LF are one, and a line that ends so would take in the next.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.map(Substring.init).enumerated() {
            guard !line.isEmpty else { return }
            guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
                throw .unusableDocument(.toolInput(.noKeyValue(line: index + 1)))
            }
            take(line[..<equals], String(line[equals...].dropFirst()))
        }
    }

    private mutating func take(_ key: Substring, _ value: String) {
        switch key {
        case "protocol": scheme = value.lowercased()
        case "host": host = value
        case "path": path = value
        case "username": username = value
        case "password", "credential": secret = SecretText(value)
        case "capability[]": takesAuthenticationTypes = takesAuthenticationTypes || value == "authtype"
        case "wwwauth[]":
            hasBearerChallenge = hasBearerChallenge || value.prefix { $0 != " " }.lowercased() == "bearer"
        // "Unrecognized attributes and capabilities are silently discarded."
        default: break
        }
    }

    /// The address that git wants to sign in at; nil if it does not say it.
    var url: String? {
        guard let scheme, let host, !scheme.isEmpty, !host.isEmpty else { return nil }
        let path = (path ?? "").prefix { $0 != "?" && $0 != "#" }.drop { $0 == "/" }
        return path.isEmpty ? "\(scheme)://\(host)" : "\(scheme)://\(host)/\(path)"
    }
}

extension GitCredential {
    /// The lines that answer `get`.
    ///
    /// - Parameters:
    ///   - username: what the service wants beside the token; nil: anything.
    ///   - takesBearer: whether the service is known to take the token in a header.
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
        return lines.map { "\($0)=\($1)\n" }.joined()
    }
}
