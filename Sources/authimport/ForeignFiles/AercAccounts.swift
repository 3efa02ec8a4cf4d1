internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import TextEncodings

/// Reads the accounts in aerc's `accounts.conf` whose server is asked with OAuth (aerc-imap(5), `oauthbearer` and
/// `xoauth2`): the password in the address is the refresh token, and its query names the client.
enum AercAccounts {
    private static let expected = "aerc's accounts.conf"

    /// Reads the accounts.
    ///
    /// - Throws: `wrongFormat`, `tooLarge`, `tooManyAccounts`.
    static func accounts(in bytes: [UInt8], origin: String) throws(ProgramError) -> FoundInFile {
        let text = try SourceText.read(bytes, origin: origin, expected: expected)
        var sections: [(name: String, source: String?)] = []
        for line in text.split(whereSeparator: \.isNewline).map(\.trimmed) where !"#;".contains(line.first ?? "#") {
            if line.first == "[" {
                sections.append((String(line.dropFirst().prefix { $0 != "]" }), nil))
            } else if let equals = line.firstIndex(of: "="), line[..<equals].trimmed == "source", !sections.isEmpty {
                sections[sections.count - 1].source = String(line[line.index(after: equals)...].trimmed)
            }
        }
        guard sections.count <= ImportLimit.movedAccountsMax else { throw .tooManyAccounts(origin) }
        return FoundInFile(reading: sections) { section throws(ProgramError) in
            try section.source.flatMap { source throws(ProgramError) in try account(section.name, source, origin) }
        }
    }

    private static func account(
        _ name: String,
        _ source: String,
        _ origin: String
    ) throws(ProgramError) -> MovableAccount? {
        let parts = source.split(separator: "?", maxSplits: 1)
        guard parts.count == 2, let scheme = parts[0].firstRange(of: "://"),
            ["oauthbearer", "xoauth2"].contains(where: { parts[0][..<scheme.lowerBound].hasSuffix("+" + $0) })
        else { return nil }
        guard let values = FormEncoding.parse(parts[1])?.filter({ !$0.value.isEmpty }),
            let endpoint = values["token_endpoint"]
        else { return nil }
        guard let server = NamedServer(tokenEndpoint: endpoint), let client = values["client_id"],
            let at = parts[0].lastIndex(of: "@")
        else {
            throw .wrongFormat(origin, expected: "a server and a client in the address of the account '\(name)'")
        }
        let login = parts[0][scheme.upperBound..<at].split(separator: ":", maxSplits: 1)
        let user = login.first.flatMap(decoded)
        var account = MovableAccount(
            source: .aerc,
            sourceName: name,
            settings: AccountSettings(
                name: MovableAccount.name(from: user ?? name, fallback: "mail"),
                clientId: client
            ) {
                $0.scopes = values["scope"].map { $0.split(separator: " ").map(String.init) }
                $0.username = user
            },
            clientSecret: values["client_secret"].map { Secret($0) },
            refreshToken: login.count == 2 ? decoded(login[1]).map { Secret($0) } : nil,
            origin: origin
        )
        account.take(server)
        // The command of `source-cred-cmd` is not run.
        if account.refreshToken == nil { account.notes.append(Hint(SourceProgram.aerc.noRefreshToken)) }
        return account
    }

    /// A part of the address, in which a plus is a plus.
    private static func decoded(_ text: Substring) -> String? {
        FormEncoding.decode(text.replacing("+", with: "%2B").utf8)
    }
}
