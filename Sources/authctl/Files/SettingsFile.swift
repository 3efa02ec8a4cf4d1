internal import AuthRefreshInterface
internal import Basics
internal import FoundationEssentials
internal import Glibc
internal import TextEncodings

/// The accounts in a file for `authctl apply`.
struct SettingsFile {
    /// The most bytes of the file as JSON: the daemon takes no longer call.
    static let bytesMax = 1 << 20

    /// The members of an account that name its secrets.
    private static let secretSources = [
        "clientSecretFile", "clientSecretCredential", "clientKeyFile", "clientKeyCredential",
    ]
    /// Members that would contain a secret, with the spellings of other programs' files.
    private static let secrets: Set<String> = [
        "clientSecret", "clientKey", "dpopKey", "refreshToken", "accessToken", "initialAccessToken", "idToken",
        "registration", "secret", "privateKey", "private_key",
    ]
    private static let known = Set(["name"] + Setting.all.map(\.name) + secretSources)
    private static let help: Hint = "see '\(Command("apply", "--help"))'"

    private(set) var accounts: [DescribedAccount] = []

    /// Reads the file as JSON, and the files that it names.
    ///
    /// - Throws: what is wrong with it, by account and member, and never a value that may be a secret.
    init(_ json: [UInt8]) throws(Report) {
        guard let document = JSONValue(json[...], nestingMax: 16, valuesMax: 1 << 20, reading: .strictWhenRead) else {
            throw .brokenJSON
        }
        let members = try Self.members(of: document, "the file")
        if let other = members.first(where: { $0.key != "accounts" })?.key {
            let hint = Self.nearest(to: other, in: ["accounts"])
            throw .document("the file has the unknown member '\(other)'", hint: hint)
        }
        guard let list = members.first?.value.elements else {
            throw .document("the file has no list 'accounts'", hint: Self.help)
        }
        for (index, value) in list.enumerated() { accounts.append(try Self.account(value, number: index + 1)) }
    }

    private static func account(_ value: JSONValue, number: Int) throws(Report) -> DescribedAccount {
        let members = try members(of: value, "account \(number)")
        guard let name = members.first(where: { $0.key == "name" })?.value.string else {
            throw .document("account \(number) has no name", hint: help)
        }
        var settings = AccountSettings(name: name)
        for (key, value) in members {
            try check(key, value, of: name)
            guard let setting = Setting.named(key) else { continue }
            let alone = Array("{\(JSONText.quote(key)):".utf8) + value.whole + [UInt8(ascii: "}")]
            guard let read = try? JSONDecoder().decode(Members.self, from: Data(alone)) else {
                throw .document("'\(name)', \(key): this must be \(setting.expected)", hint: help)
            }
            settings.copy(setting, from: read.settings)
        }
        var described = DescribedAccount(settings: settings)
        if let file = try secretFile("clientSecret", in: members, of: name) {
            let client = try naming(name) { () throws(Report) in
                try SecretFile.client(in: file)
            }
            described.clientSecret = client.secret?.reveal()
            if settings.clientId?.isEmpty ?? true { described.settings.clientId = client.id }
            guard client.id == nil || client.id == described.settings.clientId else {
                throw .document("'\(name)', clientId: the secret in '\(file)' is of another client", hint: help)
            }
        }
        if let file = try secretFile("clientKey", in: members, of: name) {
            described.clientKey = try naming(name) { () throws(Report) in
                try SecretFile.clientKey(in: file)
            }.reveal()
        }
        return described
    }

    /// The members of an object, each once.
    private static func members(
        of value: JSONValue,
        _ place: String
    ) throws(Report) -> [(key: String, value: JSONValue)] {
        guard let members = value.members else { throw .document("\(place) is not a mapping", hint: help) }
        var names: Set<String> = []
        for (key, _) in members where !names.insert(key).inserted {
            throw .document("\(place) has the member '\(key)' twice", hint: help)
        }
        return members
    }

    /// Checks a member's name, and the names within its value.
    private static func check(_ key: String, _ value: JSONValue, of account: String) throws(Report) {
        guard known.contains(key) else {
            guard !secrets.contains(key), !SettingsOptions.secretParameters.contains(key) else {
                throw containsSecret(account, key)
            }
            throw .document("'\(account)', \(key): there is no such setting", hint: nearest(to: key, in: known))
        }
        guard value.isObject else { return }
        for (name, _) in try members(of: value, "'\(account)', \(key):")
        where SettingsOptions.secretParameters.contains(name.lowercased()) {
            throw containsSecret(account, name)
        }
    }

    private static func nearest(to key: String, in known: Set<String>) -> Hint {
        Spelling.nearest(to: key, in: known).map { "did you mean '\($0)'?" } ?? help
    }

    private static func containsSecret(_ account: String, _ member: String) -> Report {
        .document(
            "'\(account)', \(member): a secret must not be in this file",
            hint: member.lowercased().hasSuffix("token")
                ? "a grant is imported: \(Command("account", "import", account, "--refresh-token-file", "FILE"))"
                : "name a file with it: clientSecretFile or clientKeyFile; or a systemd credential: "
                    + "clientSecretCredential or clientKeyCredential"
        )
    }

    /// The path of the file with a secret, by either of the members that can name it; nil if the account names none.
    ///
    /// - Throws: also if it names no regular file. Reading a FIFO could take forever. The path is not repeated, because it
    ///   may be the secret itself.
    private static func secretFile(
        _ secret: String,
        in members: [(key: String, value: JSONValue)],
        of account: String
    ) throws(Report) -> String? {
        let sources = members.filter {
            $0.key == secret + "File" || $0.key == secret + "Credential" && !$0.value.isNull
        }
        guard let source = sources.first(where: { !$0.value.isNull }) else { return nil }
        guard sources.count == 1, let text = source.value.string, !text.isEmpty else {
            throw .document(
                "'\(account)', \(source.key): this must be one text, the only one for this secret",
                hint: help
            )
        }
        let path = try path(source.key, text, of: account)
        var facts = stat()
        let isFound = unsafe stat(path, &facts) == 0
        guard isFound ? facts.st_mode & S_IFMT == S_IFREG : errno == EACCES else {
            let reason = isFound ? "this is not a regular file" : systemText(errno)
            throw .document("'\(account)', \(source.key): \(reason)", hint: help)
        }
        return path
    }

    private static func path(_ key: String, _ text: String, of account: String) throws(Report) -> String {
        if key.hasSuffix("Credential") {
            guard let folder = environmentValue("CREDENTIALS_DIRECTORY"), !text.contains("/"), !text.hasPrefix(".")
            else {
                throw .document(
                    "'\(account)', \(key): this must be the name of a credential that systemd passes on",
                    hint: "LoadCredential= of the unit that runs this command (systemd.exec(5))"
                )
            }
            return "\(folder)/\(text)"
        }
        if text.hasPrefix("~/"), let home = environmentValue("HOME") { return home + text.dropFirst() }
        guard text.hasPrefix("/") else {
            throw .document("'\(account)', \(key): the path must begin with / or ~/", hint: help)
        }
        return text
    }

    /// Adds the account's name to what `body` throws.
    private static func naming<Result>(
        _ account: String,
        _ body: () throws(Report) -> Result
    ) throws(Report) -> Result {
        do throws(Report) {
            return try body()
        } catch {
            var report = error
            report.message = "'\(account)': \(error.message)"
            throw report
        }
    }

    /// Settings without a name.
    private struct Members: Decodable {
        let settings: AccountSettings

        init(from decoder: any Decoder) throws {
            settings = try AccountSettings(Setting.all, from: decoder)
        }
    }
}
