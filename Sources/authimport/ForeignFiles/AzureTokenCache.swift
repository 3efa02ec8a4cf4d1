internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// Reads the accounts in Azure CLI's token cache, which MSAL writes.
enum AzureTokenCache {
    private static let expected = "the token cache that Azure CLI writes, msal_token_cache.json"

    /// The folder of Azure CLI's files.
    static func folder(home: String, environment: [String: String]) -> String {
        environment["AZURE_CONFIG_DIR"].flatMap { $0.isEmpty ? nil : $0 } ?? home + "/.azure"
    }

    /// Reads the accounts: one for each tenant of each person, because a token is for one tenant.
    ///
    /// - Parameter profile: the bytes of `azureProfile.json`, which lists each person's tenants; nil if it is missing.
    /// - Throws: `encrypted` for a cache named `….bin`; `wrongFormat`, `tooLarge`, `tooManyAccounts`.
    static func accounts(
        in bytes: [UInt8],
        profile: [UInt8]?,
        origin: String
    ) throws(ProgramError) -> FoundInFile {
        guard !origin.hasSuffix(".bin") else {
            throw .encrypted(
                origin,
                hint: "az config set core.encrypt_token_cache=false, then az account clear and az login"
            )
        }
        let cache = try JSONFields(bytes, origin: origin, expected: expected)
        let entries = cache.values("RefreshToken")
        guard entries.count <= ImportLimit.movedAccountsMax else { throw .tooManyAccounts(origin) }
        // If the profile cannot be read, only the tenants are missing, and the cache has a substitute.
        let subscriptions = profile.flatMap { JSONFields($0) }?.elements("subscriptions") ?? []
        let people = cache.values("Account").compactMap(\.self)
        var found = FoundInFile()
        for token in newest(entries.compactMap(\.self)) {
            guard let entry = Entry(token, people) else { continue }
            found.accounts += accounts(entry, entry.tenants(in: subscriptions), found.accounts, origin)
        }
        if entries.contains(where: { $0.flatMap { Entry($0, people) } == nil }) {
            found.problems.append(
                .wrongFormat(origin, expected: "a secret, a client and a person for each refresh token")
            )
        }
        return found
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

    /// One refresh token: of a person, for a client, in a cloud.
    private struct Entry {
        let token: JSONFields
        let secret: Secret
        let client: String
        /// "object id.tenant id": the person, in the home tenant.
        let identity: String
        let host: String
        let user: String?

        var cloud: EntraCloud? { EntraCloud(host: host) }

        init?(_ token: JSONFields, _ people: [JSONFields]) {
            guard let secret = token.secret("secret"), let client = token.text("client_id"),
                let identity = token.text("home_account_id"), let host = token.text("environment")
            else { return nil }
            (self.token, self.secret, self.client, self.identity, self.host) = (token, secret, client, identity, host)
            user = people.first { $0.text("home_account_id") == identity && $0.text("environment") == host }?
                .text("username")
        }

        /// The person's tenants with their short names, the one in use first.
        func tenants(in subscriptions: [JSONFields]) -> [(id: String?, label: String)] {
            let names = [
                "AzureCloud": EntraCloud.worldwide, "AzureUSGovernment": .usGovernment, "AzureChinaCloud": .china,
            ]
            let own = subscriptions.filter { subscription in
                user != nil && subscription.object("user")?.text("name") == user
                    && subscription.text("environmentName").map { names[$0] == cloud } ?? true
            }
            let ordered = own.filter { $0.isTrue("isDefault") } + own.filter { !$0.isTrue("isDefault") }
            var tenants: [(id: String?, label: String)] = []
            for subscription in ordered {
                guard let id = subscription.text("tenantId"), !tenants.contains(where: { $0.id == id }) else {
                    continue
                }
                let domain = subscription.text("tenantDefaultDomain")?.split(separator: ".").first
                tenants.append((id, String(domain ?? id.prefix(8))))
            }
            let home = identity.split(separator: ".").last.map(String.init)
            return tenants.isEmpty ? [(home, String((home ?? "").prefix(8)))] : tenants
        }
    }

    /// The accounts of one refresh token. Microsoft accepts it in each tenant of the person.
    private static func accounts(
        _ entry: Entry,
        _ tenants: [(id: String?, label: String)],
        _ others: [MovableAccount],
        _ origin: String
    ) -> [MovableAccount] {
        var accounts: [MovableAccount] = []
        for tenant in tenants {
            // The person's first account has the plain name. A tenant's id tells apart what has the same label.
            let plain = entry.user ?? "azure"
            let names = [plain, "\(plain)-\(tenant.label)", "\((tenant.id ?? "").prefix(36))-\(plain)"]
                .map { MovableAccount.name(from: $0, fallback: "azure") }
            let name = names.first { name in !(others + accounts).contains { $0.settings.name == name } }
            let settings = AccountSettings(name: name ?? names[0], clientId: entry.client) {
                let asked = entry.token.text("target").map { $0.split(separator: " ").map(String.init) } ?? []
                $0.scopes =
                    ["openid", "profile", "offline_access"]
                    + (asked.isEmpty ? [management(entry.cloud ?? .worldwide)] : asked)
                $0.username = entry.user
            }
            var account = MovableAccount(
                source: .azureCLI,
                sourceName: entry.user,
                settings: settings,
                refreshToken: entry.secret,
                origin: origin
            )
            if let cloud = entry.cloud {
                account.take(NamedServer(entra: cloud, tenant: tenant.id))
            } else {
                account.settings.issuer = "https://\(entry.host)/\(tenant.id ?? "common")/v2.0"
                account.settings.providerSettings = [
                    "token_endpoint": "https://\(entry.host)/\(tenant.id ?? "common")/oauth2/v2.0/token"
                ]
                account.notes.append("The issuer is a guess: the cache names only the server '\(entry.host)'.")
            }
            accounts.append(account)
        }
        return accounts
    }

    /// The scope that Azure CLI requests, for the resource manager.
    private static func management(_ cloud: EntraCloud) -> String {
        switch cloud {
        case .worldwide: "https://management.core.windows.net//.default"
        case .usGovernment: "https://management.core.usgovcloudapi.net//.default"
        case .china: "https://management.core.chinacloudapi.cn//.default"
        }
    }
}
