internal import AuthRefreshInterface
internal import CommandLineProgram
internal import RefreshCore
internal import Yams

/// Reads the users of a kubeconfig file who sign in by OpenID Connect.
package enum KubeconfigUsers {
    private static let expected = "a kubeconfig file"

    /// The kubeconfig files, in the order in which kubectl reads them.
    package static func paths(home: String, environment: [String: String]) -> [String] {
        let named = (environment["KUBECONFIG"] ?? "").split(separator: ":").map(String.init)
        return named.isEmpty ? [home + "/.kube/config"] : named
    }

    /// The users of kubectl's own `oidc` provider, with their grants.
    ///
    /// - Throws: `wrongFormat`, `tooLarge`, `tooManyAccounts`.
    package static func accounts(in bytes: [UInt8], origin: String) throws(ImportError) -> [MovableAccount] {
        try users(in: bytes, origin).compactMap { name, user in
            guard let provider = user["auth-provider"]?.mapping, provider["name"]?.string == "oidc",
                let values = provider["config"]?.mapping
            else { return nil }
            return account(name, values, origin)
        }
    }

    /// The users of kubelogin (int128/kubelogin), without their grants, which are in its cache.
    ///
    /// - Throws: the same errors as `accounts`.
    package static func kubelogin(in bytes: [UInt8], origin: String) throws(ImportError) -> [MovableAccount] {
        try users(in: bytes, origin).compactMap { name, user in
            guard let arguments = user["exec"]?.mapping?["args"]?.sequence?.compactMap(\.string),
                arguments.contains("get-token")
            else { return nil }
            return account(name, arguments, origin)
        }
    }

    private static func users(in bytes: [UInt8], _ origin: String) throws(ImportError) -> [(String, Node.Mapping)] {
        guard bytes.count <= ImportLimit.sourceBytesMax else {
            throw .tooLarge(origin)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0), !hasAlias(bytes),
            let root = try? Yams.compose(yaml: text), let file = root.mapping
        else { throw .wrongFormat(origin, expected: expected) }
        let entries = file["users"]?.sequence.map(Array.init) ?? []
        guard entries.count <= ImportLimit.movedAccountsMax else {
            throw .tooManyAccounts(origin)
        }
        return entries.compactMap { entry in
            guard let name = entry.mapping?["name"]?.string, let user = entry.mapping?["user"]?.mapping else {
                return nil
            }
            return (name, user)
        }
    }

    /// kubectl writes no aliases, and a few lines of aliases can expand to more than fits into memory.
    private static func hasAlias(_ bytes: [UInt8]) -> Bool {
        let before = Set(" \t\r\n[{,:?-".utf8)
        return bytes.indices.contains { place in
            bytes[place] == UInt8(ascii: "*") && (place == 0 || before.contains(bytes[place - 1]))
        }
    }

    private static func account(_ name: String, _ values: Node.Mapping, _ origin: String) -> MovableAccount? {
        let text = { (key: String) in values[key]?.string.flatMap { $0.isEmpty ? nil : $0 } }
        guard let issuer = text("idp-issuer-url"), let client = text("client-id") else { return nil }
        let settings = AccountSettings(
            name: SuggestedName.from(name, fallback: "kubernetes"),
            issuer: issuer,
            clientId: client
        ) {
            $0.scopes = text("extra-scopes").map { ["openid"] + $0.split(separator: ",").map(String.init) }
        }
        var notes: [Hint] = []
        if text("idp-certificate-authority") != nil || text("idp-certificate-authority-data") != nil {
            notes.append("The issuer's certificate authority was not taken over. Set 'ca_file' in authrefreshd.yaml.")
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

    private static func account(_ name: String, _ arguments: [String], _ origin: String) -> MovableAccount? {
        let texts = { (option: String) in values(of: "--oidc-" + option, in: arguments) }
        guard let issuer = texts("issuer-url").last, let client = texts("client-id").last else { return nil }
        let settings = AccountSettings(
            name: SuggestedName.from(name, fallback: "kubernetes"),
            issuer: issuer,
            clientId: client
        ) {
            let scopes = texts("extra-scope").flatMap { $0.split(separator: ",").map(String.init) }
            $0.scopes = scopes.isEmpty ? nil : ["openid"] + scopes
        }
        return MovableAccount(
            source: .kubelogin,
            sourceName: name,
            settings: settings,
            clientSecret: texts("client-secret").last.map { Secret($0) },
            origin: origin
        )
    }

    /// The values of an option, which may be written as one word or as two.
    private static func values(of option: String, in arguments: [String]) -> [String] {
        var values: [String] = []
        for (place, argument) in arguments.enumerated() {
            if argument.hasPrefix(option + "=") {
                values.append(String(argument.dropFirst(option.count + 1)))
            } else if argument == option, place + 1 < arguments.count {
                values.append(arguments[place + 1])
            }
        }
        return values.filter { !$0.isEmpty }
    }
}
