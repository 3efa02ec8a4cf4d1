internal import AccountStorage
internal import OAuthClient
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

extension SignInRequest {
    /// Whether it says how the person is to be authenticated, for which a device's code has no words (RFC 8628 §3.1).
    var namesAuthentication: Bool { !acrValues.isEmpty || maxAge != nil || claims != nil }

    /// Asks for what `stepUp` wants, as far as the caller has not said it otherwise.
    mutating func satisfy(_ stepUp: StepUp) {
        if acrValues.isEmpty { acrValues = stepUp.acrValues }
        maxAge = maxAge ?? stepUp.maxAge
        scopes = scopes ?? stepUp.scopes
        claims = claims ?? stepUp.claims
    }
}

/// What is wanted beyond accounts' grants: at most one demand for each account, the last.
struct StepUps {
    private var demands: [AccountID: StepUp] = [:]

    subscript(_ account: AccountID) -> StepUp? { demands[account] }

    mutating func note(_ stepUp: StepUp, of account: AccountID) {
        demands[account] = stepUp
    }

    mutating func forget(_ account: AccountID) {
        demands[account] = nil
    }

    /// A refresh that asked for `claims` has brought a token. One that was under way already when the demand came has not met it.
    mutating func met(_ claims: String?, of account: AccountID) {
        if claims != nil, demands[account]?.claims == claims { forget(account) }
    }

    /// Forgets a demand that has lost its grant, or that a person's sign-in has met.
    mutating func forget(after change: AccountChange, of account: AccountID) {
        switch change {
        case .signedIn, .accessTokenObtained, .grantImported, .signedOut: forget(account)
        case .tokenRefreshed, .interactionRequired, .interactionStillRequired, .tokenSetRefreshed, .tokenSetFailed,
            .refreshFailed, .misconfigured, .refreshTokenExpiring, .staleAnswerDropped, .parked, .unparked:
            break
        }
    }

    /// Whether a demand waits for a refresh that asks for it.
    func isDemanding(_ account: AccountID) -> Bool {
        demands[account]?.needsPerson == false
    }
}

/// Demands that go beyond an account's grant.
extension RefreshCoordinator {
    /// Notes what a resource server wants; those who follow are told if a person is needed.
    func note(_ stepUp: StepUp, of snapshot: AccountSnapshot) {
        stepUps.note(stepUp, of: snapshot.account.id)
        guard stepUp.needsPerson, let record = try? records.entry(of: snapshot.account.id)?.record() else { return }
        announce(.stepUpRequired(stepUp), of: record, at: snapshot.at)
    }

    /// Notes what an account's own exchange says of a demand.
    ///
    /// - Parameter claims: what the exchange asked for; nil if it was for the grant alone.
    func noteDemand(of record: Record, having claims: String?, _ outcome: RefreshOutcome, at now: Moment) {
        let id = record.account.id
        switch outcome.result {
        case .success: stepUps.met(claims, of: id)
        case .failure(let failure):
            let isAnswer =
                switch failure.failureClass {
                case .unreachable, .unanswered, .unavailable, .untrusted: false
                case .grantEnded, .rejected, .refusedByGateway, .userRequired, .misconfigured: true
                }
            guard isAnswer, let demanded = outcome.demandedClaims ?? claims else { return }
            let stepUp = StepUp(since: now.wall, claims: demanded)
            stepUps.note(stepUp, of: id)
            // Without claims of ours it is the grant itself that the server wants a person for, and tells so by itself.
            if claims != nil { announce(.stepUpRequired(stepUp), of: record, at: now) }
        }
    }
}
