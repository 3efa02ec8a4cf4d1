package import AuthRefreshInterface

/// Finds the authorization server for programs that store its endpoints and not its issuer.
package enum KnownEndpoint {
    /// Sets the provider or the issuer that an endpoint belongs to.
    ///
    /// - Returns: a note for the user if the issuer is a guess; nil if the server is known.
    package static func place(_ endpoint: String, in settings: inout AccountSettings) -> String? {
        guard let (origin, host, path) = parts(of: endpoint) else {
            // The address is not shown, because it may contain a password.
            return "The address of the server cannot be read."
        }
        switch host {
        case "accounts.google.com", "oauth2.googleapis.com", "www.googleapis.com":
            settings.provider = "google"
        case "login.microsoftonline.com":
            settings.provider = "microsoft"
            if let tenant = path.first, tenant != "common" { settings.variables = ["tenant": String(tenant)] }
        default:
            settings.issuer = origin
            return "The issuer '\(origin)' is a guess: the program names only '\(endpoint)'."
        }
        return nil
    }

    private static func parts(of url: String) -> (origin: String, host: String, path: [Substring])? {
        guard let scheme = ["https://", "http://"].first(where: url.hasPrefix) else { return nil }
        let rest = url.dropFirst(scheme.count)
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        let path = rest.dropFirst(authority.count).prefix { !"?#".contains($0) }
        let host = authority.prefix { $0 != ":" }.lowercased()
        return (scheme + authority, host, path.split(separator: "/"))
    }
}
