internal import AuthRefreshInterface

/// A provider profile as lines of name and value.
struct ProviderView {
    let provider: ProviderDescription

    /// The lines, each with its newline. What is not set is left out.
    var text: String {
        var lines: [(name: String, value: String?)] = [
            ("provider", provider.name),
            ("file", provider.path),
            ("documentation", provider.documentation),
            ("issuer", provider.issuer),
            ("issuer template", provider.issuerTemplate),
            ("token endpoint", provider.tokenEndpoint),
            ("revocation", provider.revocationEndpoint),
            ("client auth", provider.clientAuthentication),
        ]
        lines += NamedLines.members("param", provider.refreshParameters)
        lines += NamedLines.members("revoke param", provider.revocationParameters)
        lines += NamedLines.members("header", provider.headers)
        lines += [
            ("correlation", provider.correlationHeader),
            ("scopes split by", provider.scopeSeparator.map { "'\($0)'" }),
            ("tokens below", provider.tokenPath?.joined(separator: ".")),
            ("access token", provider.defaultLifetimeSec.map { "lives \(LocalTime.length($0)) if not said" }),
            ("refresh token", provider.refreshTokenLifetimeSec.map { "lives \(LocalTime.length($0)) unused" }),
            ("rotation grace", provider.rotationGraceSec.map(LocalTime.length)),
            ("CA file", provider.caFile),
            ("at a time", provider.maxConcurrentRefreshes.map { "\($0) refreshes" }),
            ("each second", provider.maxRefreshesPerSecond.map { "\($0) refreshes" }),
        ]
        return NamedLines.text(lines)
    }
}
