package import Basics

/// The authorization server that another program's file names. Secrets from that file go to this server only.
package struct NamedServer: Hashable, Sendable {
    package var issuer: String?
    package var provider: String?
    package var variables: [String: String]?
    package var providerSettings: [String: String]?
    /// What is worth knowing about it, in whole sentences.
    package var notes: [Hint] = []

    /// Creates a server that a provider profile describes.
    package init(provider: String, variables: [String: String]? = nil) {
        self.provider = provider
        self.variables = variables
    }

    /// Creates a server by its issuer.
    package init(issuer: String) {
        self.issuer = issuer
    }

    /// Creates the server of a token endpoint.
    ///
    /// Most programs store endpoints and not the issuer. If the issuer is a guess, the account still keeps exactly these
    /// endpoints, so that the server's metadata cannot send its secrets elsewhere.
    ///
    /// - Returns: nil if the address cannot be read.
    package init?(tokenEndpoint: String, authorizationEndpoint: String? = nil) {
        guard let address = Address(tokenEndpoint) else { return nil }
        if let known = NamedServer(known: address) {
            self = known
            return
        }
        providerSettings = ["token_endpoint": tokenEndpoint]
        if let authorizationEndpoint { providerSettings?["authorization_endpoint"] = authorizationEndpoint }
        if let realm = address.keycloakRealm {
            issuer = realm
        } else {
            issuer = address.origin
            notes = ["The issuer '\(address.origin)' is a guess: the file names only '\(tokenEndpoint)'."]
        }
    }

    /// Writes the server into an account's settings.
    package func place(in settings: inout AccountSettings) {
        settings.issuer = issuer
        settings.provider = provider
        settings.variables = variables
        settings.providerSettings = providerSettings
    }

    /// Whether an account at this provider or issuer is at this server, as far as the names tell.
    package func agrees(withProvider other: String?, issuer otherIssuer: String?) -> Bool {
        if let other { return provider == nil || provider == other }
        guard let otherIssuer, let provider else { return true }
        return NamedServer(tokenEndpoint: otherIssuer)?.provider == provider
    }

    /// Creates a server that is known by its host.
    private init?(known address: Address) {
        switch address.host {
        case "accounts.google.com", "oauth2.googleapis.com", "www.googleapis.com": self.init(provider: "google")
        case let host where host.hasPrefix("accounts.zoho."):
            let centre = String(host.dropFirst("accounts.zoho.".count))
            self.init(provider: "zoho", variables: centre == "com" ? nil : ["data_center": centre])
        case let host:
            guard let cloud = EntraCloud(host: host) else { return nil }
            self.init(entra: cloud, tenant: address.path.first.map(String.init))
        }
    }

    /// Creates Microsoft's server in one of its clouds.
    ///
    /// - Parameter tenant: nil means all tenants.
    package init(entra cloud: EntraCloud, tenant: String?) {
        var variables: [String: String] = [:]
        if let tenant, tenant != "common" { variables["tenant"] = tenant }
        if let name = cloud.variable { variables["cloud"] = name }
        self.init(provider: "microsoft", variables: variables.isEmpty ? nil : variables)
        if let name = cloud.variable {
            notes = ["The account is in Microsoft's cloud '\(name)', which has its own server."]
        }
    }

    /// The parts of an address that tell whose it is.
    private struct Address {
        let origin: String
        let host: String
        let path: [Substring]

        init?(_ url: String) {
            guard let scheme = ["https://", "http://"].first(where: url.lowercased().hasPrefix) else { return nil }
            let rest = url.dropFirst(scheme.count)
            let authority = rest.prefix { !"/?#".contains($0) }
            // An address with a password is not shown, and not used.
            guard !authority.isEmpty, !authority.contains("@") else { return nil }
            origin = scheme + authority
            host = authority.prefix { $0 != ":" }.lowercased()
            path = rest.dropFirst(authority.count).prefix { !"?#".contains($0) }.split(separator: "/")
        }

        /// The issuer of a Keycloak realm, whose endpoints are all below it.
        var keycloakRealm: String? {
            guard path.count > 4, path.suffix(3) == ["protocol", "openid-connect", "token"],
                path[path.count - 5] == "realms"
            else { return nil }
            return origin + "/" + path.dropLast(3).joined(separator: "/")
        }
    }
}

/// Microsoft Entra's clouds. Each is a separate server, and an account of one is unknown in the others ("National
/// clouds", Microsoft identity platform).
package enum EntraCloud: CaseIterable, Sendable {
    case worldwide, usGovernment, china

    /// The cloud that has this host; nil for other servers. The aliases are those of MSAL, `known_authority_hosts`.
    package init?(host: String) {
        switch host {
        case "login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net":
            self = .worldwide
        case "login.microsoftonline.us", "login.usgovcloudapi.net": self = .usGovernment
        case "login.partner.microsoftonline.cn", "login.chinacloudapi.cn": self = .china
        default: return nil
        }
    }

    /// The value of the variable `cloud` in the provider profile `microsoft`; nil for its default.
    var variable: String? {
        switch self {
        case .worldwide: nil
        case .usGovernment: "usgov"
        case .china: "china"
        }
    }
}
