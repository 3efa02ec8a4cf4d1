internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// An account's settings as lines of name and value.
struct SettingsView {
    /// The column where values begin. Longer names move their values to the right.
    private static let valueColumn = 16

    /// The settings; nil if the store cannot read them.
    let settings: AccountSettings?
    let status: AccountStatus?
    /// When the account signs out by itself, if no status says so; nil if it does not.
    var signOutAtUSec: Int64?
    let time: LocalTime

    /// The lines, each with a newline. Settings without a value are left out.
    var text: String {
        var lines: [(name: String, value: String?)] = [("account", settings?.name ?? status?.account)]
        if let settings {
            lines += Setting.all.flatMap { self.lines(for: $0, of: settings) }
        } else {
            lines += [("issuer", status.flatMap { $0.issuer.isEmpty ? nil : $0.issuer })]
        }
        if let status {
            lines += [
                ("state", StatusSentence(status: status, time: time).description),
                ("generation", settings.map { _ in String(status.generation) }),
                ("refreshed", status.refreshedAtUSec.map(time.both)),
                ("lacks", status.missingScopes.map { "of its grant's scope: " + $0.joined(separator: " ") }),
                ("granted", status.grantedScopes?.joined(separator: " ")),
                ("declined", status.declinedScopes?.joined(separator: " ")),
                ("secret expires", status.clientSecretExpiresAtUSec.map(time.both)),
                ("server clock", status.clockSkewSec.flatMap(Self.skew)),
                ("run", status.hint),
            ]
            lines += [("signed in as", Self.person(status))]
            lines += Self.members("kept", status.keptFields)
            lines += [("in detail", detailsNote(granted: status.keptFields?["authorization_details"]))]
            lines += (status.tokenSets ?? []).map { ("token set", tokenSet($0)) }
        }
        return Self.text(lines, .standardOutput)
    }

    /// `jane@example.org (248289761001)`: the server's name for the person and its identifier; nil after a sign-out,
    /// although the identifier stays for the check of the next sign-in.
    private static func person(_ status: AccountStatus) -> String? {
        guard status.knownState != .signedOut else { return nil }
        guard let name = status.person?.best else { return status.subject.map(PlainText.line) }
        let identifier = status.subject.map { " (\($0))" } ?? ""
        return PlainText.line(name + identifier)
    }

    private func lines(
        for setting: Setting,
        of settings: AccountSettings
    ) -> [(name: String, value: String?)] {
        let value = settings[setting]
        switch (setting.name, value) {
        // They are shown with their account.
        case (_, nil), ("subjectTokenType", _), ("actorTokenType", _): return []
        case ("subjectAccount", .text(let account)):
            return [(setting.label, Self.source(account, settings.subjectTokenType))]
        case ("actorAccount", .text(let account)):
            return [(setting.label, Self.source(account, settings.actorTokenType))]
        case ("requestedTokenType", .text(let type)): return [(setting.label, TokenTypeOption.words(for: type))]
        case ("grantType", .text(let grant)):
            return [(setting.label, GrantOption.words(for: grant) + ", without anybody")]
        case ("selfRegistered", .flag(let isRegistered)):
            return isRegistered ? [(setting.label, "by the server, for this account")] : []
        case ("dpop", .flag(let isBound)): return isBound ? [(setting.label, "tokens are bound to a key")] : []
        case ("acceptBearer", .flag(let isAccepted)):
            return isAccepted ? [(setting.label, "are accepted, too, if the server binds none to the key")] : []
        case ("assertionLifetimeSec", .seconds(let length)):
            return [(setting.label, "after \(LocalTime.length(length))")]
        case ("forgetAfterSec", .seconds(let length)):
            let next = (signOutAtUSec ?? status?.signOutAtUSec).map { ", next " + time.both($0) } ?? ""
            return [(setting.label, "\(LocalTime.length(length)) after each sign-in\(next)")]
        case ("refreshTokenLifetimeSec", .seconds(let length)):
            return [(setting.label, "lives \(LocalTime.length(length)) unused")]
        case ("scopes", .list(let scopes)):
            return scopes.isEmpty ? [] : [(setting.label, scopes.joined(separator: " "))]
        case (_, .text(let text)): return [(setting.label, text)]
        case (_, .number(let number)): return [(setting.label, String(number))]
        case (_, .seconds(let length)): return [(setting.label, LocalTime.length(length))]
        case (_, .flag(let flag)): return [(setting.label, flag ? "yes" : "no")]
        case (_, .list(let texts)): return texts.map { (setting.label, $0) }
        case (_, .map(let members)): return Self.members(setting.label, members)
        }
    }

    /// The granted details; nil if they are the requested ones, or if the server does not say (RFC 9396 §7). Both texts
    /// come from the daemon and have the same form.
    private func detailsNote(granted: String?) -> String? {
        guard let asked = settings?.authorizationDetails, let granted, granted != asked else { return nil }
        return "the server granted something else than was asked for"
    }

    /// `work, by its access_token`.
    private static func source(_ account: String, _ type: String?) -> String {
        account + (type.map { ", by its " + TokenTypeOption.words(for: $0) } ?? "")
    }

    /// `mail.read mail.send, for https://api.example until 15:02 (in 59 min)`.
    private func tokenSet(_ set: TokenSetStatus) -> String {
        let targets = (set.resources ?? []) + (set.audience.map { [$0] } ?? [])
        let parts = [
            set.scopes?.joined(separator: " "), targets.isEmpty ? nil : "for " + targets.joined(separator: " "),
            set.claims.map { "with the claims \($0)" },
        ].compactMap(\.self)
        let verb = set.expiresAtUSec > time.nowUSec ? "until" : "expired"
        return "\(parts.joined(separator: ", ")) \(verb) \(time.both(set.expiresAtUSec))"
    }

    /// The difference of the server's clock; nil if there is none, in whole seconds.
    private static func skew(_ seconds: Int64) -> String? {
        guard seconds.magnitude > 2 else { return nil }
        return "\(LocalTime.length(Int64(clamping: seconds.magnitude))) \(seconds > 0 ? "ahead" : "behind")"
    }

    /// The lines, each with a newline. Names without a value are left out.
    private static func text(_ lines: [(name: String, value: String?)], _ style: TerminalStyle) -> String {
        let margin = "\n" + String(repeating: " ", count: valueColumn)
        return lines.reduce(into: "") { text, line in
            guard let value = line.value else { return }
            let name = line.name + String(repeating: " ", count: max(1, valueColumn - TerminalWidth.of(line.name)))
            let room = style.width.map { max(1, $0 - TerminalWidth.of(name)) }
            text += name + WrappedText.lines(PlainText.line(value), width: room).joined(separator: margin) + "\n"
        }
    }

    /// A line for each member, ordered by name.
    private static func members(_ name: String, _ members: [String: String]?) -> [(name: String, value: String?)] {
        (members ?? [:]).sorted { $0.key < $1.key }.map { (name, "\($0.key)=\($0.value)") }
    }
}
