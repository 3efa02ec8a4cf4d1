internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import Yams

/// Reads the users of a kubeconfig file who sign in by OpenID Connect.
enum KubeconfigUsers {
    private static let expected = "a kubeconfig file"

    /// The kubeconfig files, in the order in which kubectl reads them.
    static func paths(home: String, environment: [String: String]) -> [String] {
        let named = (environment["KUBECONFIG"] ?? "").split(separator: ":").map(String.init)
        return named.isEmpty ? [home + "/.kube/config"] : named
    }

    /// The users of kubectl's own `oidc` provider, with their grants.
    ///
    /// - Throws: `wrongFormat`, `tooLarge`, `tooManyAccounts`.
    static func accounts(in bytes: [UInt8], origin: String) throws(ProgramError) -> FoundInFile {
        let (file, users) = try users(in: bytes, origin)
        return FoundInFile(reading: users) { entry throws(ProgramError) in
            guard let (name, user) = try named(entry, file, origin) else { return nil }
            let provider = file.value("auth-provider", in: user)?.mapping
            guard file.value("name", in: provider)?.string == "oidc" else { return nil }
            let values = file.value("config", in: provider)?.mapping
            return try account(name, origin) { file.value($0, in: values)?.string }
        }
    }

    /// The users of kubelogin (int128/kubelogin), without their grants, which are in its cache.
    ///
    /// - Throws: the same errors as `accounts`.
    static func kubelogin(in bytes: [UInt8], origin: String) throws(ProgramError) -> FoundInFile {
        let (file, users) = try users(in: bytes, origin)
        return FoundInFile(reading: users) { entry throws(ProgramError) in
            // Entries that cannot be read are problems of kubectl's users.
            guard let (name, user) = try? named(entry, file, origin) else { return nil }
            let exec = file.value("exec", in: user)?.mapping
            guard let arguments = file.texts(file.value("args", in: exec)), arguments.contains("get-token"),
                arguments.contains(where: { $0.hasPrefix("--oidc-") })
            else { return nil }
            return try KubeloginOptions(arguments).account(name, origin: origin)
        }
    }

    private static func users(
        in bytes: [UInt8],
        _ origin: String
    ) throws(ProgramError) -> (KubeconfigText, [Node?]) {
        let text = try SourceText.read(bytes, origin: origin, expected: expected)
        guard let file = KubeconfigText(text) else { throw .wrongFormat(origin, expected: expected) }
        guard file.users.count <= ImportLimit.movedAccountsMax else { throw .tooManyAccounts(origin) }
        return (file, file.users)
    }

    /// The name and the settings of a user; nil for a user without settings.
    private static func named(
        _ entry: Node?,
        _ file: KubeconfigText,
        _ origin: String
    ) throws(ProgramError) -> (String, Node.Mapping)? {
        guard let entry, let name = file.value("name", in: entry.mapping)?.string else {
            throw .wrongFormat(origin, expected: "a name and settings for each user")
        }
        return file.value("user", in: entry.mapping)?.mapping.map { (name, $0) }
    }

    private static func account(
        _ name: String,
        _ origin: String,
        _ value: @escaping (String) -> String?
    ) throws(ProgramError) -> MovableAccount {
        let text = { (key: String) in value(key).flatMap { $0.isEmpty ? nil : $0 } }
        guard let issuer = text("idp-issuer-url"), let client = text("client-id") else {
            throw .wrongFormat(origin, expected: "an issuer and a client id for the user '\(name)'")
        }
        let settings = AccountSettings(
            name: MovableAccount.name(from: name, fallback: "kubernetes"),
            issuer: issuer,
            clientId: client
        ) {
            $0.scopes = text("extra-scopes").map { ["openid"] + $0.split(separator: ",").map(String.init) }
        }
        var notes: [Hint] = []
        if text("idp-certificate-authority") != nil || text("idp-certificate-authority-data") != nil {
            notes.append(Hint(KubeloginOptions.authorityNote))
        }
        if text("refresh-token") == nil { notes.append(Hint(SourceProgram.kubeconfig.noRefreshToken)) }
        return MovableAccount(
            source: .kubeconfig,
            sourceName: name,
            settings: settings,
            clientSecret: text("client-secret").map { Secret($0) },
            refreshToken: text("refresh-token").map { Secret($0) },
            origin: origin,
            notes: notes
        )
    }
}
