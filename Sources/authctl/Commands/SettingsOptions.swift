internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// The options that describe an account, for `add` and `edit`.
struct SettingsOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The authorization server's identifier: an https URL.", valueName: "url"))
    var issuer: String?

    @Option(
        help: ArgumentHelp("A provider profile known to the daemon.", valueName: "name"),
        completion: DaemonCompletion.providers
    )
    var provider: String?

    @Option(help: ArgumentHelp("The tenant at the provider, as --set tenant=NAME.", valueName: "name"))
    var tenant: String?

    @Option(help: ArgumentHelp("The policy at the provider (Azure AD B2C), as --set policy=NAME.", valueName: "name"))
    var policy: String?

    @Option(help: ArgumentHelp("Your own host name at the provider, as --set domain=NAME.", valueName: "host"))
    var domain: String?

    @Option(help: ArgumentHelp("The realm at the provider (Keycloak), as --set realm=NAME.", valueName: "name"))
    var realm: String?

    @Option(
        help: ArgumentHelp(
            "A value that the provider's profile asks for, see '\(InvokedAs.here) provider show'; may be given several times.",
            valueName: "name=value"
        )
    )
    var `set`: [String] = []

    @Option(
        help: ArgumentHelp(
            "A key of the provider's profile, with a value for this account only, see provider-profile.yaml(5); may be given several times.",
            valueName: "key=value"
        )
    )
    var providerSetting: [String] = []

    @Option(help: ArgumentHelp("The client id that the server gave you.", valueName: "id"))
    var clientId: String?

    @Option(
        help: ArgumentHelp(
            "A file with the client secret, or JSON that names the client, such as what Google's console downloads; '-' reads standard input, or asks on the terminal.",
            valueName: "file"
        ),
        completion: .file()
    )
    var clientSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "When the server stops accepting the secret: 2027-05-31. You are told two weeks ahead.",
            valueName: "date"
        )
    )
    var clientSecretExpires: CalendarDate?

    @Option(
        help: ArgumentHelp(
            """
            none, client_secret_basic, client_secret_post, client_secret_jwt, private_key_jwt, tls_client_auth or \
            self_signed_tls_client_auth. Default: the daemon finds out.
            """,
            valueName: "method"
        ),
        completion: .list([
            "none", "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt",
            "tls_client_auth", "self_signed_tls_client_auth",
        ])
    )
    var clientAuth: String?

    @Option(
        help: ArgumentHelp(
            """
            A file with the client's private key: PEM, JWK, Apple's .p8 or Google's JSON. For the tls methods the \
            certificate is in it, too.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var clientKeyFile: String?

    @Option(help: ArgumentHelp("The id of that key (kid), as the server knows it.", valueName: "id"))
    var clientKeyId: String?

    @Option(
        help: ArgumentHelp(
            """
            The absolute path of a file with a JWT that another issuer has made about the client, such as a projected token of \
            Kubernetes. The daemon reads it for each request, and sends it instead of a secret.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var clientAssertionFile: String?

    @Option(
        help: ArgumentHelp(
            "What your programs can do, told to Entra (xms_cc): cp1 if they pass on claims challenges. May be given several times.",
            valueName: "name"
        )
    )
    var clientCapability: [String] = []

    @Option(help: ArgumentHelp("Apple's identifier of the developer team.", valueName: "id"))
    var teamId: String?

    @Flag(help: "With --dpop: also accept access tokens that are not bound to the key (Bearer).")
    var acceptBearer = false

    @Option(
        help: ArgumentHelp(
            "The algorithm of the server's signature on ID tokens: HS256 if it signs with the client secret.",
            valueName: "algorithm"
        )
    )
    var idTokenAlg: String?

    @Option(
        help: ArgumentHelp(
            "The user that a jwt-bearer token is for (sub). Default: the client itself.",
            valueName: "name"
        )
    )
    var assertionSubject: String?

    @Option(
        help: ArgumentHelp("The audience of the assertion (aud). Default: the token endpoint's URL.", valueName: "url")
    )
    var assertionAudience: String?

    @Option(help: ArgumentHelp("How long an assertion is valid, up to 1h. Default: 2m.", valueName: "time"))
    var assertionLifetime: LengthOfTime?

    @Option(help: ArgumentHelp("A scope of the grant; may be given several times.", valueName: "scope"))
    var scope: [String] = []

    @Option(help: ArgumentHelp("The audience of the tokens, as --param audience=NAME.", valueName: "name"))
    var audience: String?

    @Option(
        help: ArgumentHelp(
            "The resource that the tokens are for (RFC 8707), as --param resource=URI.",
            valueName: "uri"
        )
    )
    var resource: String?

    @Option(
        help: ArgumentHelp(
            "A parameter to add to refresh requests; may be given several times. Not for secrets.",
            valueName: "name=value"
        )
    )
    var param: [String] = []

    @Option(
        help: ArgumentHelp(
            "A parameter to add to authorization requests; may be given several times. Not for secrets.",
            valueName: "name=value"
        )
    )
    var authorizationParameter: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with the authorization details to ask for (RFC 9396), a JSON array; '-' reads standard input.",
            valueName: "file"
        ),
        completion: .file()
    )
    var authorizationDetails: String?

    @Option(
        help: ArgumentHelp(
            "The redirect URI that the client is registered with: on loopback, a page of yours, or with a scheme of yours.",
            valueName: "uri"
        )
    )
    var redirectUri: String?

    @Option(
        help: ArgumentHelp("The loopback port that the client is registered with. Default: any.", valueName: "port")
    )
    var redirectPort: Int64?

    @Option(
        help: ArgumentHelp("The URI scheme that the client is registered with: org.example.mail.", valueName: "scheme")
    )
    var redirectScheme: String?

    @Flag(help: "Refuse a sign-in whose answer does not name its issuer (RFC 9207).")
    var requireIss = false

    @Option(
        help: ArgumentHelp(
            "Where the browser goes after a sign-out at the server; it must be registered there.",
            valueName: "uri"
        )
    )
    var postLogoutRedirectUri: String?

    @Option(
        help: ArgumentHelp(
            "The browser to sign in with, by its name: firefox, or a desktop entry. Its profile may be signed in already.",
            valueName: "name"
        )
    )
    var loginBrowser: String?

    @Option(
        help: ArgumentHelp(
            "The kind of window to sign in with: private, or temporary-profile.",
            valueName: "kind"
        ),
        completion: .list(LoginWindow.allCases.map(\.rawValue))
    )
    var loginWindow: String?

    @Option(help: ArgumentHelp("Refresh this long before the access token expires: 5m.", valueName: "time"))
    var leadTime: LengthOfTime?

    @Option(help: ArgumentHelp("How long the server still accepts a rotated refresh token: 30s.", valueName: "time"))
    var rotationGrace: LengthOfTime?

    @Option(help: ArgumentHelp("How long an unused refresh token stays valid: 90d.", valueName: "time"))
    var refreshTokenLifetime: LengthOfTime?

    @Option(
        help: ArgumentHelp(
            "A systemd unit whose programs may get the tokens, such as mbsync.service; may be given several times.",
            valueName: "unit"
        )
    )
    var allowUnit: [String] = []

    @Option(
        help: ArgumentHelp(
            "A program that may get the tokens, by its path. A program that runs authctl counts as authctl.",
            valueName: "path"
        ),
        completion: .file()
    )
    var allowExecutable: [String] = []

    @Flag(help: "Ask on the desktop before a program gets one of the account's tokens.")
    var confirm = false

    @Option(
        help: ArgumentHelp("Sign out by itself this long after each sign-in, with a unit: 8h, 30d.", valueName: "time"),
        transform: LengthOfTime.withUnit
    )
    var forgetAfter: LengthOfTime?

    @Option(
        help: ArgumentHelp(
            "An address for which git, docker and other tools use this account; may be given several times.",
            valueName: "url"
        )
    )
    var url: [String] = []

    @Option(
        help: ArgumentHelp(
            "The user name that goes with the token there. Default: the provider profile's.",
            valueName: "name"
        )
    )
    var username: String?

    @Option(
        help: ArgumentHelp(
            "Keep the token in a file with this name in $XDG_RUNTIME_DIR/authrefreshd/tokens. Default: the account's name.",
            valueName: "name"
        )
    )
    var tokenFile: String?

    @Option(
        help: ArgumentHelp("What that file contains: access, id, json or bearer-header.", valueName: "kind"),
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
        let named = ["tenant": tenant, "policy": policy, "domain": domain, "realm": realm]
        settings.variables = try Self.variables(named, set: set)
        settings.providerSettings = try providerSettings()
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
        settings.scopes = scopes
        settings.refreshParameters = try refreshParameters()
        settings.authorizationParameters = try authorizationParameters()
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

    /// The scope tokens; nil if none were given. One option may contain several, because scopes are often copied
    /// together with their spaces.
    var scopes: [String]? {
        let tokens = scope.flatMap { $0.split(separator: " ").map(String.init) }
        return tokens.isEmpty ? nil : tokens
    }

    /// The values of the provider profile's variables, from options of their own and from `--set`; nil if none were given.
    ///
    /// - Throws: `usage`.
    static func variables(_ named: [String: String?], set texts: [String]) throws(Report) -> [String: String]? {
        var variables = named.compactMapValues(\.self)
        for text in texts {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw .usage("'--set' takes a name and a value", hint: "--set tenant=organizations")
            }
            let name = String(text[..<equals])
            guard variables.updateValue(String(text[text.index(after: equals)...]), forKey: name) == nil else {
                throw .usage("'\("--set")' gives '\(name)' twice", hint: "use '\("--set")' once for each name")
            }
        }
        return variables.isEmpty ? nil : variables
    }
}

/// The options with parameters of requests.
extension SettingsOptions {
    /// Request parameters with secret values (RFC 6749, RFC 7521). They must not be given as arguments.
    static let secretParameters: Set<String> = [
        "client_secret", "refresh_token", "access_token", "client_assertion", "assertion", "password", "code",
    ]

    /// The extra parameters of refresh requests; nil if none were given.
    ///
    /// - Throws: `usage`, `secretAsArgument`.
    func refreshParameters() throws(Report) -> [String: String]? {
        var parameters: [String: String] = [:]
        for (name, value) in [("audience", audience), ("resource", resource)] { parameters[name] = value }
        try Self.add(param, of: "--param", example: "resource=https://…", to: &parameters)
        return parameters.isEmpty ? nil : parameters
    }

    /// The extra parameters of authorization requests; nil if none were given.
    ///
    /// - Throws: `usage`, `secretAsArgument`.
    func authorizationParameters() throws(Report) -> [String: String]? {
        var parameters: [String: String] = [:]
        let option = "--authorization-parameter"
        try Self.add(authorizationParameter, of: option, example: "display=popup", to: &parameters)
        return parameters.isEmpty ? nil : parameters
    }

    /// The settings that replace the provider profile's; nil if none were given.
    ///
    /// - Throws: `usage`, `secretAsArgument`.
    func providerSettings() throws(Report) -> [String: String]? {
        var settings: [String: String] = [:]
        try Self.add(providerSetting, of: "--provider-setting", example: "scope_separator=,", to: &settings)
        return settings.isEmpty ? nil : settings
    }

    private static func add(
        _ texts: [String],
        of option: String,
        example: String,
        to parameters: inout [String: String]
    ) throws(Report) {
        for text in texts {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw .usage("'\(option)' takes a name and a value", hint: "\(option) \(example)")
            }
            let name = String(text[..<equals])
            guard !secretParameters.contains(name.lowercased()) else {
                throw .secretAsArgument("\(option) \(name.lowercased())")
            }
            guard parameters.updateValue(String(text[text.index(after: equals)...]), forKey: name) == nil else {
                throw .usage("'\(option)' gives '\(name)' twice", hint: "use '\(option)' once for each name")
            }
        }
    }

    /// The authorization details; nil if no file was given.
    ///
    /// - Throws: why the file cannot be read.
    static func details(in file: String?) throws(Report) -> String? {
        guard let file else { return nil }
        return try SecretFile(name: file, purpose: .document).read(prompt: nil).reveal()
    }
}
