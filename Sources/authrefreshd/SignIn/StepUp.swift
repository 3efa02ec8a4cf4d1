internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// What a resource server or the authorization server wants beyond the grant that there is, until somebody signs in for it.
///
/// Kept in memory only: after a restart the resource server asks again. The account's tokens are as good as before for everybody else.
struct StepUp: Sendable {
    /// On the wire, in place of an `InteractionReason`.
    static let reason = "stepUp"

    /// When it was asked for.
    let since: Timestamp
    /// Whether only a person can help; if not, a refresh that asks for `claims` is under way.
    var needsPerson = true
    var acrValues: [String] = []
    var maxAge: Duration?
    /// All that the next grant is to have; nil leaves them as they are.
    var scopes: [String]?
    /// A JSON object.
    var claims: String?
    /// The challenge's own words, fit to be shown.
    var error: String?
    var description: String?

    init(since: Timestamp, claims: String) {
        self.since = since
        self.claims = claims
    }

    /// - Parameter usual: the scopes that the account's grants have.
    /// - Returns: nil for a demand that needs nothing beyond the grant.
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
            self.scopes = usual + scopes.filter { !usual.contains($0) }
        }
    }
}

extension StepUp {
    /// What a completed sign-in has shown of itself.
    struct Proof: Sendable {
        /// What the server was asked for.
        let request: SignInRequest
        let person: SignedInPerson
        /// Nil if the server granted what was asked for (RFC 6749 §5.1).
        let grantedScopes: [String]?
        /// By the server's clock, as far as it told.
        let obtainedAt: Timestamp
    }

    /// Whether a sign-in has brought what is wanted (RFC 9470 §6.1).
    ///
    /// What the server says of it is held against the demand. Where it says nothing, it counts what the server was asked for: the resource
    /// server sees for itself, and demands it again.
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

    /// Clocks differ, and the person types for a moment: as much as an ID token's times are tolerated by.
    private static let leeway = Duration.seconds(60)
}

/// What is wanted beyond accounts' grants: at most one demand for each account, the last.
struct StepUps {
    private var demands: [AccountID: StepUp] = [:]

    subscript(_ account: AccountID) -> StepUp? { demands[account] }

    /// Notes a demand, in place of an earlier one.
    ///
    /// - Returns: what is to be announced; nil if no person is needed.
    @discardableResult
    mutating func note(_ stepUp: StepUp, of account: AccountID) -> Announcement? {
        demands[account] = stepUp
        return stepUp.needsPerson ? .stepUpRequired(stepUp) : nil
    }

    /// Notes what the answer to an account's own request says of a demand.
    ///
    /// - Parameter claims: what the request asked for; nil if it was for the grant alone.
    /// - Returns: what is to be announced; nil if nothing is.
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
            // Without claims of ours it is the grant itself that the server wants a person for, and tells so by itself.
            return claims == nil ? nil : announcement
        }
    }

    mutating func forget(_ account: AccountID) {
        demands[account] = nil
    }

    /// A refresh that asked for `claims` has brought a token. One that was under way already when the demand came has not met it.
    mutating func met(_ claims: String?, of account: AccountID) {
        if claims != nil, demands[account]?.claims == claims { forget(account) }
    }

    /// Forgets a demand that has lost its grant, or that a person's sign-in has met.
    ///
    /// - Parameter proof: what the sign-in of `account` has shown of itself, whose tokens are stored now; nil if none was under way.
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

    /// Whether a demand waits for a refresh that asks for it.
    func isDemanding(_ account: AccountID) -> Bool {
        demands[account]?.needsPerson == false
    }
}

extension FailureClass {
    /// Whether the server has looked at what it was asked for.
    fileprivate var isAnswer: Bool {
        switch self {
        case .unreachable, .unanswered, .unavailable, .untrusted: false
        case .grantEnded, .rejected, .refusedByGateway, .userRequired, .misconfigured: true
        }
    }
}
