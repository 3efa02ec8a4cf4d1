internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// Reads a decrypted token file of mutt_oauth2.py. The client's data is in the user's copy of the script.
enum MuttOAuth2Token {
    private static let expected = "the token file of mutt_oauth2.py, decrypted"

    /// Reads the account.
    ///
    /// - Parameters:
    ///   - script: the user's copy of the script; nil if it was not found.
    ///   - place: the command in a mail program's settings, whose options may name the client; nil if there is none.
    /// - Throws: `wrongFormat`, `encrypted`, `tooLarge`.
    static func account(
        in bytes: [UInt8],
        script: MuttOAuth2Script?,
        place: Place? = nil,
        origin: String
    ) throws(ProgramError) -> MovableAccount {
        guard !isEncrypted(bytes) else {
            throw .encrypted(origin, hint: "name the script beside it, whose DECRYPTION_PIPE decrypts it")
        }
        let fields = try JSONFields(bytes, origin: origin, expected: expected)
        guard let registration = fields.text("registration"), fields.text("authflow") != nil else {
            throw .wrongFormat(origin, expected: expected)
        }
        let server = script?.registrations[registration] ?? [:]
        let email = fields.text("email")
        let value = { (key: String, option: String) in
            (fields.text(key) ?? place?.options[option] ?? server[key]).flatMap { $0.isEmpty ? nil : $0 }
        }
        let (client, secret) = (value("client_id", "--client-id"), value("client_secret", "--client-secret"))
        let name = MovableAccount.name(from: email ?? registration, fallback: "mail")
        let settings = AccountSettings(name: name, clientId: client) {
            $0.scopes = value("scope", "--scope").map { $0.split(separator: " ").map(String.init) }
            $0.username = email
        }
        var account = MovableAccount(
            source: .muttOAuth2,
            settings: settings,
            clientSecret: secret.map { Secret($0) },
            refreshToken: fields.secret("refresh_token"),
            origin: origin
        )
        let isElsewhere = script?.note("token_endpoint", of: registration, words: "server")
        if let known = named(server, registration: isElsewhere == nil ? registration : nil) { account.take(known) }
        account.notes += [
            isElsewhere, client == nil ? script?.note("client_id", of: registration, words: "client id") : nil,
            secret == nil ? script?.note("client_secret", of: registration, words: "client secret") : nil,
        ].compactMap { $0.map { Hint($0) } }
        if client == nil, account.notes.isEmpty { account.notes.append(Hint(unknownClient)) }
        return account
    }

    private static let unknownClient =
        "The client id is not known. Put your copy of mutt_oauth2.py, which contains it, beside the token file."

    /// The server that the script names, or, without its endpoint, the one that the registration is called after.
    private static func named(_ server: [String: String], registration: String?) -> NamedServer? {
        guard let endpoint = server["token_endpoint"] else {
            return registration.flatMap { ["google", "microsoft"].contains($0) ? NamedServer(provider: $0) : nil }
        }
        var known = NamedServer(tokenEndpoint: endpoint, authorizationEndpoint: server["authorize_endpoint"])
        if known?.provider == "microsoft", let tenant = server["tenant"], !["", "common"].contains(tenant) {
            let others = known?.variables ?? [:]
            known?.variables = ["tenant": tenant].merging(others) { own, _ in own }
        }
        return known
    }

    /// Whether the bytes begin like an OpenPGP message: armored, or with a packet's tag (RFC 9580 §4.2), whose first
    /// bit is set.
    static func isEncrypted(_ bytes: [UInt8]) -> Bool {
        // No packet begins with a byte order mark, whose first byte is the tag of an unassigned one.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return false }
        return bytes.first.map { $0 & 0x80 != 0 } ?? false
            || bytes.starts(with: Array("-----BEGIN PGP MESSAGE-----".utf8))
    }

    /// A token file that a mail program's settings name, and the script next to it.
    struct Place: Hashable, Sendable {
        var script: String
        var tokenFile: String
        /// The options with values, such as `--client-id`.
        var options: [String: String] = [:]

        /// The words of `--decryption-pipe`; nil if the script's own command decrypts.
        var decryption: [String]? { options["--decryption-pipe"].map { MailSettings.words($0[...]) } }
    }

    /// The script's options without a value. All others have one.
    private static let flags: Set<String> = [
        "-v", "--verbose", "-d", "--debug", "-a", "--authorize", "-t", "--test", "-h", "--help",
    ]

    /// The token files in the settings of mutt, msmtp, mbsync, aerc and similar programs.
    ///
    /// - Parameter home: the value of `~` and `$HOME`.
    static func places(in settings: [UInt8], home: String) -> [Place] {
        var places: [Place] = []
        for line in MailSettings.lines(settings) {
            guard let found = place(in: line, home), !places.contains(where: { $0.tokenFile == found.tokenFile })
            else { continue }
            places.append(found)
        }
        return places
    }

    /// The script and its arguments in one line. If all words could be values of options, the last one is the file.
    private static func place(in line: Substring, _ home: String) -> Place? {
        guard let (script, arguments) = MailSettings.command("mutt_oauth2.py", in: line) else { return nil }
        var options: [String: String] = [:]
        var files: [String] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("-") else {
                files.append(word)
                continue
            }
            if let equals = word.firstIndex(of: "=") {
                options[String(word[..<equals])] = String(word[word.index(after: equals)...])
            } else if !flags.contains(word), let value = rest.popFirst() {
                options[word] = value
            }
        }
        guard let file = files.first ?? arguments.last(where: { !$0.hasPrefix("-") }) else { return nil }
        return Place(script: expand(script, home), tokenFile: expand(file, home), options: options)
    }

    static func expand(_ path: String, _ home: String) -> String {
        for prefix in ["~/", "$HOME/", "${HOME}/"] where path.hasPrefix(prefix) {
            return home + "/" + path.dropFirst(prefix.count)
        }
        return path
    }
}
