internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// The options of kubelogin's command `get-token`, as a kubeconfig file has them.
struct KubeloginOptions {
    static let authorityNote =
        "The issuer's certificate authority was not taken over. Set 'ca_file' in authrefreshd.yaml."

    private let arguments: [String]

    init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// The account, without its grant.
    ///
    /// - Throws: `wrongFormat` if the issuer or the client is missing.
    func account(_ name: String, origin: String) throws(ProgramError) -> MovableAccount {
        guard let issuer = values("--oidc-issuer-url").last, let client = values("--oidc-client-id").last else {
            throw .wrongFormat(origin, expected: "an issuer and a client id for the user '\(name)'")
        }
        let settings = AccountSettings(
            name: MovableAccount.name(from: name, fallback: "kubernetes"),
            issuer: issuer,
            clientId: client
        ) {
            let scopes = values("--oidc-extra-scope").flatMap { $0.split(separator: ",").map(String.init) }
            $0.scopes = scopes.isEmpty ? nil : ["openid"] + scopes
            $0.redirectUri = redirectURI
            $0.authorizationParameters = parameters
        }
        var account = MovableAccount(
            source: .kubelogin,
            sourceName: name,
            settings: settings,
            clientSecret: values("--oidc-client-secret").last.map { Secret($0) },
            origin: origin,
            notes: notes(MovableAccount.name(from: name, fallback: "kubernetes"))
        )
        account.cacheFolder = values("--token-cache-dir").last
        return account
    }

    /// The redirect URI that kubelogin sends; nil if none of its options says so, because its default has two ports.
    private var redirectURI: String? {
        if let uri = values("--oidc-redirect-url").last { return uri }
        let host = values("--oidc-redirect-url-hostname").last
        let port = values("--listen-address").first?.split(separator: ":").last.map(String.init)
        guard host != nil || port != nil else { return nil }
        return "http://\(host ?? "localhost"):\(port ?? "8000")"
    }

    private var parameters: [String: String]? {
        let pairs = values("--oidc-auth-request-extra-params").flatMap { $0.split(separator: ",") }
            .compactMap { pair in
                pair.firstIndex(of: "=").map { (String(pair[..<$0]), String(pair[pair.index(after: $0)...])) }
            }
        return pairs.isEmpty ? nil : Dictionary(pairs) { $1 }
    }

    /// What the account does not have of its user in kubelogin.
    private func notes(_ name: String) -> [Hint] {
        var notes: [Hint] = []
        if has("--certificate-authority") || has("--certificate-authority-data") {
            notes.append(Hint(Self.authorityNote))
        }
        if has("--insecure-skip-tls-verify") {
            notes.append("The server's certificate is always checked. Set 'ca_file' in authrefreshd.yaml.")
        }
        if has("--oidc-request-header") {
            notes.append("The headers of '--oidc-request-header' were not taken over.")
        }
        if let grant = values("--grant-type").last, !["auto", "authcode", "authcode-browser"].contains(grant) {
            notes.append("The grant type '\(grant)' is not a setting of the account.")
        }
        if values("--token-cache-storage").last == "keyring" {
            notes.append("kubelogin has the grant in the keyring, from where it cannot be taken over.")
        }
        if has("--oidc-use-access-token") {
            notes.append(
                "kubelogin gave the access token. Do so here: \(Command("kube-credential", name, "--use-access-token"))"
            )
        }
        return notes
    }

    private func has(_ option: String) -> Bool {
        arguments.contains { $0 == option || $0.hasPrefix(option + "=") && $0 != option + "=false" }
    }

    /// The values of an option, which may be written as one word or as two.
    private func values(_ option: String) -> [String] {
        var values: [String] = []
        for (place, argument) in arguments.enumerated() {
            if argument.hasPrefix(option + "=") {
                values.append(String(argument.dropFirst(option.count + 1)))
            } else if argument == option, place + 1 < arguments.count {
                values.append(arguments[place + 1])
            }
        }
        return values.map(SourceText.unquoted).filter { !$0.isEmpty }
    }
}
