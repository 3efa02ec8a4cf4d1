internal import AuthRefreshInterface
internal import CommandLineProgram
internal import RefreshCore

/// Reads a decrypted token file of mutt_oauth2.py. The client's data is in the user's copy of the script.
package enum MuttOAuth2Token {
    private static let expected = "the token file of mutt_oauth2.py, decrypted"

    /// Reads the account.
    ///
    /// - Parameter script: the user's copy of the script; nil if it was not found.
    /// - Throws: `wrongFormat`, `encrypted`, `tooLarge`.
    package static func account(
        in bytes: [UInt8],
        script: MuttOAuth2Script?,
        origin: String
    ) throws(ImportError) -> MovableAccount {
        guard !isEncrypted(bytes) else {
            throw .encrypted(origin, hint: "name the script beside it, whose DECRYPTION_PIPE decrypts it")
        }
        let fields = try JSONFields(bytes, origin: origin, expected: expected)
        guard let registration = fields.text("registration"), fields.text("authflow") != nil else {
            throw .wrongFormat(origin, expected: expected)
        }
        let server = script?.registrations[registration] ?? [:]
        let email = fields.text("email")
        var settings = AccountSettings(name: SuggestedName.from(email ?? registration, fallback: "mail"))
        settings.clientId = fields.text("client_id") ?? server["client_id"].flatMap { $0.isEmpty ? nil : $0 }
        settings.scopes = server["scope"].map { $0.split(separator: " ").map(String.init) }
        settings.username = email
        if let tenant = server["tenant"], tenant != "common" { settings.variables = ["tenant": tenant] }
        var notes: [Hint] = []
        if let endpoint = server["token_endpoint"] {
            if let note = KnownEndpoint.place(endpoint, in: &settings) { notes.append(Hint(note)) }
        } else if ["google", "microsoft"].contains(registration) {
            settings.provider = registration
        }
        if settings.clientId == nil {
            notes.append(
                "The client id is not known. Put your copy of mutt_oauth2.py, which contains it, beside the token file."
            )
        }
        let secret = fields.text("client_secret") ?? server["client_secret"].flatMap { $0.isEmpty ? nil : $0 }
        return MovableAccount(
            source: .muttOAuth2,
            settings: settings,
            clientSecret: secret.map { Secret($0) },
            refreshToken: fields.secret("refresh_token"),
            origin: origin,
            notes: notes
        )
    }

    /// Whether the bytes begin like an OpenPGP message: armored, or with a packet's tag (RFC 9580 §4.2), whose first
    /// bit is set.
    package static func isEncrypted(_ bytes: [UInt8]) -> Bool {
        bytes.first.map { $0 & 0x80 != 0 } ?? false || bytes.starts(with: Array("-----BEGIN PGP MESSAGE-----".utf8))
    }

    /// A token file that a mail program's settings name, and the script next to it.
    package struct Place: Hashable, Sendable {
        package var script: String
        package var tokenFile: String

        package init(script: String, tokenFile: String) {
            self.script = script
            self.tokenFile = tokenFile
        }
    }

    /// The token files in the settings of mutt, msmtp, mbsync and similar programs: the first word after the script's
    /// name that is not an option.
    ///
    /// - Parameter home: the value of `~` and `$HOME`.
    package static func places(in settings: [UInt8], home: String) -> [Place] {
        var places: [Place] = []
        let text = String(decoding: settings, as: UTF8.self)
        for line in text.split(whereSeparator: \.isNewline) where line.first(where: { !$0.isWhitespace }) != "#" {
            let words = line.split { $0.isWhitespace || "\"'`=".contains($0) }.map(String.init)
            guard let place = words.firstIndex(where: { $0.hasSuffix("mutt_oauth2.py") }),
                let file = words[(place + 1)...].first(where: { !$0.hasPrefix("-") })
            else { continue }
            let found = Place(script: expand(words[place], home), tokenFile: expand(file, home))
            if !places.contains(found) { places.append(found) }
        }
        return places
    }

    private static func expand(_ path: String, _ home: String) -> String {
        for prefix in ["~/", "$HOME/", "${HOME}/"] where path.hasPrefix(prefix) {
            return home + "/" + path.dropFirst(prefix.count)
        }
        return path
    }
}

/// The content of the user's copy of mutt_oauth2.py: its dictionaries of servers, and the command that decrypts.
package struct MuttOAuth2Script: Sendable {
    /// The values of each registration by name, without values that are not a plain text.
    package var registrations: [String: [String: String]] = [:]
    /// The words of `DECRYPTION_PIPE`.
    package var decryption: [String] = []

    /// Reads the script line by line. Its layout has been the same since its first version.
    ///
    /// - Throws: `tooLarge`, `wrongFormat`.
    package init(_ bytes: [UInt8], origin: String) throws(ImportError) {
        guard bytes.count <= ImportLimit.sourceBytesMax else {
            throw .tooLarge(origin)
        }
        var registration: String?
        var lastKey: String?
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let texts = Self.texts(in: line)
            if line.hasPrefix("DECRYPTION_PIPE") { decryption = texts }
            if line.hasPrefix("    '"), line.hasSuffix("{") {
                registration = texts.first
            } else if line.hasPrefix("}") {
                registration = nil
            } else if let registration, line.hasPrefix("        '"), texts.count >= 2 {
                registrations[registration, default: [:]][texts[0]] = texts[1]
                lastKey = texts[0]
            } else if let registration, line.hasPrefix("        '"), let key = texts.first {
                // The value follows in parentheses on its own lines.
                registrations[registration, default: [:]][key] = ""
                lastKey = key
            } else if let registration, let lastKey, line.hasPrefix("         "), let more = texts.first {
                registrations[registration, default: [:]][lastKey, default: ""] += more
            }
        }
        guard !registrations.isEmpty else { throw .wrongFormat(origin, expected: "a copy of mutt_oauth2.py") }
    }

    /// The texts between single quotes, in order.
    private static func texts(in line: Substring) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}
