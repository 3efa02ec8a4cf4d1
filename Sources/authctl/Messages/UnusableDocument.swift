internal import CommandLineProgram

/// Why the content of a file or of standard input cannot be used. The content is never repeated, because it may be a
/// secret.
enum UnusableDocument: Error, Hashable, Sendable {
    // A client.
    case otherClient
    case isServiceAccountKey
    case isClient
    case clientWithoutSecret
    case noClientSecret(isPage: Bool)
    case keyInsteadOfSecret
    case secretInsteadOfKey
    case noClientKey

    // What is imported.
    case grantOfOtherClient(account: String)
    /// `content` says what is there instead: `a web page`.
    case noRefreshToken(content: String)
    case brokenJSON
    case unknownJSON
    case unknownExportFormat(known: String)
    case incompleteExport
    case exportInsteadOfToken

    // Requests of other programs.
    case noChallenge
    case noExecCredential
    case unknownKubeVersion(asked: String, known: String)
    case unknownGoogleTokenType(asked: String, known: String)
    case toolInput(ToolInputFlaw)
}

/// What is wrong with another tool's request on standard input.
enum ToolInputFlaw: Hashable, Sendable {
    case unreadable(errno: Int32)
    case tooLong(limit: Int)
    case notText
    case noKeyValue(line: Int)
    case noServerURLAndSecret
    case notOneAddress
}

extension UnusableDocument {
    /// The error text: lower case, no full stop.
    var message: String {
        switch self {
        case .otherClient: "the file belongs to another client than '--client-id' names"
        case .isServiceAccountKey: "the file contains the key of a service account"
        case .isClient: "the file contains a client, but no refresh token"
        case .clientWithoutSecret: "the file names a client that has no secret"
        case .noClientSecret(let isPage): "the file contains \(isPage ? "a web page" : "JSON"), but no client secret"
        case .keyInsteadOfSecret: "the file contains a key, but no client secret"
        case .secretInsteadOfKey: "the file contains a client with its secret, but no key"
        case .noClientKey: "the file contains no client key"
        case .grantOfOtherClient(let account):
            "the refresh token in the file belongs to another client than '\(account)'"
        case .noRefreshToken(let content): "the file contains \(content), but no refresh token"
        case .brokenJSON: "the file contains invalid JSON"
        case .unknownJSON: "the JSON is neither an account's export nor an answer with a \"refresh_token\""
        case .unknownExportFormat: "this authctl does not know the format of the export"
        case .incompleteExport: "a part of the export is missing or has the wrong type"
        case .exportInsteadOfToken: "the file contains an account's export, not a refresh token"
        case .noChallenge: "the WWW-Authenticate header is missing"
        case .noExecCredential: "KUBERNETES_EXEC_INFO contains no ExecCredential"
        case .unknownKubeVersion(let asked, let known): "KUBERNETES_EXEC_INFO asks for '\(asked)'; known are \(known)"
        case .unknownGoogleTokenType(let asked, _): "no account has tokens of the type '\(asked)'"
        case .toolInput(let flaw): "standard input \(flaw.problem)"
        }
    }

    /// What to do, with the command or the option to type.
    var hint: String {
        switch self {
        case .otherClient: "leave '--client-id' out: the file names the client"
        case .isServiceAccountKey:
            "authctl account add NAME --provider google --grant jwt-bearer --client-key-file FILE --scope SCOPE"
        case .isClient: "authctl login NAME --provider google --client-secret-file FILE"
        case .clientWithoutSecret: "leave '--client-secret-file' out, and name the client: --client-id ID"
        case .noClientSecret:
            "expected: the secret on one line, or the JSON file of the client that Google's console downloads"
        case .keyInsteadOfSecret: "for a key: --client-key-file FILE"
        case .secretInsteadOfKey: "for a secret: --client-secret-file FILE"
        case .noClientKey:
            "expected: a private key in PEM or as a JWK, or the JSON file of a service account's key from Google"
        case .grantOfOtherClient: "authctl account add NAME --provider google --refresh-token-file FILE"
        case .noRefreshToken:
            "expected: a refresh token on one line, a token endpoint's answer ({\"refresh_token\": ...}), Google's"
                + " authorized_user file, or what 'authctl account export ACCOUNT' wrote"
        case .brokenJSON, .incompleteExport: "the file may be cut short or edited: export it again"
        case .unknownJSON:
            "expected: what 'authctl account export ACCOUNT' wrote, Google's authorized_user file, or a token endpoint's"
                + " answer; many servers give a refresh token only if asked, such as with the scope offline_access"
        case .unknownExportFormat(let known): "this authctl reads the format \(known)"
        case .exportInsteadOfToken: "authctl account import FILE"
        case .noChallenge: "pass the headers of the 401 or 403 answer, as 'curl -D FILE' saves them"
        case .noExecCredential: "kubectl sets this variable; unset it to run the command by hand"
        case .unknownKubeVersion: "'authctl kubeconfig ACCOUNT' prints the entry that asks for one of these"
        case .unknownGoogleTokenType(_, let known): "'subject_token_type' in the credential file must be \(known)"
        case .toolInput: "other tools call this command, not people"
        }
    }
}

extension ToolInputFlaw {
    fileprivate var problem: String {
        switch self {
        case .unreadable(let number): "cannot be read: \(systemText(number))"
        case .tooLong(let limit): "is longer than \(limit) bytes"
        case .notText: "is not text: it contains a NUL byte, or is not UTF-8"
        case .noKeyValue(let line): "has no 'key=value' in line \(line)"
        case .noServerURLAndSecret: "has no ServerURL and Secret"
        case .notOneAddress: "is not one address on one line"
        }
    }
}
