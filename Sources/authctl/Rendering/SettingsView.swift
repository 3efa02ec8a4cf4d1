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
            ("client id", settings?.clientId),
            ("client auth", settings?.clientAuthentication),
            ("scope", settings?.scopes.flatMap { $0.isEmpty ? nil : $0.joined(separator: " ") }),
        ]
        lines += NamedLines.members("param", settings?.refreshParameters)
        lines += [
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
                ("server clock", status.clockSkewSec.flatMap(Self.skew)),
                ("run", status.hint),
            ]
        }
        return NamedLines.text(lines)
    }

    /// Nil for a clock that agrees with this machine's, as far as whole seconds tell.
    private static func skew(_ seconds: Int64) -> String? {
        guard abs(seconds) > 2 else { return nil }
        return "\(LocalTime.length(abs(seconds))) \(seconds > 0 ? "ahead" : "behind")"
    }
}
