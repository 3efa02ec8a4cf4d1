package import RefreshCore
internal import TextEncodings

/// The tokens of one successful answer of the token endpoint (RFC 6749 §5.1).
package struct TokenResponse: Sendable {
    /// Nil if the answer has none that a header may carry. `issuance.flaw` says so.
    package internal(set) var accessToken: AccessToken?
    /// The new refresh token; nil if the old one stays valid: the field was absent, null, blank, or equal to the token
    /// that was sent (RFC 6749 §6).
    package var refreshToken: RefreshToken?
    package var issuance: Issuance
    /// Whether the answer says how long the access token lives.
    package var isLifetimeStated = true
    /// The granted scopes; nil if the server did not say, which means the scopes that were asked for (RFC 6749 §5.1).
    package var scopes: [String]?
    package var idToken: Secret?
}

/// Reads a successful answer with tables of the names and forms that servers really use.
///
/// An answer with an access token is a success whatever else is wrong with it, because its tokens must not be lost. So is
/// one with a new refresh token alone: the server may no longer accept the one that was sent.
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

    private static let accessTokenNames = ["access_token", "accessToken"]
    private static let refreshTokenNames = ["refresh_token", "refreshToken"]
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

    /// Whether `fields` contain an access token or a new refresh token.
    package func takes(_ fields: [String: JSONTree]) -> Bool {
        locate(fields) != nil
    }

    /// The tokens in `fields`; nil if they contain neither an access token nor a new refresh token.
    package func decode(_ fields: [String: JSONTree]) -> TokenResponse? {
        guard let (tokens, accessToken) = locate(fields) else { return nil }
        let rotated = newRefreshToken(in: tokens, accessToken)
        let flaw: AccessTokenFinding? =
            if let accessToken { Self.isSendable(accessToken) ? nil : .unsendable } else { .missing }
        let (stated, statedBasis) = statedLifetime(in: tokens)
        let (lifetime, basis) =
            stated == nil
            ? unstatedLifetime(of: accessToken, isRefreshable: sent != nil || rotated != nil, statedBasis)
            : (stated, statedBasis)
        let refreshIn = refreshIn(in: tokens)
        return TokenResponse(
            accessToken: flaw == nil
                ? accessToken.map { AccessToken(Secret($0), type: text(["token_type"], in: tokens) ?? "Bearer") } : nil,
            refreshToken: rotated,
            issuance: Issuance(
                lifetime: lifetime,
                lifetimeBasis: basis,
                // A time for the refresh after the token's own end is a mistake.
                refreshIn: refreshIn.flatMap { wish in lifetime.map { wish < $0 } ?? true ? wish : nil },
                isRotated: rotated != nil,
                flaw: flaw,
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
    private func statedLifetime(in tokens: [String: JSONTree]) -> (Duration?, LifetimeBasis) {
        if let interval = profile?.validateAtMost { return (interval * 2, .stated) }
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

    /// The lifetime of an access token about which the answer says nothing: the usual one, or the rest until the token's own
    /// end, if it is a JWT (RFC 7519 §4.1.4), whichever is less. The end is not verified: it only makes a refresh come
    /// earlier, or says for how long a token lasts that cannot be refreshed.
    private func unstatedLifetime(
        of token: String?,
        isRefreshable: Bool,
        _ basis: LifetimeBasis
    ) -> (Duration?, LifetimeBasis) {
        let assumed = profile?.defaultLifetime
        let parts = token?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        guard parts.count == 3, let payload = Base64URL.decode(Array(parts[1].utf8)),
            let end = JSONTree.object(in: payload)?["exp"],
            // A token that seems to have ended already shows that one of the clocks is wrong.
            let rest = seconds(end, .instant).flatMap({ Self.plausible($0, cap: Self.longestLifetime) })
        else { return (assumed, basis) }
        let usual = assumed ?? (isRefreshable ? RefreshRule.assumedLifetime : nil)
        return usual.map { rest < $0 } ?? true ? (rest, .stated) : (assumed, basis)
    }

    /// How long until a refresh is due. Refreshes come up to a tenth earlier than they are due (`RefreshRule`), so a
    /// fifth is added to keep them a whole interval apart.
    private func refreshIn(in tokens: [String: JSONTree]) -> Duration? {
        if let interval = profile?.validateAtMost { return interval * 6 / 5 }
        return duration([("refresh_in", .duration)], in: tokens, cap: Self.longestLifetime)
    }

    /// The object with the tokens, and its access token; nil if there is neither an access token nor a new refresh token.
    ///
    /// The tokens are at the top (RFC 6749 §5.1), unless the profile says where they are. Its path may also lead to the
    /// access token itself, which has another name then.
    private func locate(_ fields: [String: JSONTree]) -> (tokens: [String: JSONTree], accessToken: String?)? {
        var places: [(tokens: [String: JSONTree], accessToken: String?)] = [
            (fields, text(Self.accessTokenNames, in: fields))
        ]
        if let path = profile?.tokenPath, let last = path.last {
            var above = JSONTree.object(fields)
            for step in path.dropLast() { above = above.member(step) ?? .null }
            if let tokens = above.member(last)?.fields {
                places.insert((tokens, text(Self.accessTokenNames, in: tokens)), at: 0)
            } else if let tokens = above.fields, let token = text([last], in: tokens) {
                places.insert((tokens, token), at: 0)
            }
        }
        return places.first { $0.accessToken != nil }
            // With an error, a refresh token is only the server's echo.
            ?? (ErrorReading(fields).error == nil ? places.first { newRefreshToken(in: $0.tokens, nil) != nil } : nil)
    }

    /// Whether an access token is refreshed with itself, so that there is no other refresh token.
    private var isOwnRefreshToken: Bool { profile?.refreshForm.credential == .accessToken }

    /// The refresh token in `fields`, or the access token that is also one; nil if there is none, or only the one that was
    /// sent.
    private func newRefreshToken(in fields: [String: JSONTree], _ accessToken: String?) -> RefreshToken? {
        let received = isOwnRefreshToken ? accessToken : text(Self.refreshTokenNames, in: fields)
        return received.map { RefreshToken(Secret($0)) }.flatMap { $0 == sent ? nil : $0 }
    }

    /// Whether a header may carry the access token (RFC 6749 appendix A.12).
    private static func isSendable(_ token: String) -> Bool {
        token.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }

    private func secret(_ names: [String], in fields: [String: JSONTree]) -> Secret? {
        text(names, in: fields).map { Secret($0) }
    }

    /// The value of the first of `names` that has one, without blanks around it. Some programs write "null" for no
    /// value, and numbers for tokens of digits.
    private func text(_ names: [String], in fields: [String: JSONTree]) -> String? {
        for name in names {
            guard let value = fields[name], value != .boolean(true), value != .boolean(false), let word = value.word
            else {
                continue
            }
            let text = word.trimmingBlanks
            if !text.isEmpty, text != "null" { return String(text) }
        }
        return nil
    }

    private func refreshTokenLifetime(in fields: [String: JSONTree]) -> Duration? {
        let isStated = Self.refreshTokenLifetimeNames.contains { name, _ in
            if case .some(let value) = fields[name], value != .null { true } else { false }
        }
        guard !isStated else {
            return duration(Self.refreshTokenLifetimeNames, in: fields, cap: .seconds(3650 * 86_400))
        }
        // If the lifetime began at the sign-in, an answer does not change its end. The account's state has the time of
        // the sign-in.
        return profile?.refreshTokenLifetimeStart == .use ? profile?.refreshTokenLifetime : nil
    }

    /// The first of `names` whose value makes sense: finite, more than 0 and less than 300 years. At most `cap` is
    /// returned.
    private func duration(_ names: [(String, Form)], in fields: [String: JSONTree], cap: Duration) -> Duration? {
        for (name, form) in names {
            guard let value = fields[name], let seconds = seconds(value, form) else { continue }
            if let duration = Self.plausible(seconds, cap: cap) { return duration }
        }
        return nil
    }

    private static func plausible(_ seconds: Double, cap: Duration) -> Duration? {
        seconds >= 1 && seconds < 1e10 ? min(.seconds(Int64(seconds)), cap) : nil
    }

    private func seconds(_ value: JSONTree, _ form: Form) -> Double? {
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

    private func scopes(in fields: [String: JSONTree]) -> [String]? {
        let scopes: [String]
        // Twitch answers with an array, others with a string.
        if let list = fields["scope"]?.texts ?? fields["scopes"]?.texts {
            scopes = list.filter { !$0.isEmpty }
        } else {
            let separator = profile?.scopeSeparator ?? " "
            let words = fields["scope"]?.text?.split { $0 == " " || String($0) == separator } ?? []
            scopes = words.map(String.init)
        }
        // Programs print scopes, so none may have control characters.
        let arePlain = scopes.allSatisfy { !$0.utf8.contains { $0 < 0x20 || $0 == 0x7f } }
        return scopes.isEmpty || !arePlain ? nil : scopes
    }
}

extension String {
    /// The text without white space at its ends.
    fileprivate var trimmingBlanks: Substring {
        let start = drop(while: \.isWhitespace)
        return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? ""
    }
}
