internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Demands that go beyond an account's grant.
extension RefreshCoordinator {
    /// Notes what a resource server wants; those who follow are told if a person is needed.
    func note(_ stepUp: StepUp, of snapshot: AccountSnapshot) {
        stepUps.note(stepUp, of: snapshot.account.id)
        guard stepUp.needsPerson, let record = try? entry(of: snapshot.account.id)?.record() else { return }
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
