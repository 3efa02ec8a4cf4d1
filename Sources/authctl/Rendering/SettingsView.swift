internal import AuthRefreshInterface

/// An account's settings as lines of name and value.
struct SettingsView {
    /// Nil if the store cannot read them.
    let settings: AccountSettings?
    let status: AccountStatus?
    let time: LocalTime

    /// The lines, each with its newline. What is not set is left out.
    var text: String {
        var lines: [(name: String, value: String?)] = [
            ("account", settings?.name ?? status?.account),
            ("issuer", settings?.issuer ?? status.flatMap { $0.issuer.isEmpty ? nil : $0.issuer }),
            ("provider", settings?.provider),
        ]
        lines += NamedLines.members("set", settings?.variables)
        lines += NamedLines.members("setting", settings?.providerSettings)
        lines += [
            ("client id", settings?.clientId),
            ("client auth", settings?.clientAuthentication),
            ("client key", settings?.clientKeyId),
            ("team", settings?.teamId),
            ("dpop", settings?.dpop == true ? "tokens are bound to a key" : nil),
            ("grant", settings?.grantType.map { GrantOption.words(for: $0) + ", without anybody" }),
            ("derived from", source(settings?.subjectAccount, settings?.subjectTokenType)),
            ("acting for it", source(settings?.actorAccount, settings?.actorTokenType)),
            ("token type", settings?.requestedTokenType.map(TokenTypeOption.words)),
            ("assertion for", settings?.assertionSubject.map(PlainText.line)),
            ("assertion to", settings?.assertionAudience.map(PlainText.line)),
            ("assertion ends", settings?.assertionLifetimeSec.map { "after \(LocalTime.length($0))" }),
            ("scope", settings?.scopes.flatMap { $0.isEmpty ? nil : $0.joined(separator: " ") }),
        ]
        lines += NamedLines.members("param", settings?.refreshParameters)
        lines += NamedLines.members("asks", settings?.authorizationParameters)
        lines += [
            ("asks in detail", settings?.authorizationDetails.map(PlainText.line)),
            ("redirect uri", settings?.redirectUri),
            ("redirect port", settings?.redirectPort.map { String($0) }),
            ("redirect scheme", settings?.redirectScheme),
            ("after logout", settings?.postLogoutRedirectUri.map(PlainText.line)),
            ("lead time", settings?.leadTimeSec.map(LocalTime.length)),
            ("rotation grace", settings?.rotationGraceSec.map(LocalTime.length)),
            ("refresh token", settings?.refreshTokenLifetimeSec.map { "lives \(LocalTime.length($0)) unused" }),
        ]
        lines += (settings?.allowedUnits ?? []).map { ("allowed unit", $0) }
        lines += (settings?.allowedExecutables ?? []).map { ("allowed program", $0) }
        if let status {
            lines += [
                ("state", StatusSentence(status: status, time: time).description),
                ("generation", settings.map { _ in String(status.generation) }),
                ("refreshed", status.refreshedAtUSec.map(time.both)),
                ("secret ends", status.clientSecretExpiresAtUSec.map(time.both)),
                ("server clock", status.clockSkewSec.flatMap(Self.skew)),
                ("run", status.hint),
            ]
            lines += [("signed in as", status.subject.map(PlainText.line))]
            lines += NamedLines.members("kept", status.keptFields)
            lines += [("in detail", detailsNote(granted: status.keptFields?["authorization_details"]))]
            lines += (status.tokenSets ?? []).map { ("token set", tokenSet($0)) }
        }
        return NamedLines.text(lines)
    }

    /// Nil if the grant is as it was asked for, or the server does not say (RFC 9396 §7). Both texts are the daemon's, written alike.
    private func detailsNote(granted: String?) -> String? {
        guard let asked = settings?.authorizationDetails, let granted, granted != asked else { return nil }
        return "what was granted is not what was asked for"
    }

    /// `work, by its access_token`.
    private func source(_ account: String?, _ type: String?) -> String? {
        account.map { PlainText.line($0) + (type.map { ", by its " + TokenTypeOption.words(for: $0) } ?? "") }
    }

    /// `mail.read mail.send, for https://api.example until 15:02 (in 59 min)`.
    private func tokenSet(_ set: TokenSetStatus) -> String {
        let targets = (set.resources ?? []) + (set.audience.map { [$0] } ?? [])
        let parts = [
            set.scopes?.joined(separator: " "), targets.isEmpty ? nil : "for " + targets.joined(separator: " "),
        ].compactMap(\.self)
        let verb = set.expiresAtUSec > time.nowUSec ? "until" : "ended"
        return "\(parts.joined(separator: ", ")) \(verb) \(time.both(set.expiresAtUSec))"
    }

    /// Nil for a clock that agrees with this machine's, as far as whole seconds tell.
    private static func skew(_ seconds: Int64) -> String? {
        guard abs(seconds) > 2 else { return nil }
        return "\(LocalTime.length(abs(seconds))) \(seconds > 0 ? "ahead" : "behind")"
    }
}
