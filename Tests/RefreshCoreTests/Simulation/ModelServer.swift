import RefreshCore

/// A refresh token as the model server numbers them.
struct ModelToken: Hashable {
    /// One sign-in.
    var family: Int
    /// Raised by each rotation.
    var serial: Int
}

/// What the model server gives for a refresh token.
struct ModelTokens: Hashable {
    var refreshToken: ModelToken
    /// True time at which the access token ends.
    var accessEndsAt: Int64
    var issuance: Issuance
}

/// An authorization server in virtual time: rotation, reuse detection, grace, lifetimes.
struct ModelServer {
    struct Rules: Hashable {
        var isRotating = true
        /// A spent refresh token ends the whole grant (RFC 9700 §4.14.2).
        var detectsReuse = true
        /// How long a spent refresh token is still taken.
        var grace = Duration.zero
        var accessLifetime = Duration.seconds(3600)
        var refreshEnd = RefreshEnd.never
        var tellsAccessLifetime = true
        var tellsRefreshLifetime = false
        /// Some give an access token only.
        var givesRefreshToken = true
        /// Token targets that are refused, and how: the grant stands, and its refresh token is not spent.
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
    /// Why the present family has ended; nil while it is good.
    private(set) var end: End?
    private var family = 0
    private var current = 0
    private var spent: (serial: Int, at: Int64)?
    private var refreshEndsAt = Int64.max

    init(rules: Rules) {
        self.rules = rules
    }

    /// A user signs in: the first refresh token of a new family, and its lifetime if the server tells.
    mutating func signIn(at time: Int64) -> (token: ModelToken, lifetime: Duration?) {
        family += 1
        (current, spent, end) = (1, nil, nil)
        switch rules.refreshEnd {
        case .never: refreshEndsAt = .max
        case .idle(let lifetime), .absolute(let lifetime): refreshEndsAt = time + lifetime.microseconds
        }
        return (ModelToken(family: family, serial: current), toldRefreshLifetime(at: time))
    }

    /// A user signs in, and the server gives the tokens at once.
    mutating func obtain(at time: Int64) -> ModelTokens {
        _ = signIn(at: time)
        return tokens(at: time)
    }

    mutating func endGrant(_ reason: End) {
        end = end ?? reason
    }

    /// Whether `token` has been spent and would look like a replay at `time`.
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
        // A second use within the grace is given the same token again, as django-oauth-toolkit does.
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

    /// In whole seconds, as servers count.
    private func toldRefreshLifetime(at time: Int64) -> Duration? {
        guard rules.tellsRefreshLifetime, refreshEndsAt < .max else { return nil }
        return .seconds(max((refreshEndsAt - time) / 1_000_000, 0))
    }
}
