internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// Reads the remotes in rclone's configuration file that have an OAuth token.
enum RcloneConfiguration {
    private static let expected = "rclone's configuration file"

    /// Our provider profiles by rclone's type of remote. Those of `onedrive` and `zoho` also depend on the region.
    private static let providers = [
        "box": "box", "drive": "google", "dropbox": "dropbox", "google cloud storage": "google",
        "google photos": "google",
    ]

    /// The path of rclone's file.
    static func path(home: String, environment: [String: String]) -> String {
        if let file = environment["RCLONE_CONFIG"], !file.isEmpty { return file }
        let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        return (folder ?? home + "/.config") + "/rclone/rclone.conf"
    }

    /// Reads the accounts. A remote that cannot be read is a problem, and the others are read.
    ///
    /// - Throws: `encrypted`, `wrongFormat`, `tooLarge`, `tooManyAccounts`.
    static func accounts(in bytes: [UInt8], origin: String) throws(ProgramError) -> FoundInFile {
        let text = try SourceText.read(bytes, origin: origin, expected: expected)
        let lines = text.split(whereSeparator: \.isNewline).map(\.trimmed).filter { !"#;".contains($0.first ?? "#") }
        if lines.first?.hasPrefix("RCLONE_ENCRYPT_V") == true {
            throw .encrypted(origin, hint: "remove the password in 'rclone config', and set it again later")
        }
        let remotes = try remotes(lines, origin)
        guard remotes.filter({ $0.values["token"] != nil }).count <= ImportLimit.movedAccountsMax else {
            throw .tooManyAccounts(origin)
        }
        return FoundInFile(reading: remotes) { remote throws(ProgramError) in try account(remote, origin) }
    }

    private struct Remote {
        var name: String
        var values: [String: String] = [:]
        /// Whether it has a line that is not a setting.
        var isBroken = false

        /// The value of a setting; nil if it is missing or empty.
        func text(_ key: String) -> String? {
            values[key].map(SourceText.unquoted).flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// If a key is repeated, its last value counts, as in rclone.
    private static func remotes(_ lines: [Substring], _ origin: String) throws(ProgramError) -> [Remote] {
        var remotes: [Remote] = []
        for line in lines {
            if line.first == "[" {
                let name = line.dropFirst().prefix { $0 != "]" }
                remotes.append(Remote(name: String(name), isBroken: line.last != "]"))
                continue
            }
            guard !remotes.isEmpty else { continue }
            guard let equals = line.firstIndex(of: "=") else {
                remotes[remotes.count - 1].isBroken = true
                continue
            }
            let value = line[line.index(after: equals)...].trimmed
            remotes[remotes.count - 1].values[String(line[..<equals].trimmed)] = String(value)
        }
        guard !remotes.isEmpty || lines.isEmpty else { throw .wrongFormat(origin, expected: expected) }
        return remotes
    }

    private static func account(_ remote: Remote, _ origin: String) throws(ProgramError) -> MovableAccount? {
        guard let token = try token(of: remote, origin) else { return nil }
        var account = MovableAccount(
            source: .rclone,
            sourceName: remote.name,
            settings: AccountSettings(name: MovableAccount.name(from: remote.name, fallback: "rclone")),
            origin: origin
        )
        let kind = remote.text("type") ?? ""
        account.settings.scopes = scopes(kind, remote.text("scope") ?? remote.text("access_scopes"))
        account.settings.clientId = remote.text("client_id")
        // Without a server that is known for sure, nothing secret is taken.
        guard let server = server(of: remote, kind) else {
            account.notes.append(
                "The file does not say which server rclone's '\(kind)' uses. To add the account yourself: "
                    + "\(Command("account", "add", "--help"))"
            )
            return account
        }
        account.take(server)
        guard account.settings.clientId != nil else {
            account.notes.append(
                "The grant belongs to rclone's built-in client, and only rclone has its secret."
                    + " Register a client of your own, and sign in with it."
            )
            return account
        }
        account.clientSecret = remote.text("client_secret").map { .init($0) }
        account.refreshToken = token.secret("refresh_token")
        if account.refreshToken == nil { account.notes.append(Hint(SourceProgram.rclone.noRefreshToken)) }
        return account
    }

    /// The remote's token; nil if it has none, or one that is not of OAuth.
    private static func token(of remote: Remote, _ origin: String) throws(ProgramError) -> JSONFields? {
        guard !remote.isBroken else {
            throw .wrongFormat(origin, expected: "only settings in the remote '\(remote.name)'")
        }
        guard let token = remote.text("token"), token.hasPrefix("{") else { return nil }
        let expected = "a token in JSON for the remote '\(remote.name)'"
        return try JSONFields(Array(token.utf8), origin: origin, expected: expected)
    }

    /// The server that rclone uses for the remote; nil if it is not known.
    private static func server(of remote: Remote, _ kind: String) -> NamedServer? {
        let authorization = remote.text("auth_url")
        // Jottacloud has partners with servers of their own.
        if let endpoint = remote.text("token_url") ?? remote.text("tokenURL") {
            return NamedServer(tokenEndpoint: endpoint, authorizationEndpoint: authorization)
        }
        // The address of the page does not say where rclone sends the token.
        guard authorization == nil else { return nil }
        switch kind {
        case "onedrive": return microsoft(region: remote.text("region") ?? "global", tenant: remote.text("tenant"))
        // rclone has no default for the region.
        case "zoho":
            return remote.text("region").flatMap {
                NamedServer(tokenEndpoint: "https://accounts.zoho.\($0)/oauth/v2/token")
            }
        case _: return providers[kind].map { NamedServer(provider: $0) }
        }
    }

    /// The server of a region in rclone's onedrive.go (`authEndpoint`).
    private static func microsoft(region: String, tenant: String?) -> NamedServer? {
        let hosts = [
            "global": "login.microsoftonline.com", "us": "login.microsoftonline.us", "de": "login.microsoftonline.de",
            "cn": "login.chinacloudapi.cn",
        ]
        return hosts[region].flatMap {
            NamedServer(tokenEndpoint: "https://\($0)/\(tenant ?? "common")/oauth2/v2.0/token")
        }
    }

    /// Completes Google's scopes, whose common prefix rclone leaves out.
    private static func scopes(_ kind: String, _ text: String?) -> [String]? {
        guard let names = text?.split(whereSeparator: { " ,".contains($0) }).map(String.init) else { return nil }
        guard kind == "drive" else { return names }
        return names.map { $0.hasPrefix("https://") ? $0 : "https://www.googleapis.com/auth/" + $0 }
    }
}
