/// What `authctl token` was asked for; both ways of reading the arguments end here.
struct TokenRequest: Hashable, Sendable {
    var account: String
    /// Seconds the token must still be valid. Nil: it must not have ended.
    var minimumValidity: Int64?
    /// Scope tokens of a token set of its own. Empty, as are the next two: the account's default token.
    var scopes: [String] = []
    /// Resource URIs (RFC 8707) of a token set of its own.
    var resources: [String] = []
    /// The audience of a token set of its own. Nil: none.
    var audience: String?
    /// Refresh even if the token is valid.
    var force = false
    var format = TokenFormat.raw
    /// Whose mailbox it is, for the SASL formats. Nil: the account's name says it, if it is an address.
    var user: String?
    /// The value of `--socket`.
    var socket: String?

    /// The scope tokens in the value of one option: scopes are often copied with their spaces.
    static func scopeTokens(of value: String) -> [String] {
        value.split(separator: " ").map(String.init)
    }
}

/// How `authctl token` prints a token.
enum TokenFormat: String, CaseIterable, Sendable {
    /// The access token alone.
    case raw
    /// An `Authorization` header line (RFC 9110 §11.6.2).
    case header
    /// The reply of `AcquireToken`: `accessToken`, `expiresAtUSec`, `tokenType`.
    case json
    /// Lines for a shell's `eval`: `export AUTHREFRESH_ACCESS_TOKEN='…'`.
    case env
    /// The initial response of SASL XOAUTH2, in base64, as Google and Microsoft describe it.
    case xoauth2
    /// The initial response of SASL OAUTHBEARER, in base64 (RFC 7628 §3.1).
    case oauthbearer

    /// Whether the form names whose mailbox the token is for.
    var needsUser: Bool {
        switch self {
        case .raw, .header, .json, .env: false
        case .xoauth2, .oauthbearer: true
        }
    }
}

/// Reads the arguments of `authctl token` by hand.
///
/// Mail clients start this command for every connection: the argument parser costs more than the question itself
/// (measured: 1.9 ms against 0.8 ms). What is not understood here, and every error, is left to the parser.
enum TokenArguments {
    /// The request, or nil if the parser must look at the arguments.
    ///
    /// - Parameter arguments: without the program's name; the first is the command.
    static func parse(_ arguments: [String]) -> TokenRequest? {
        guard arguments.first == "token" else { return nil }
        var account: String?
        var options = Options()
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-") else {
                guard account == nil, !argument.isEmpty else { return nil }
                account = argument
                continue
            }
            guard options.take(argument, from: &rest) else { return nil }
        }
        guard let account else { return nil }
        return TokenRequest(
            account: account,
            minimumValidity: options.minimumValidity,
            scopes: options.scopes,
            resources: options.resources,
            audience: options.audience,
            force: options.force,
            format: options.format ?? .raw,
            user: options.user,
            socket: options.socket
        )
    }

    private struct Options {
        var minimumValidity: Int64?
        var scopes: [String] = []
        var resources: [String] = []
        var audience: String?
        var force = false
        var format: TokenFormat?
        var user: String?
        var socket: String?

        /// Takes one option with its value; false if it is unknown, given twice or wrong.
        mutating func take(_ argument: String, from rest: inout ArraySlice<String>) -> Bool {
            switch argument {
            case "--force":
                guard !force else { return false }
                force = true
                return true
            case "--json":
                guard format == nil else { return false }
                format = .json
                return true
            default: break
            }
            let name: Substring
            let value: String
            if let equals = argument.firstIndex(of: "=") {
                name = argument[..<equals]
                value = String(argument[argument.index(after: equals)...])
            } else {
                guard let next = rest.popFirst() else { return false }
                name = argument[...]
                value = next
            }
            guard !value.isEmpty, !value.hasPrefix("-") else { return false }
            return set(name, to: value)
        }

        private mutating func set(_ name: Substring, to value: String) -> Bool {
            switch name {
            case "--min-validity" where minimumValidity == nil:
                minimumValidity = LengthOfTime(value)?.seconds
                return minimumValidity != nil
            case "--scope":
                let tokens = TokenRequest.scopeTokens(of: value)
                scopes += tokens
                return !tokens.isEmpty
            case "--resource":
                resources.append(value)
                return true
            case "--audience" where audience == nil:
                audience = value
                return true
            case "--format" where format == nil:
                format = TokenFormat(rawValue: value)
                return format != nil
            case "--user" where user == nil:
                user = value
                return true
            case "--socket" where socket == nil:
                socket = value
                return true
            default:
                return false
            }
        }
    }
}
