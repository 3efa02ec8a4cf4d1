internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// What a resource server or the authorization server requires beyond the current grant, until somebody signs in for
/// it.
///
/// It is only in memory, because the resource server asks again after a restart. For all other uses, the account's
/// tokens work as before.
struct StepUp: Sendable {
    /// The reason on the wire, instead of an `InteractionReason`.
    static let reason = "stepUp"

    /// When it was first required.
    let since: Timestamp
    /// Whether only a person can help. If not, a refresh that requests `claims` is under way.
    var needsPerson = true
    var acrValues: [String] = []
    var maxAge: Duration?
    /// All scopes that the next grant must have; nil leaves them as they are.
    var scopes: [String]?
    /// Those of them that the account does not ask for by itself.
    var demandedScopes: [String] = []
    /// The required claims, a JSON object.
    var claims: String?
    /// The challenge's error text, safe to show.
    var error: String?
    var description: String?

    init(since: Timestamp, claims: String) {
        self.since = since
        self.claims = claims
    }

    /// Creates a step-up.
    ///
    /// - Parameter usual: the scopes of the account's grants.
    /// - Returns: nil if the demand needs nothing beyond the grant.
    init?(_ demand: TokenDemand, of usual: [String], since: Timestamp) {
        self.since = since
        error = demand.error
        description = demand.description
        switch demand.kind {
        case .anotherToken, .nothing: return nil
        case .claims(let claims):
            self.claims = claims
            needsPerson = false
        case .authentication(let acrValues, let maxAge):
            self.acrValues = acrValues
            self.maxAge = maxAge
        case .scopes(let scopes):
            demandedScopes = scopes.filter { !usual.contains($0) }
            self.scopes = usual + demandedScopes
        }
    }
}

extension StepUp {
    /// What a completed sign-in has shown.
    struct Proof: Sendable {
        /// What the server was asked for.
        let request: SignInRequest
        let person: SignedInPerson
        /// The granted scopes; nil if the server granted the requested ones (RFC 6749 §5.1).
        let grantedScopes: [String]?
        /// When it was completed, by the server's clock, as far as it is known.
        let obtainedAt: Timestamp
    }

    /// Whether a sign-in has met the demand (RFC 9470 §6.1).
    ///
    /// What the server states is compared with the demand. If it states nothing, the request counts, because the
    /// resource server checks for itself and asks again if necessary.
    func isMet(by proof: Proof) -> Bool {
        isStrongEnough(proof) && isRecentEnough(proof) && isWideEnough(proof)
            && (claims == nil || proof.request.claims == claims)
    }

    private func isStrongEnough(_ proof: Proof) -> Bool {
        guard !acrValues.isEmpty else { return true }
        guard let context = proof.person.authenticationContext else { return proof.request.acrValues == acrValues }
        return acrValues.contains(context)
    }

    private func isRecentEnough(_ proof: Proof) -> Bool {
        guard let maxAge else { return true }
        guard let time = proof.person.authenticatedAt else { return proof.request.maxAge.map { $0 <= maxAge } ?? false }
        return proof.obtainedAt - time <= maxAge + Self.leeway
    }

    private func isWideEnough(_ proof: Proof) -> Bool {
        guard let scopes else { return true }
        return Set(proof.grantedScopes ?? proof.request.scopes ?? []).isSuperset(of: scopes)
    }

    /// Clocks differ, and the person needs a moment to sign in. It is the same tolerance as for the times in ID tokens.
    private static let leeway = Duration.seconds(60)
}

/// The demands beyond accounts' grants, at most one for each account, the last.
struct StepUps {
    private var demands: [AccountID: StepUp] = [:]

    subscript(_ account: AccountID) -> StepUp? { demands[account] }

    /// Records a demand, which replaces an earlier one.
    ///
    /// - Returns: the announcement; nil if no person is needed.
    @discardableResult
    mutating func note(_ stepUp: StepUp, of account: AccountID) -> Announcement? {
        demands[account] = stepUp
        return stepUp.needsPerson ? .stepUpRequired(stepUp) : nil
    }

    /// Records what the answer to an account's own request means for its demand.
    ///
    /// - Parameter claims: the requested claims; nil if the request asked for the plain grant.
    /// - Returns: the announcement; nil for none.
    mutating func note(
        _ outcome: RefreshOutcome,
        having claims: String?,
        of account: AccountID,
        at now: Moment
    ) -> Announcement? {
        switch outcome.result {
        case .success:
            met(claims, of: account)
            return nil
        case .failure(let failure):
            guard failure.failureClass.isAnswer, let demanded = outcome.demandedClaims ?? claims else { return nil }
            let announcement = note(StepUp(since: now.wall, claims: demanded), of: account)
            // If we requested no claims, the server wants a person for the grant itself, and the failure says so.
            return claims == nil ? nil : announcement
        }
    }

    mutating func forget(_ account: AccountID) {
        demands[account] = nil
    }

    /// Removes the demand after a refresh that requested `claims` has brought a token. A refresh that was already under
    /// way when the demand came does not count.
    mutating func met(_ claims: String?, of account: AccountID) {
        if claims != nil, demands[account]?.claims == claims { forget(account) }
    }

    /// Removes a demand if its grant no longer exists, or if a person's sign-in has met it.
    ///
    /// - Parameter proof: what the sign-in of `account`, whose tokens are now stored, has shown; nil if there was none.
    mutating func forget(after change: AccountChange, of account: AccountID, signedInBy proof: StepUp.Proof?) {
        switch change {
        case .signedIn, .accessTokenObtained:
            if let proof, let demand = demands[account], !demand.isMet(by: proof) { return }
            forget(account)
        case .grantImported, .signedOut, .signedOutByItself: forget(account)
        case .tokenRefreshed, .interactionRequired, .interactionStillRequired, .targetRefreshed, .targetFailed,
            .refreshFailed, .misconfigured, .refreshTokenExpiring, .signOutNear, .staleAnswerDropped, .parked,
            .unparked:
            break
        }
    }

    /// Whether a demand waits for a refresh that requests its claims.
    func isDemanding(_ account: AccountID) -> Bool {
        demands[account]?.needsPerson == false
    }
}
