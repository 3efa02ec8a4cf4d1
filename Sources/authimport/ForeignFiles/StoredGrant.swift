internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// Reads the account in a JSON file that names its client: the `token.json` of Google's libraries, and the token files of
/// getmail, sasl-xoauth2 and others.
enum StoredGrant {
    private static let expected =
        "a JSON file that names its client; for another program's file, --from names the program"

    /// Reads the account.
    ///
    /// - Throws: `wrongFormat`, `tooLarge`.
    static func account(in bytes: [UInt8], origin: String) throws(ProgramError) -> MovableAccount {
        let fields = try JSONFields(bytes, origin: origin, expected: expected)
        guard let file = ClientFile(fields) else { throw .wrongFormat(origin, expected: expected) }
        let name = origin.split(separator: "/").last.map { $0.hasSuffix(".json") ? $0.dropLast(5) : $0 }
        let account = try account(file, source: .file, name: String(name ?? ""), origin: origin)
        guard account.settings.clientId != nil || account.refreshToken != nil else {
            throw .wrongFormat(origin, expected: expected)
        }
        return account
    }

    /// The account in a file.
    ///
    /// - Parameter name: the account's name if the file names no person.
    /// - Throws: an error that names files without a person's grant as what they are.
    static func account(
        _ file: ClientFile,
        source: SourceProgram,
        name: String,
        origin: String
    ) throws(ProgramError) -> MovableAccount {
        switch file {
        case .client(let client): return account(client, source: source, name: name, origin: origin)
        case .impersonation(let client, let serviceAccount):
            var account = account(client, source: source, name: name, origin: origin)
            let whom = serviceAccount.map { " '\($0)'" } ?? ""
            account.notes.append(
                "The file impersonates the service account\(whom). The account's tokens are the person's own."
            )
            return account
        case .serviceAccountKey:
            throw ProgramError(
                .badData,
                "'\(origin)' contains the key of a service account, but no grant",
                hint: Hint(Command("account", "add", "NAME", "--grant", "jwt-bearer", "--client-key-file", "FILE"))
            )
        case .externalAccount:
            throw ProgramError(
                .badData,
                "'\(origin)' describes a workload (\"type\": \"external_account\"), so there is no grant",
                hint: "the account of a person has the type authorized_user"
            )
        }
    }

    private static func account(
        _ client: FileClient,
        source: SourceProgram,
        name: String,
        origin: String
    ) -> MovableAccount {
        let known = source == .gcloud ? name : client.username ?? name
        let name = MovableAccount.name(from: known, fallback: source.rawValue)
        let settings = AccountSettings(name: name, clientId: client.id) {
            $0.scopes = client.scopes
            $0.username = client.username
        }
        var account = MovableAccount(
            source: source,
            settings: settings,
            clientSecret: client.secret.map { Secret($0.reveal()) },
            refreshToken: client.refreshToken.map { Secret($0.reveal()) },
            origin: origin
        )
        if let server = client.server {
            account.take(server)
        } else {
            account.notes.append("The file does not name the server, so the account cannot be added from it.")
        }
        if client.id == nil { account.notes.append("The file does not name the client.") }
        if account.refreshToken == nil { account.notes.append(Hint(source.noRefreshToken)) }
        return account
    }
}
