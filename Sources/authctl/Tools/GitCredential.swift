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

    /// Reads a request.
    ///
    /// - Parameter text: lines of `key=value` up to an empty line.
    /// - Throws: `unusableDocument` for an invalid line.
    init(_ text: String) throws(AuthctlError) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
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

    /// The address that git wants to authenticate at; nil if git does not send it.
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
        return lines.map { "\($0)=\($1)\n" }.joined()
    }
}
