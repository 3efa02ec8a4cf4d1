internal import AuthRefreshInterface

/// An account's settings as lines of name and value.
struct SettingsView {
    let settings: AccountSettings
    let status: AccountStatus?
    let time: LocalTime

    /// The lines, each with its newline. What is not set is left out.
    var text: String {
        var lines: [(String, String?)] = [
            ("account", settings.name),
            ("issuer", settings.issuer ?? status?.issuer),
            ("provider", settings.provider),
            ("client id", settings.clientId),
            ("client auth", settings.clientAuthentication),
            ("scope", settings.scopes.flatMap { $0.isEmpty ? nil : $0.joined(separator: " ") }),
        ]
        for (name, value) in (settings.refreshParameters ?? [:]).sorted(by: { $0.key < $1.key }) {
            lines.append(("param", "\(name)=\(value)"))
        }
        lines += [
            ("lead time", settings.leadTimeSec.map(LocalTime.length)),
            ("rotation grace", settings.rotationGraceSec.map(LocalTime.length)),
            ("refresh token", settings.refreshTokenLifetimeSec.map { "lives \(LocalTime.length($0)) unused" }),
        ]
        if let status {
            lines += [
                ("state", StatusSentence(status: status, time: time).description),
                ("generation", String(status.generation)),
                ("refreshed", status.refreshedAtUSec.map(time.both)),
                ("server clock", status.clockSkewSec.flatMap(Self.skew)),
                ("run", status.hint),
            ]
        }
        return lines.reduce(into: "") { text, line in
            guard let value = line.1 else { return }
            let padding = String(repeating: " ", count: max(1, 16 - line.0.count))
            text += line.0 + padding + PlainText.line(value) + "\n"
        }
    }

    /// Nil for a clock that agrees with this machine's, as far as whole seconds tell.
    private static func skew(_ seconds: Int64) -> String? {
        guard abs(seconds) > 2 else { return nil }
        return "\(LocalTime.length(abs(seconds))) \(seconds > 0 ? "ahead" : "behind")"
    }
}
