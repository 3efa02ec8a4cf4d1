internal import AuthRefreshInterface
internal import CommandLineProgram

/// Reads the accounts in Azure CLI's token cache, which MSAL writes.
package enum AzureTokenCache {
    private static let expected = "the token cache that Azure CLI writes, msal_token_cache.json"
    private static let publicCloud = "login.microsoftonline.com"

    /// The folder of Azure CLI's files.
    package static func folder(home: String, environment: [String: String]) -> String {
        environment["AZURE_CONFIG_DIR"].flatMap { $0.isEmpty ? nil : $0 } ?? home + "/.azure"
    }

    /// Reads the accounts.
    ///
    /// - Parameter profile: the bytes of `azureProfile.json`, which lists each person's tenants; nil if it is missing.
    /// - Throws: `encrypted` for a cache named `….bin`; `wrongFormat`, `tooLarge`, `tooManyAccounts`.
    package static func accounts(
        in bytes: [UInt8],
        profile: [UInt8]?,
        origin: String
    ) throws(ImportError) -> [MovableAccount] {
        guard !origin.hasSuffix(".bin") else {
            throw .encrypted(
                origin,
                hint: "az config set core.encrypt_token_cache=false, then az account clear and az login"
            )
        }
        let cache = try JSONFields(bytes, origin: origin, expected: expected)
        let tokens = cache.objects("RefreshToken")
        guard tokens.count <= ImportLimit.movedAccountsMax else {
            throw .tooManyAccounts(origin)
        }
        let people = cache.objects("Account")
        // If the profile cannot be read, only the tenant is missing, and the cache has a substitute. The file begins
        // with a byte order mark.
        let text = profile.map { $0.starts(with: [0xEF, 0xBB, 0xBF]) ? Array($0.dropFirst(3)) : $0 }
        let known = text.flatMap { try? JSONFields($0, origin: origin, expected: expected) }
        return newest(tokens).compactMap { account($0, people, known?.elements("subscriptions") ?? [], origin) }
    }

    /// MSAL stores a token for each set of scopes that a person signed in for, and uses the last one.
    private static func newest(_ tokens: [JSONFields]) -> [JSONFields] {
        func isSame(_ one: JSONFields, _ other: JSONFields) -> Bool {
            ["home_account_id", "environment", "client_id"].allSatisfy { one.text($0) == other.text($0) }
        }
        func age(_ token: JSONFields) -> Int { Int(token.text("last_modification_time") ?? "") ?? 0 }
        let all = Array(tokens.enumerated())
        return all.filter { place, token in
            !all.contains { isSame($1, token) && (age($1), $0) > (age(token), place) }
        }.map(\.element)
    }

    private static func account(
        _ token: JSONFields,
        _ people: [JSONFields],
        _ subscriptions: [JSONFields],
        _ origin: String
    ) -> MovableAccount? {
        guard let secret = token.secret("secret"), let client = token.text("client_id"),
            let identity = token.text("home_account_id"), let server = token.text("environment")
        else { return nil }
        let person = people.first { $0.text("home_account_id") == identity && $0.text("environment") == server }
        let user = person?.text("username")
        let own = subscriptions.filter { $0.object("user")?.text("name") == user && user != nil }
        // "object id.tenant id": the person's home tenant.
        let tenant =
            (own.first { $0.isTrue("isDefault") } ?? own.first)?.text("tenantId")
            ?? identity.split(separator: ".").last.map(String.init)
        var settings = AccountSettings(name: SuggestedName.from(user ?? "", fallback: "azure"), clientId: client)
        var notes: [Hint] = []
        if server == publicCloud {
            settings.provider = "microsoft"
            settings.variables = tenant.map { ["tenant": $0] }
        } else {
            settings.issuer = "https://\(server)/\(tenant ?? "common")/v2.0"
            notes.append("The issuer is a guess: the cache names only the server '\(server)'.")
        }
        let asked = token.text("target").map { $0.split(separator: " ").map(String.init) } ?? []
        settings.scopes = ["openid", "profile", "offline_access"] + (asked.isEmpty ? [management] : asked)
        settings.username = user
        return MovableAccount(
            source: .azureCLI,
            sourceName: user,
            settings: settings,
            refreshToken: secret,
            origin: origin,
            notes: notes
        )
    }

    /// The scope that Azure CLI requests, for the resource manager.
    private static let management = "https://management.core.windows.net//.default"
}
