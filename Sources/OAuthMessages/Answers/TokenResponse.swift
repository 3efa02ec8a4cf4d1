package import RefreshCore
internal import TextEncodings

/// The tokens of one successful answer of the token endpoint (RFC 6749 §5.1).
package struct TokenResponse: Sendable {
    package let accessToken: AccessToken
    /// Nil if the old one stays valid: the field was absent, null, empty, or the token that was sent (RFC 6749 §6).
    package var refreshToken: RefreshToken?
    package var issuance: Issuance
    /// Whether the answer says how long the access token lives.
    package var isLifetimeStated = true
    /// What was granted; nil if the server did not say, which means: what was asked for (RFC 6749 §5.1).
    package var scopes: [String]?
    package var idToken: Secret?

    package init(
        accessToken: AccessToken,
        refreshToken: RefreshToken? = nil,
        issuance: Issuance,
        isLifetimeStated: Bool = true,
        scopes: [String]? = nil,
        idToken: Secret? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.issuance = issuance
        self.isLifetimeStated = isLifetimeStated
        self.scopes = scopes
        self.idToken = idToken
    }
}

/// Reads a successful answer by tables of the names and forms that servers really use.
///
/// An answer that holds an access token is a success whatever else is wrong with it: its tokens must not be lost.
package struct TokenResponseDecoder {
    /// The token that was sent, to tell whether it was rotated; nil if the grant is new.
    let sent: RefreshToken?
    /// Nil for a server without a profile.
    let profile: ProviderProfile?
    /// What the server's clock showed: its `Date`, else our own. Instants in the answer are turned to durations by it.
    let now: Timestamp

    package init(sent: RefreshToken?, profile: ProviderProfile?, now: Timestamp) {
        self.sent = sent
        self.profile = profile
        self.now = now
    }

    private static let accessTokenNames = ["access_token", "accessToken", "token"]
    private static let refreshTokenNames = ["refresh_token", "refreshToken"]
    /// Objects that hold the tokens at some providers: Slack's user tokens, TikTok, Feishu.
    private static let nests = ["authed_user", "data", "result"]
    private static let lifetimeNames: [(String, Form)] = [
        ("expires_in", .duration), ("expiresIn", .duration),
        // Strava, Azure AD v1, Sentry.
        ("expires_at", .instant), ("expires_on", .instant), ("expiresAt", .instant),
    ]
    private static let refreshTokenLifetimeNames: [(String, Form)] = [
        // Keycloak; LinkedIn and Azure AD B2C; Intuit.
        ("refresh_expires_in", .duration), ("refresh_token_expires_in", .duration),
        ("x_refresh_token_expires_in", .duration), ("refreshTokenExpiresIn", .duration),
        ("refresh_token_expires_at", .instant),
    ]

    /// A year is as good as no end.
    private static let longestLifetime = Duration.seconds(365 * 86_400)

    private enum Form {
        /// Seconds from now.
        case duration
        /// Seconds or milliseconds since 1970, or an RFC 3339 date.
        case instant
    }

    /// Whether `fields` hold an access token.
    package func takes(_ fields: [String: JSONValue]) -> Bool {
        locate(fields) != nil
    }

    /// Nil if `fields` hold no access token.
    package func decode(_ fields: [String: JSONValue]) -> TokenResponse? {
        guard let tokens = locate(fields), let accessToken = secret(Self.accessTokenNames, in: tokens) else {
            return nil
        }
        let isOwnRefreshToken = profile?.refreshForm.credential == .accessToken
        let received = isOwnRefreshToken ? accessToken : secret(Self.refreshTokenNames, in: tokens)
        let rotated = received.map(RefreshToken.init).flatMap { $0 == sent ? nil : $0 }
        let (stated, basis) = statedLifetime(in: tokens)
        let lifetime = stated ?? profile?.defaultLifetime?.duration
        let refreshIn = refreshIn(in: tokens)
        return TokenResponse(
            accessToken: AccessToken(
                accessToken,
                type: tokens["token_type"]?.text.flatMap { $0.isEmpty ? nil : $0 } ?? "Bearer"
            ),
            refreshToken: rotated,
            issuance: Issuance(
                lifetime: lifetime,
                lifetimeBasis: basis,
                // A wish that lies behind the token's own end is a mistake.
                refreshIn: refreshIn.flatMap { wish in lifetime.map { wish < $0 } ?? true ? wish : nil },
                isRotated: rotated != nil,
                // 0 means "no end" for Keycloak's offline tokens; ten years are as good as none.
                refreshTokenLifetime: isOwnRefreshToken ? lifetime : refreshTokenLifetime(in: tokens)
            ),
            isLifetimeStated: stated != nil,
            scopes: scopes(in: tokens),
            idToken: secret(["id_token"], in: tokens)
        )
    }

    /// A token that opens nothing (`validateAtMost`) is as good as the grant: it lasts until after the next validation.
    private func statedLifetime(in tokens: [String: JSONValue]) -> (Duration?, LifetimeBasis) {
        if let interval = profile?.validateAtMost?.duration { return (interval * 2, .stated) }
        var basis = LifetimeBasis.notStated
        for (name, form) in Self.lifetimeNames {
            guard let value = tokens[name], value != .null else { continue }
            let seconds = seconds(value, form)
            if let seconds, form == .duration, seconds < 1 {
                // 0 is what is left of a token that the server gives again, but for those that mean "never" by it.
                let isEndless = seconds == 0 && profile?.zeroLifetime == .never
                return isEndless ? (RefreshRule.endlessLifetime, .unlimited) : (.zero, .stated)
            }
            if let known = seconds.flatMap({ Self.plausible($0, cap: Self.longestLifetime) }) {
                return (known, .stated)
            }
            basis = .unreadable
        }
        return (nil, basis)
    }

    /// Refreshes come up to a tenth earlier than they are due (`RefreshRule`): a fifth more keeps them a whole interval apart.
    private func refreshIn(in tokens: [String: JSONValue]) -> Duration? {
        if let interval = profile?.validateAtMost?.duration { return interval * 6 / 5 }
        return duration([("refresh_in", .duration)], in: tokens, cap: Self.longestLifetime)
    }

    private func locate(_ fields: [String: JSONValue]) -> [String: JSONValue]? {
        let paths = (profile?.tokenPath.map { [$0] } ?? []) + [[]] + Self.nests.map { [$0] }
        for path in paths {
            var place: JSONValue? = .object(fields)
            for step in path { place = place?.member(step) }
            if let place = place?.fields, text(Self.accessTokenNames, in: place) != nil { return place }
        }
        return nil
    }

    private func secret(_ names: [String], in fields: [String: JSONValue]) -> Secret? {
        text(names, in: fields).map { Secret($0) }
    }

    private func text(_ names: [String], in fields: [String: JSONValue]) -> String? {
        for name in names {
            if let text = fields[name]?.text, !text.isEmpty { return text }
        }
        return nil
    }

    private func refreshTokenLifetime(in fields: [String: JSONValue]) -> Duration? {
        let isStated = Self.refreshTokenLifetimeNames.contains { name, _ in
            if case .some(let value) = fields[name], value != .null { true } else { false }
        }
        guard !isStated else {
            return duration(Self.refreshTokenLifetimeNames, in: fields, cap: .seconds(3650 * 86_400))
        }
        // An answer says nothing about an end that counts from the sign-in: the account's state knows when that was.
        return profile?.refreshTokenLifetimeStart == .use ? profile?.refreshTokenLifetime?.duration : nil
    }

    /// The first of `names` whose value makes sense: finite, more than 0 and less than 300 years; `cap` is the most
    /// returned.
    private func duration(_ names: [(String, Form)], in fields: [String: JSONValue], cap: Duration) -> Duration? {
        for (name, form) in names {
            guard let value = fields[name], let seconds = seconds(value, form) else { continue }
            if let duration = Self.plausible(seconds, cap: cap) { return duration }
        }
        return nil
    }

    private static func plausible(_ seconds: Double, cap: Duration) -> Duration? {
        seconds >= 1 && seconds < 1e10 ? min(.seconds(Int64(seconds)), cap) : nil
    }

    private func seconds(_ value: JSONValue, _ form: Form) -> Double? {
        switch form {
        case .duration:
            return value.seconds
        case .instant:
            let present = Double(now.microseconds) / 1e6
            if let text = value.text, let date = HTTPDate.parseISO8601(text) { return Double(date) - present }
            guard let instant = value.seconds else { return nil }
            // 10¹¹ s are the year 5138: anything beyond is milliseconds.
            return (instant >= 1e11 ? instant / 1000 : instant) - present
        }
    }

    private func scopes(in fields: [String: JSONValue]) -> [String]? {
        let scopes: [String]
        // Twitch answers with an array, others with one string.
        if let list = fields["scope"]?.texts ?? fields["scopes"]?.texts {
            scopes = list.filter { !$0.isEmpty }
        } else {
            let separator = profile?.scopeSeparator ?? " "
            let words = fields["scope"]?.text?.split { $0 == " " || String($0) == separator } ?? []
            scopes = words.map(String.init)
        }
        return scopes.isEmpty ? nil : scopes
    }
}
