package import RefreshCore
internal import TextEncodings

/// The tokens of one successful answer of the token endpoint (RFC 6749 §5.1).
package struct TokenResponse: Sendable {
    package let accessToken: AccessToken
    /// The new refresh token; nil if the old one stays valid: the field was absent, null, empty, or equal to the token
    /// that was sent (RFC 6749 §6).
    package var refreshToken: RefreshToken?
    package var issuance: Issuance
    /// Whether the answer says how long the access token lives.
    package var isLifetimeStated = true
    /// The granted scopes; nil if the server did not say, which means the scopes that were asked for (RFC 6749 §5.1).
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

/// Reads a successful answer with tables of the names and forms that servers really use.
///
/// An answer with an access token is a success whatever else is wrong with it, because its tokens must not be lost.
package struct TokenResponseDecoder {
    /// The refresh token that was sent, for recognizing a rotation; nil for a new grant.
    let sent: RefreshToken?
    /// The provider's profile; nil if the server has none.
    let profile: ProviderProfile?
    /// The time by the server's clock: its `Date`, else by our clock. Points in time in the answer are converted to
    /// durations with it.
    let now: Timestamp

    package init(sent: RefreshToken?, profile: ProviderProfile?, now: Timestamp) {
        self.sent = sent
        self.profile = profile
        self.now = now
    }

    private static let accessTokenNames = ["access_token", "accessToken", "token"]
    private static let refreshTokenNames = ["refresh_token", "refreshToken"]
    /// Objects that contain the tokens in the answers of some providers: Slack's user tokens, TikTok, Feishu.
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

    /// A longer lifetime than a year makes no difference.
    private static let longestLifetime = Duration.seconds(365 * 86_400)

    private enum Form {
        /// Seconds from now.
        case duration
        /// A point in time: seconds or milliseconds since 1970, or an RFC 3339 date.
        case instant
    }

    /// Whether `fields` contain an access token.
    package func takes(_ fields: [String: JSONValue]) -> Bool {
        locate(fields) != nil
    }

    /// The tokens in `fields`; nil if they contain no access token.
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
                // A time for the refresh after the token's own end is a mistake.
                refreshIn: refreshIn.flatMap { wish in lifetime.map { wish < $0 } ?? true ? wish : nil },
                isRotated: rotated != nil,
                // 0 means "no end" for Keycloak's offline tokens. A longer lifetime than ten years makes no difference.
                refreshTokenLifetime: isOwnRefreshToken ? lifetime : refreshTokenLifetime(in: tokens)
            ),
            isLifetimeStated: stated != nil,
            scopes: scopes(in: tokens),
            idToken: secret(["id_token"], in: tokens)
        )
    }

    /// The lifetime of the access token. With `validateAtMost` the token itself is of no use, and it is made to last
    /// until after the next validation.
    private func statedLifetime(in tokens: [String: JSONValue]) -> (Duration?, LifetimeBasis) {
        if let interval = profile?.validateAtMost?.duration { return (interval * 2, .stated) }
        var basis = LifetimeBasis.notStated
        for (name, form) in Self.lifetimeNames {
            guard let value = tokens[name], value != .null else { continue }
            let seconds = seconds(value, form)
            if let seconds, form == .duration, seconds < 1 {
                // 0 means an expired token, which some servers return again, unless the profile says that it means
                // "never".
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

    /// How long until a refresh is due. Refreshes come up to a tenth earlier than they are due (`RefreshRule`), so a
    /// fifth is added to keep them a whole interval apart.
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
        // If the lifetime began at the sign-in, an answer does not change its end. The account's state has the time of
        // the sign-in.
        return profile?.refreshTokenLifetimeStart == .use ? profile?.refreshTokenLifetime?.duration : nil
    }

    /// The first of `names` whose value makes sense: finite, more than 0 and less than 300 years. At most `cap` is
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
            // 10¹¹ s are the year 5138. A larger number means milliseconds.
            return (instant >= 1e11 ? instant / 1000 : instant) - present
        }
    }

    private func scopes(in fields: [String: JSONValue]) -> [String]? {
        let scopes: [String]
        // Twitch answers with an array, others with a string.
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
