import RefreshCore

/// A refresh token, as the model server numbers them.
struct ModelToken: Hashable {
    /// The number of the sign-in.
    var family: Int
    /// The number within the sign-in. Each rotation increases it.
    var serial: Int
}

/// The tokens that the model server gives for a refresh token.
struct ModelTokens: Hashable {
    var refreshToken: ModelToken
    /// The true time at which the access token expires.
    var accessEndsAt: Int64
    var issuance: Issuance
}

/// An authorization server in virtual time: rotation, reuse detection, grace, lifetimes.
struct ModelServer {
    struct Rules: Hashable {
        var isRotating = true
        /// Whether a spent refresh token ends the whole grant (RFC 9700 §4.14.2).
        var detectsReuse = true
        /// How long a spent refresh token is still accepted.
        var grace = Duration.zero
        var accessLifetime = Duration.seconds(3600)
        var refreshEnd = RefreshEnd.never
        var tellsAccessLifetime = true
        var tellsRefreshLifetime = false
        /// Whether the server gives refresh tokens. Some give only access tokens.
        var givesRefreshToken = true
        /// The token targets that are refused, with the class of the refusal. The grant remains, and its refresh token
        /// is not spent.
        var refusedTargets: [TokenTarget: FailureClass] = [:]
    }

    enum RefreshEnd: Hashable {
        case never
        /// Each use starts the time again.
        case idle(Duration)
        case absolute(Duration)
    }

    /// Why a grant has ended.
    enum End: Hashable {
        case revoked, reused, idle, expired, userWanted
    }

    enum Answer: Hashable {
        case tokens(ModelTokens)
        case refused(FailureClass)
    }

    let rules: Rules
    /// Why the present family has ended; nil while it is valid.
    private(set) var end: End?
    private var family = 0
    private var current = 0
    private var spent: (serial: Int, at: Int64)?
    private var refreshEndsAt = Int64.max

    init(rules: Rules) {
        self.rules = rules
    }

    /// A user signs in: returns the first refresh token of a new family, and its lifetime if the server tells it.
    mutating func signIn(at time: Int64) -> (token: ModelToken, lifetime: Duration?) {
        family += 1
        (current, spent, end) = (1, nil, nil)
        switch rules.refreshEnd {
        case .never: refreshEndsAt = .max
        case .idle(let lifetime), .absolute(let lifetime): refreshEndsAt = time + lifetime.microseconds
        }
        return (ModelToken(family: family, serial: current), toldRefreshLifetime(at: time))
    }

    /// A user signs in, and the server returns the tokens at once.
    mutating func obtain(at time: Int64) -> ModelTokens {
        _ = signIn(at: time)
        return tokens(at: time)
    }

    mutating func endGrant(_ reason: End) {
        end = end ?? reason
    }

    /// Whether `token` is spent, and its use at `time` would count as a replay.
    func isReplay(_ token: ModelToken, at time: Int64) -> Bool {
        token.family == family && token.serial != current && !isForgiven(token, at: time)
    }

    mutating func refresh(_ token: ModelToken, for target: TokenTarget?, at time: Int64) -> Answer {
        guard token.family == family else { return .refused(.grantEnded) }
        if end == nil && time >= refreshEndsAt {
            if case .idle = rules.refreshEnd { end = .idle } else { end = .expired }
        }
        guard end == nil else { return .refused(end == .userWanted ? .userRequired : .grantEnded) }
        if isReplay(token, at: time) {
            if rules.detectsReuse { end = .reused }
            return .refused(.grantEnded)
        }
        if let target, let refusal = rules.refusedTargets[target] { return .refused(refusal) }
        // A second use within the grace returns the same token again, as in django-oauth-toolkit.
        if rules.isRotating, token.serial == current {
            spent = (current, time)
            current += 1
        }
        if case .idle(let lifetime) = rules.refreshEnd { refreshEndsAt = time + lifetime.microseconds }
        return .tokens(tokens(at: time))
    }

    private func isForgiven(_ token: ModelToken, at time: Int64) -> Bool {
        guard let spent else { return false }
        return token.serial == spent.serial && time - spent.at < rules.grace.microseconds
    }

    private func tokens(at time: Int64) -> ModelTokens {
        ModelTokens(
            refreshToken: ModelToken(family: family, serial: current),
            accessEndsAt: time + rules.accessLifetime.microseconds,
            issuance: Issuance(
                lifetime: rules.tellsAccessLifetime ? rules.accessLifetime : nil,
                isRotated: rules.isRotating,
                refreshTokenLifetime: toldRefreshLifetime(at: time)
            )
        )
    }

    /// The remaining lifetime in whole seconds, as servers count.
    private func toldRefreshLifetime(at time: Int64) -> Duration? {
        guard rules.tellsRefreshLifetime, refreshEndsAt < .max else { return nil }
        return .seconds(max((refreshEndsAt - time) / 1_000_000, 0))
    }
}
