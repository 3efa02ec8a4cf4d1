internal import AuthRefreshInterface
internal import CommandLineProgram
internal import RefreshCore

/// Reads the remotes in rclone's configuration file that have an OAuth token.
package enum RcloneConfiguration {
    private static let expected = "rclone's configuration file"

    /// Our provider profiles by rclone's type of remote.
    private static let providers = [
        "box": "box", "drive": "google", "dropbox": "dropbox", "google cloud storage": "google",
        "google photos": "google", "onedrive": "microsoft", "zoho": "zoho",
    ]

    /// The path of rclone's file.
    package static func path(home: String, environment: [String: String]) -> String {
        if let file = environment["RCLONE_CONFIG"], !file.isEmpty { return file }
        let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        return (folder ?? home + "/.config") + "/rclone/rclone.conf"
    }

    /// Reads the accounts.
    ///
    /// - Throws: `encrypted`, `wrongFormat`, `tooLarge`, `tooManyAccounts`.
    package static func accounts(in bytes: [UInt8], origin: String) throws(ImportError) -> [MovableAccount] {
        guard bytes.count <= ImportLimit.sourceBytesMax else {
            throw .tooLarge(origin)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw .wrongFormat(origin, expected: expected)
        }
        let lines = text.split(whereSeparator: \.isNewline).map(trimmed).filter { !"#;".contains($0.first ?? "#") }
        if lines.first?.hasPrefix("RCLONE_ENCRYPT_V") == true {
            throw .encrypted(origin, hint: "remove the password in 'rclone config', and set it again later")
        }
        let remotes = try remotes(lines, origin).filter { $0.values["token"]?.hasPrefix("{") == true }
        guard remotes.count <= ImportLimit.movedAccountsMax else {
            throw .tooManyAccounts(origin)
        }
        var accounts: [MovableAccount] = []
        for remote in remotes { accounts.append(try account(remote, origin)) }
        return accounts
    }

    private struct Remote {
        var name: String
        var values: [String: String] = [:]
    }

    private static func trimmed(_ line: Substring) -> Substring {
        var line = line.drop(while: \.isWhitespace)
        while line.last?.isWhitespace == true { line.removeLast() }
        return line
    }

    /// If a key is repeated, its last value counts, as in rclone.
    private static func remotes(_ lines: [Substring], _ origin: String) throws(ImportError) -> [Remote] {
        var remotes: [Remote] = []
        for line in lines {
            if line.first == "[", line.last == "]" {
                remotes.append(Remote(name: String(line.dropFirst().dropLast())))
                continue
            }
            guard let equals = line.firstIndex(of: "="), !remotes.isEmpty else {
                throw .wrongFormat(origin, expected: expected)
            }
            let value = trimmed(line[line.index(after: equals)...])
            remotes[remotes.count - 1].values[String(trimmed(line[..<equals]))] = String(value)
        }
        return remotes
    }

    private static func account(_ remote: Remote, _ origin: String) throws(ImportError) -> MovableAccount {
        let text = { (key: String) in remote.values[key].flatMap { $0.isEmpty ? nil : $0 } }
        let token = try JSONFields(
            Array((text("token") ?? "").utf8),
            origin: origin,
            expected: "a token in JSON for the remote '\(remote.name)'"
        )
        var account = MovableAccount(
            source: .rclone,
            sourceName: remote.name,
            settings: AccountSettings(name: SuggestedName.from(remote.name, fallback: "rclone")),
            origin: origin
        )
        let kind = text("type") ?? ""
        if let address = text("token_url") ?? text("auth_url") {
            if let note = KnownEndpoint.place(address, in: &account.settings) { account.notes.append(Hint(note)) }
        } else if let provider = providers[kind] {
            account.settings.provider = provider
        } else {
            account.notes.append(
                "There is no provider profile for rclone's '\(kind)'. Name the issuer with --issuer."
            )
        }
        account.settings.scopes = scopes(kind, text("scope") ?? text("access_scopes"))
        guard let client = text("client_id") else {
            account.notes.append(
                "The grant belongs to rclone's built-in client, and only rclone has its secret."
                    + " Register a client of your own, and sign in with it."
            )
            return account
        }
        account.settings.clientId = client
        account.clientSecret = text("client_secret").map { .init($0) }
        account.refreshToken = token.secret("refresh_token")
        if account.refreshToken == nil { account.notes.append(Hint(SourceProgram.rclone.noRefreshToken)) }
        return account
    }

    /// Completes Google's scopes, whose common prefix rclone leaves out.
    private static func scopes(_ kind: String, _ text: String?) -> [String]? {
        guard let names = text?.split(whereSeparator: { " ,".contains($0) }).map(String.init) else { return nil }
        guard kind == "drive" else { return names }
        return names.map { $0.hasPrefix("https://") ? $0 : "https://www.googleapis.com/auth/" + $0 }
    }
}
