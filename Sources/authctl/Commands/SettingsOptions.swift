internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// The options that describe an account, for `add` and `edit`.
struct SettingsOptions: ParsableArguments {
    @Option(help: .value("url", "The authorization server's identifier: an https URL."))
    var issuer: String?

    @Option(help: .value("name", "A provider profile known to the daemon."), completion: DaemonCompletion.providers)
    var provider: String?

    @Option(help: .value("name", "The tenant at the provider, as --set tenant=NAME."))
    var tenant: String?

    @Option(help: .value("name", "The policy at the provider (Azure AD B2C), as --set policy=NAME."))
    var policy: String?

    @Option(help: .value("host", "Your own host name at the provider, as --set domain=NAME."))
    var domain: String?

    @Option(help: .value("name", "The realm at the provider (Keycloak), as --set realm=NAME."))
    var realm: String?

    @Option(
        help: .value(
            "name=value",
            "A value that the provider's profile asks for, see '\(InvokedAs.here) provider show'; may be given several times."
        )
    )
    var `set`: [String] = []

    @Option(
        help: .value(
            "key=value",
            "A key of the provider's profile, with a value for this account only, see provider-profile.yaml(5); may be given several times."
        )
    )
    var providerSetting: [String] = []

    @Option(help: .value("id", "The client id that the server gave you."))
    var clientId: String?

    @Option(
        help: .value(
            "file",
            "A file with the client secret, or JSON that names the client, such as what Google's console downloads; '-' reads standard input, or asks on the terminal."
        ),
        completion: .file()
    )
    var clientSecretFile: String?

    @Option(
        help: .value("date", "When the server stops accepting the secret: 2027-05-31. You are told two weeks ahead.")
    )
    var clientSecretExpires: CalendarDate?

    @Option(
        help: .value(
            "method",
            """
            none, client_secret_basic, client_secret_post, client_secret_jwt, private_key_jwt, tls_client_auth or \
            self_signed_tls_client_auth. Default: the daemon finds out.
            """
        ),
        completion: .list([
            "none", "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt",
            "tls_client_auth", "self_signed_tls_client_auth",
        ])
    )
    var clientAuth: String?

    @Option(
        help: .value(
            "file",
            """
            A file with the client's private key: PEM, JWK, Apple's .p8 or Google's JSON. For the tls methods the \
            certificate is in it, too.
            """
        ),
        completion: .file()
    )
    var clientKeyFile: String?

    @Option(help: .value("id", "The id of that key (kid), as the server knows it."))
    var clientKeyId: String?

    @Option(
        help: .value(
            "file",
            """
            The absolute path of a file with a JWT that another issuer has made about the client, such as a projected token of \
            Kubernetes. The daemon reads it for each request, and sends it instead of a secret.
            """
        ),
        completion: .file()
    )
    var clientAssertionFile: String?

    @Option(
        help: .value(
            "name",
            "What your programs can do, told to Entra (xms_cc): cp1 if they pass on claims challenges. May be given several times."
        )
    )
    var clientCapability: [String] = []

    @Option(help: .value("id", "Apple's identifier of the developer team."))
    var teamId: String?

    @Flag(help: "With --dpop: also accept access tokens that are not bound to the key (Bearer).")
    var acceptBearer = false

    @Option(
        help: .value(
            "algorithm",
            "The algorithm of the server's signature on ID tokens: HS256 if it signs with the client secret."
        )
    )
    var idTokenAlg: String?

    @Option(help: .value("name", "The user that a jwt-bearer token is for (sub). Default: the client itself."))
    var assertionSubject: String?

    @Option(help: .value("url", "The audience of the assertion (aud). Default: the token endpoint's URL."))
    var assertionAudience: String?

    @Option(help: .value("time", "How long an assertion is valid, up to 1h. Default: 2m."))
    var assertionLifetime: LengthOfTime?

    @Option(help: .value("scope", "A scope of the grant; may be given several times."))
    var scope: [String] = []

    @Option(help: .value("name", "The audience of the tokens, as --param audience=NAME."))
    var audience: String?

    @Option(help: .value("uri", "The resource that the tokens are for (RFC 8707), as --param resource=URI."))
    var resource: String?

    @Option(
        help: .value(
            "name=value",
            "A parameter to add to refresh requests; may be given several times. Not for secrets."
        )
    )
    var param: [String] = []

    @Option(
        help: .value(
            "name=value",
            "A parameter to add to authorization requests; may be given several times. Not for secrets."
        )
    )
    var authorizationParameter: [String] = []

    @Option(
        help: .value(
            "file",
            "A file with the authorization details to ask for (RFC 9396), a JSON array; '-' reads standard input."
        ),
        completion: .file()
    )
    var authorizationDetails: String?

    @Option(
        help: .value(
            "uri",
            "The redirect URI that the client is registered with: on loopback, a page of yours, or with a scheme of yours."
        )
    )
    var redirectUri: String?

    @Option(help: .value("port", "The loopback port that the client is registered with. Default: any."))
    var redirectPort: Int64?

    @Option(help: .value("scheme", "The URI scheme that the client is registered with: org.example.mail."))
    var redirectScheme: String?

    @Flag(help: "Refuse a sign-in whose answer does not name its issuer (RFC 9207).")
    var requireIss = false

    @Option(help: .value("uri", "Where the browser goes after a sign-out at the server; it must be registered there."))
    var postLogoutRedirectUri: String?

    @Option(
        help: .value(
            "name",
            "The browser to sign in with, by its name: firefox, or a desktop entry. Its profile may be signed in already."
        )
    )
    var loginBrowser: String?

    @Option(
        help: .value("kind", "The kind of window to sign in with: private, or temporary-profile."),
        completion: .list(LoginWindow.allCases.map(\.rawValue))
    )
    var loginWindow: String?

    @Option(help: .value("time", "Refresh this long before the access token expires: 5m."))
    var leadTime: LengthOfTime?

    @Option(help: .value("time", "How long the server still accepts a rotated refresh token: 30s."))
    var rotationGrace: LengthOfTime?

    @Option(help: .value("time", "How long an unused refresh token stays valid: 90d."))
    var refreshTokenLifetime: LengthOfTime?

    @Option(
        help: .value(
            "unit",
            "A systemd unit whose programs may get the tokens, such as mbsync.service; may be given several times."
        )
    )
    var allowUnit: [String] = []

    @Option(
        help: .value(
            "path",
            "A program that may get the tokens, by its path. A program that runs authctl counts as authctl."
        ),
        completion: .file()
    )
    var allowExecutable: [String] = []

    @Flag(help: "Ask on the desktop before a program gets one of the account's tokens.")
    var confirm = false

    @Option(
        help: .value("time", "Sign out by itself this long after each sign-in, with a unit: 8h, 30d."),
        transform: LengthOfTime.withUnit
    )
    var forgetAfter: LengthOfTime?

    @Option(
        help: .value(
            "url",
            "An address for which git, docker and other tools use this account; may be given several times."
        )
    )
    var url: [String] = []

    @Option(help: .value("name", "The user name that goes with the token there. Default: the provider profile's."))
    var username: String?

    @Option(
        help: .value(
            "name",
            "Keep the token in a file with this name in $XDG_RUNTIME_DIR/authrefreshd/tokens. Default: the account's name."
        )
    )
    var tokenFile: String?

    @Option(
        help: .value("kind", "What that file contains: access, id, json or bearer-header."),
        completion: .list(["access", "id", "json", "bearer-header"])
    )
    var tokenFileKind: String?

    /// Writes the given options into `settings`, and leaves the rest as it is.
    ///
    /// Files are not read here: `authorizationDetails` has one.
    ///
    /// - Throws: `usage`, `secretAsArgument`.
    func apply(to settings: inout AccountSettings) throws(Report) {
        settings.issuer = issuer
        settings.provider = provider
        settings.clientId = clientId
        settings.clientAuthentication = clientAuth
        settings.clientKeyId = clientKeyId
        settings.clientAssertionFile = clientAssertionFile
        settings.clientCapabilities = clientCapability.isEmpty ? nil : clientCapability
        settings.teamId = teamId
        settings.acceptBearer = acceptBearer ? true : nil
        settings.idTokenAlgorithm = idTokenAlg
        settings.assertionSubject = assertionSubject
        settings.assertionAudience = assertionAudience
        settings.assertionLifetimeSec = assertionLifetime?.seconds
        let scopes = scope.flatMap(TokenRequest.scopeTokens)
        settings.scopes = scopes.isEmpty ? nil : scopes
        settings.redirectUri = redirectUri
        settings.redirectPort = redirectPort
        settings.redirectScheme = redirectScheme
        settings.requireIss = requireIss ? true : nil
        settings.postLogoutRedirectUri = postLogoutRedirectUri
        settings.loginBrowser = loginBrowser
        settings.loginWindow = loginWindow
        settings.leadTimeSec = leadTime?.seconds
        settings.rotationGraceSec = rotationGrace?.seconds
        settings.refreshTokenLifetimeSec = refreshTokenLifetime?.seconds
        settings.allowedUnits = allowUnit.isEmpty ? nil : allowUnit
        settings.allowedExecutables = allowExecutable.isEmpty ? nil : allowExecutable
        settings.confirm = confirm ? true : nil
        settings.forgetAfterSec = forgetAfter?.seconds
        settings.urls = url.isEmpty ? nil : url
        settings.username = username
        settings.tokenFile = tokenFile
        settings.tokenFileKind = tokenFileKind
        try applyMembers(to: &settings)
    }

    /// Writes the options with names and values.
    private func applyMembers(to settings: inout AccountSettings) throws(Report) {
        let variables = ["tenant": tenant, "policy": policy, "domain": domain, "realm": realm]
        settings.variables = try Self.variables(variables, set: set)
        let option = "--provider-setting"
        settings.providerSettings = try Self.members(providerSetting, of: option, example: "scope_separator=,")
        let target = ["audience": audience, "resource": resource]
        let example = "resource=https://…"
        settings.refreshParameters = try Self.members(param, of: "--param", example: example, besides: target)
        settings.authorizationParameters = try Self.members(
            authorizationParameter,
            of: "--authorization-parameter",
            example: "display=popup"
        )
    }

    /// `arguments` with the account's own name added after a lone `--token-file` of `account add` or `edit`, because the
    /// parser knows no option with an optional value.
    static func nameTokenFile(in arguments: [String]) -> [String] {
        guard arguments.count > 2, arguments[0] == "account", ["add", "edit"].contains(arguments[1]),
            let place = arguments.firstIndex(of: "--token-file")
        else { return arguments }
        let next = arguments.index(after: place)
        // A word that begins with "-" is not a file name.
        let isAlone = next == arguments.endIndex || arguments[next].hasPrefix("-")
        guard isAlone, !arguments[2].hasPrefix("-") else { return arguments }
        var filled = arguments
        filled.insert(arguments[2], at: next)
        return filled
    }

    /// Request parameters with secret values (RFC 6749, RFC 7521). They must not be given as arguments.
    static let secretParameters: Set<String> = [
        "client_secret", "refresh_token", "access_token", "client_assertion", "assertion", "password", "code",
    ]

    /// The named values from options of their own, and from an option with names and values; nil if none were given.
    ///
    /// - Parameter secrets: names whose values would be secrets.
    /// - Throws: `usage`, `secretAsArgument`.
    static func members(
        _ texts: [String],
        of option: String,
        example: String,
        besides named: [String: String?] = [:],
        secrets: Set<String> = secretParameters
    ) throws(Report) -> [String: String]? {
        var members = named.compactMapValues(\.self)
        for text in texts {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw .usage("'\(option)' takes a name and a value", hint: "\(option) \(example)")
            }
            let name = String(text[..<equals])
            guard !secrets.contains(name.lowercased()) else {
                throw .secretAsArgument("\(option) \(name.lowercased())")
            }
            guard members.updateValue(String(text[text.index(after: equals)...]), forKey: name) == nil else {
                throw .usage("'\(option)' gives '\(name)' twice", hint: "use '\(option)' once for each name")
            }
        }
        return members.isEmpty ? nil : members
    }

    /// The values of the provider profile's variables.
    static func variables(_ named: [String: String?], set texts: [String]) throws(Report) -> [String: String]? {
        try members(texts, of: "--set", example: "tenant=organizations", besides: named, secrets: [])
    }

    /// The authorization details; nil if no file was given.
    ///
    /// - Throws: why the file cannot be read.
    static func details(in file: String?) throws(Report) -> String? {
        guard let file else { return nil }
        return try SecretFile(name: file, purpose: .document).read(prompt: nil).reveal()
    }
}
