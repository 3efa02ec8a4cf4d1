internal import AuthRefreshInterface
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// A text about a setting or an argument that cannot be used, in its three parts.
///
/// `authctl` shows them as "error: the client id cannot be used: REASON" and "hint: HINT".
protocol RefusedValue: Hashable, Sendable {
    /// The name on the wire; why the value cannot be used; what to give instead: an option, a command, an example of
    /// the value, or nil where the reason says it.
    var texts: (field: String, reason: String, hint: String?) { get }
}

extension VarlinkError {
    /// A setting or an argument that cannot be used.
    static func invalid(_ value: some RefusedValue) -> VarlinkError {
        let (field, reason, hint) = value.texts
        return VarlinkError(InvalidSettingsError(field: field, reason: reason, hint: hint))
    }
}

/// A setting that cannot be used: one that is wrong as a text, or one that says which server is asked.
enum WrongSetting: RefusedValue {
    // Any setting.
    case empty(field: String)
    /// `flaw` completes "it …".
    case unreadable(field: String, flaw: String)
    case timeOutOfRange(field: String)
    case cannotBeCleared(field: String)
    case noAccountName(field: String, name: String)

    // The server and its profile.
    case noIssuer(hasProvider: Bool)
    case issuerNotAbsolute(url: String)
    case issuerNotHTTPS(url: String)
    case issuerHasQuery
    case issuerHasUserName
    case unknownProvider(name: String, nearest: String?, known: [String])
    /// `reason` is what the reader of profiles says.
    case providerSetting(reason: String)
    case variableAsProviderSetting(name: String)
    case variablesWithoutProvider
    case unknownVariable(name: String, provider: String, known: [String])
    case unfitVariable(name: String, value: String, help: String, pattern: String?)
    case missingVariables([Variable])
    case missing(MissingSetting)
    case secretOfOtherServer(account: String)
    case grantOfOtherServer(field: String, issuer: String, account: String)

    /// A variable of a provider's profile.
    struct Variable: Hashable {
        let name: String
        let help: String
    }
}

extension WrongSetting {
    var texts: (field: String, reason: String, hint: String?) {
        switch self {
        case .empty(let field): (field, "it is empty", nil)
        case .unreadable(let field, let flaw): (field, "it \(flaw)", nil)
        case .timeOutOfRange(let field): (field, "it must be from 1 s to 100 years", nil)
        case .cannotBeCleared(let field): ("clear", "the setting '\(field)' cannot be emptied", nil)
        case .noAccountName(let field, let name):
            (field, "'\(name)' is not an account name", "1 to 64 letters, digits and ._@+-, not starting with . or -")
        case .noIssuer(true): ("issuer", "it is missing, and this provider has no issuer for all", "--issuer URL")
        case .noIssuer(false): ("issuer", "it is missing", "--issuer URL, or --provider NAME")
        case .issuerNotAbsolute(let url):
            (
                "issuer", "'\(url)' is not an absolute URL",
                url.contains(":") ? "https://issuer.example" : "https://\(url)"
            )
        case .issuerNotHTTPS(let url):
            (
                "issuer", "'\(url)' is not https: the refresh token would cross the network unencrypted",
                "use https; http is accepted for loopback addresses only"
            )
        case .issuerHasQuery:
            ("issuer", "an issuer has no query and no fragment", "leave out everything from '?' or '#' on")
        case .issuerHasUserName: ("issuer", "an issuer has no user name in it", "https://issuer.example")
        case .unknownProvider(let name, let nearest, let known):
            (
                "provider", "there is no provider profile '\(name)'",
                (nearest.map { "did you mean '\($0)'? " } ?? "") + Self.list(known, orElse: "no profile is installed")
            )
        case .providerSetting(let reason): ("providerSettings", reason, "man provider-profile.yaml")
        case .variableAsProviderSetting(let name):
            ("providerSettings", "'\(name)' is a variable of the profile", "--set \(name)=VALUE")
        case .variablesWithoutProvider:
            ("variables", "variables belong to a provider, and none is named", "--provider NAME")
        case .unknownVariable(let name, let provider, let known):
            (
                "variables", "the provider '\(provider)' has no variable '\(name)'",
                Self.list(known, orElse: "it has no variables")
            )
        case .unfitVariable(let name, let value, let help, let pattern):
            (
                "variables", "'\(value)' cannot be the \(name): \(help)",
                pattern.map { "it must match \($0)" } ?? "letters, digits and ._-"
            )
        case .missingVariables(let variables):
            (
                "variables", variables.map { "'\($0.name)' is missing (\($0.help))" }.joined(separator: ", "),
                variables.map { "--set \($0.name)=VALUE" }.joined(separator: " ")
            )
        case .missing(let missing): (missing.field, missing.reason, missing.hint())
        case .secretOfOtherServer(let account):
            (
                "keepSecret", "the new server would get the client secret or key that '\(account)' has for the old one",
                "--keep-secret if the new server knows this client too; else give another secret, or --clear client-secret"
            )
        case .grantOfOtherServer(let field, let issuer, let account):
            (
                field, "the account's grant belongs to '\(issuer)', and is sent nowhere else",
                "authctl logout \(account) first, or add another account"
            )
        }
    }

    private static func list(_ known: [String], orElse nothing: String) -> String {
        known.isEmpty ? nothing : "known: \(known.joined(separator: ", "))"
    }
}

extension MissingSetting {
    /// The setting's name on the wire.
    var field: String {
        switch setting {
        case .scopes: "scopes"
        case .redirectPort: "redirectPort"
        }
    }

    /// Lower case, no full stop.
    var reason: String {
        switch setting {
        case .scopes: "the provider gives an access token only for a scope of an API, and the account has none"
        case .redirectPort: "the provider compares the port of the redirect URI, and the account has none"
        }
    }

    /// The option that helps, with what the profile says about it.
    ///
    /// - Parameter command: what the option belongs to, with a space behind it; empty for the command that was just
    ///   given.
    func hint(after command: String = "") -> String {
        let option =
            switch setting {
            case .scopes: "--scope SCOPE"
            case .redirectPort: "--redirect-port PORT"
            }
        return command + option + (note.map { " (\($0))" } ?? "")
    }
}
