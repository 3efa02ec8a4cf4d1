internal import AuthRefreshInterface
internal import Basics

/// Reads an account of oidc-agent, in the form that `oidc-gen -p NAME` prints.
enum OIDCAgentAccount {
    private static let expected = "the account configuration that 'oidc-gen -p' prints"

    /// Reads the account.
    ///
    /// - Throws: `wrongFormat`, `tooLarge`.
    static func account(in bytes: [UInt8], origin: String) throws(ProgramError) -> MovableAccount {
        let fields = try JSONFields(bytes, origin: origin, expected: expected)
        guard let issuer = fields.text("issuer_url"), let client = fields.text("client_id") else {
            throw .wrongFormat(origin, expected: expected)
        }
        let name = MovableAccount.name(from: fields.text("name") ?? "", fallback: "oidc-agent")
        let settings = AccountSettings(name: name, issuer: issuer, clientId: client) {
            $0.scopes = fields.text("scope").map { $0.split(separator: " ").map(String.init) }
            $0.redirectUri = fields.texts("redirect_uris")?.first(where: isLoopback)
            // For a server without metadata, oidc-agent has the endpoints.
            if let endpoint = fields.text("token_endpoint") {
                $0.providerSettings = ["token_endpoint": endpoint]
                $0.providerSettings?["authorization_endpoint"] = fields.text("authorization_endpoint")
            }
        }
        var notes: [Hint] = []
        if let audience = fields.text("audience") {
            let command = Command("token", name, "--audience", audience)
            notes.append("The audience is not a setting of the account. Ask for it: \(command)")
        }
        // The refresh token of such an account is for a mytoken server, and not for the issuer.
        let mytoken = fields.text("mytoken_url")
        if let mytoken { notes.append("The grant belongs to the mytoken server '\(mytoken)'. Sign in again.") }
        if fields.text("refresh_token") == nil { notes.append(Hint(SourceProgram.oidcAgent.noRefreshToken)) }
        return MovableAccount(
            source: .oidcAgent,
            settings: settings,
            clientSecret: mytoken == nil ? fields.secret("client_secret") : nil,
            refreshToken: mytoken == nil ? fields.secret("refresh_token") : nil,
            origin: origin,
            notes: notes
        )
    }

    private static func isLoopback(_ uri: String) -> Bool {
        ["http://localhost", "http://127.0.0.1"].contains { prefix in
            uri.hasPrefix(prefix) && [nil, ":", "/"].contains(uri.dropFirst(prefix.count).first)
        }
    }

    /// The accounts among the files in oidc-agent's folder. The other files are its own settings, and client
    /// configurations of unfinished accounts.
    static func names(among files: [String]) -> [String] {
        files.filter { file in
            !file.hasPrefix(".") && ![".config", ".clientconfig", ".conf", ".log"].contains { file.hasSuffix($0) }
        }.sorted()
    }
}
