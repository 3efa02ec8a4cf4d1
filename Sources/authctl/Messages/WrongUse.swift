internal import CommandLineProgram

/// Why the arguments do not fit together, with what to type instead.
enum WrongUse: Hashable, Sendable {
    /// The argument parser's message.
    case parser(message: String, hint: String)
    case socketWithoutPath
    case watchNeedsTerminal
    case noHome

    // Errors about which account is meant.
    case noAccountNamed
    case noAccounts
    /// `names` are the first of the accounts, ready to be shown.
    case severalAccounts(names: String)

    // Errors about an account's settings.
    /// `names` lists what is missing, such as `--client-id`. `provider` is the one that was named, ready to be shown.
    case missing(names: [String], provider: String?)
    case nothingToChange
    case cannotClear(known: [String])
    case unknownProvider(name: String, nearest: String?, known: [String])
    case noScopes(purpose: String, provider: String, nearest: String?, known: [String])
    case purposeNeedsProvider
    case variableWithoutValue
    case parameterWithoutValue(option: String, example: String)
    case parameterTwice(option: String, name: String)
    case registeredClientHasOwnID
    case registeredClientHasNoGrant
    case serviceAccountNeedsNoGrant
    case twoSecretsFromInput
    case initialTokenNeedsRegister
    case setUpOtherwise(account: String)
    case notForSignIn(account: String)
    case noTokenFile(account: String)
    case relativeLink
    case nobodyToAsk
    case notAWebAddress

    // Errors about imports.
    case noFileToImport
    case oneAccountBesideTokenFile
    case tokenWithoutAccount
    /// For `authctl import`, which takes accounts over from other programs.
    case fileOfNoProgram
    case allAndNames

    // Errors about printing a token.
    case noAuthorizationHeader
    case mailboxUnknown(format: String)
    case userNotPrintable
    case notBound(account: String)
    case outputIsText
    /// Docker compares this text with its own (docker-credential-helpers, `errCredentialsNotFoundMessage`).
    case noDockerCredentials
    case noDockerServer
    case passwordForNoAccount(server: String)
    case passwordForAccount(String, server: String)
    /// Google's libraries split the command at blanks.
    case unusableWord(String)
}

extension WrongUse {
    /// The error text: lower case, no full stop. Names are safe to show, because callers pass them through `PlainText`.
    var message: String {
        switch self {
        case .parser(let message, _): message
        case .socketWithoutPath: "'--socket' needs a path"
        case .watchNeedsTerminal: "'--watch' needs a terminal that can be drawn on"
        case .noHome: "the home folder is unknown: 'HOME' is not set"
        case .noAccountNamed: "the account's name is missing"
        case .noAccounts: "there are no accounts"
        case .severalAccounts: "the account's name is missing, and there are several accounts"
        case .missing(let names, _): "\(Self.list(names)) \(names.count == 1 ? "is" : "are") missing"
        case .nothingToChange: "there is nothing to change"
        case .cannotClear: "'--clear' does not know this setting"
        case .unknownProvider(let name, _, _): "the daemon knows no provider '\(name)'"
        case .noScopes(let purpose, let provider, _, _): "the provider '\(provider)' has no scopes for '\(purpose)'"
        case .purposeNeedsProvider: "'--for' needs '--provider'"
        case .variableWithoutValue: "'--set' takes a name and a value"
        case .parameterWithoutValue(let option, _): "'\(option)' takes a name and a value"
        case .parameterTwice(let option, let name): "'\(option)' gives '\(name)' twice"
        case .registeredClientHasOwnID: "'--register' cannot be combined with '--client-id'"
        case .registeredClientHasNoGrant:
            "'--register' cannot be combined with a client secret or a refresh token: the client is new"
        case .serviceAccountNeedsNoGrant: "'--grant' cannot be combined with '--refresh-token-file'"
        case .twoSecretsFromInput: "only one secret can come from '-'"
        case .initialTokenNeedsRegister: "'--initial-access-token-file' needs '--register'"
        case .setUpOtherwise(let account): "'\(account)' exists already, with other settings"
        case .notForSignIn(let account): "'\(account)' cannot be signed in to"
        case .noTokenFile(let account): "'\(account)' has no token file"
        case .relativeLink: "the link's path must be absolute, on one line"
        case .nobodyToAsk: "'--all' asks for confirmation, and there is no terminal to ask on"
        case .notAWebAddress: "the page's address does not begin with https:// or http://"
        case .noFileToImport: "no file to import is named"
        case .oneAccountBesideTokenFile: "'--refresh-token-file' takes one account beside it and no other file"
        case .tokenWithoutAccount: "a refresh token does not say which account it belongs to"
        case .fileOfNoProgram: "'--file' needs '--from', the program that wrote the file"
        case .allAndNames: "'--all' cannot be combined with the names of accounts"
        case .noAuthorizationHeader: "this token type cannot be used in an Authorization header"
        case .mailboxUnknown(let format): "'--format \(format)' needs to know whose mailbox it is"
        case .userNotPrintable: "'--user' is empty or contains control characters"
        case .notBound(let account): "the token of '\(account)' is not bound to a key, so there is no proof for it"
        case .outputIsText: "'--output' takes the text format only"
        case .noDockerCredentials: "credentials not found in native keychain"
        case .noDockerServer: "no credentials server URL"
        case .passwordForNoAccount(let server):
            "authctl stores no passwords, and no account has the address '\(server)'"
        case .passwordForAccount(let account, let server):
            "authctl stores no passwords: '\(account)' has the token for '\(server)'"
        case .unusableWord(let word):
            "Google's libraries cannot start a command with '\(word)' in it: they split it at blanks"
        }
    }

    /// What to do, with the command or the option to type. Empty if another program reads the message.
    var hint: String {
        switch self {
        case .parser(_, let hint): hint
        case .socketWithoutPath: "see 'authctl --help'"
        case .watchNeedsTerminal: "'authctl watch' prints a line for each change; --json works everywhere"
        case .noHome: "set HOME"
        case .noAccountNamed: "authctl account list"
        case .noAccounts: StatusView.firstLogin.text(by: .usual)
        case .severalAccounts(let names): "one of: \(names)"
        case .missing(["'--client-id'"], let provider?): "where it comes from: authctl provider show \(provider)"
        case .missing: "see 'authctl account add --help'"
        case .nothingToChange: "see 'authctl account edit --help'"
        case .cannotClear(let known): "one of: \(known.joined(separator: ", "))"
        case .unknownProvider(_, _, []): "no profile is installed"
        case .unknownProvider(_, let nearest, let known):
            (nearest.map { "did you mean '\($0)'? " } ?? "") + "known: \(known.joined(separator: ", "))"
        case .noScopes(_, _, _, []): "name them with --scope"
        case .noScopes(_, _, let nearest, let known):
            (nearest.map { "did you mean '\($0)'? " } ?? "") + "it has some for: \(known.joined(separator: ", "))"
        case .purposeNeedsProvider: "name the scopes of another server with --scope"
        case .variableWithoutValue: "--set tenant=organizations"
        case .parameterWithoutValue(let option, let example): "\(option) \(example)"
        case .parameterTwice(let option, _): "use '\(option)' once for each name"
        case .registeredClientHasOwnID: "leave '--client-id' out: the server chooses the client id"
        case .registeredClientHasNoGrant: "add the account without them, then run 'authctl login'"
        case .serviceAccountNeedsNoGrant: "leave '--refresh-token-file' out: a service account obtains its own tokens"
        case .twoSecretsFromInput: "put the other one into a file"
        case .initialTokenNeedsRegister: "add --register, or leave '--initial-access-token-file' out"
        case .setUpOtherwise(let account):
            "'authctl account show \(account)' shows its settings; choose another name to add another account"
        case .notForSignIn(let account): "'authctl account show \(account)' shows its settings"
        case .noTokenFile(let account): "authctl account edit \(account) --token-file"
        case .relativeLink: "begin the path with '/'"
        case .nobodyToAsk: "add --yes"
        case .notAWebAddress: "check the address, or see 'authctl web-session --help'"
        case .noFileToImport: "see 'authctl account import --help'"
        case .oneAccountBesideTokenFile, .tokenWithoutAccount:
            "authctl account import ACCOUNT --refresh-token-file FILE"
        case .fileOfNoProgram, .allAndNames: "see 'authctl import --help'"
        case .noAuthorizationHeader: "use --format raw or --format json"
        case .mailboxUnknown: "add --user you@example.org, or name the account after the mailbox"
        case .userNotPrintable: "--user you@example.org"
        case .notBound(let account): "'authctl token \(account)' prints it without a proof"
        case .outputIsText: "leave out '--json'"
        case .noDockerCredentials, .noDockerServer: ""
        case .passwordForNoAccount(let server):
            "authctl account edit ACCOUNT --url \(server.contains("://") ? server : "https://\(server.drop { $0 == "/" })")"
        case .passwordForAccount: "no login is needed there"
        case .unusableWord: "use a path without blanks and quotes: a link to authctl, or a shorter --socket"
        }
    }

    /// `a`; `a and b`; `a, b, and c`, because a name may itself be a choice of two.
    private static func list(_ names: [String]) -> String {
        guard names.count > 2, let last = names.last else { return names.joined(separator: " and ") }
        return names.dropLast().joined(separator: ", ") + ", and " + last
    }
}
