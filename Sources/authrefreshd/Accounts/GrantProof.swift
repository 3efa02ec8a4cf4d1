internal import AccountStorage
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// Replaces an account's grant, which may still work, by an imported one, but only after the server has issued tokens
/// for the new one.
///
/// Until then the old grant is used with its settings. The answer and the replacement are stored in one commit.
struct GrantProof: Sendable {
    let grant: RefreshToken
    /// The account with the settings for the new grant.
    let account: Account
    /// The change from the stored account to that account; nil if they are the same.
    let change: SettingsChange?

    /// How a proof ends.
    enum Outcome {
        /// The new grant is stored. No snapshot means that the account was removed meanwhile.
        case stored(AccountSnapshot?)
        /// The server issues no tokens. The account keeps its grant and its settings.
        case refused(RefreshFailure)
        /// The answer could not be stored. It is kept, and stored as soon as possible.
        case unstored(StoreError)
    }
}

extension RefreshCoordinator {
    /// Proves a new grant.
    func prove(_ proof: GrantProof) async -> GrantProof.Outcome {
        let (account, change) = (proof.account, proof.change)
        let (sentAt, correlationID) = (timebase.now(), RandomText.correlationID())
        // Nobody has said whose grant it is.
        let request = RefreshRequest(
            client: requestingClient(of: account, correlationID: correlationID),
            refreshToken: proof.grant,
            target: nil,
            hasWorkedBefore: false,
            subject: nil
        )
        // Somebody is waiting, and may have just repaired the server.
        client.forgetFailures(of: account.issuer)
        let outcome = await client.refresh(request)
        // Keep the answer even if the store cannot be read now.
        let record = try? records.record(of: account.id)
        if let record { noteServerDate(outcome.serverDate, of: record.issuerID) }
        let response: TokenResponse
        do { response = try outcome.result.get() } catch { return .refused(error) }
        if let record {
            let changed = change?.applied(to: record.account) ?? record.account
            guard changed.isAsked(like: account) else {
                let detail = FailureDetail(summary: "the account's server or client was changed meanwhile")
                return .refused(RefreshFailure(.unavailable, detail: detail))
            }
        }
        var tokens = StoredTokens(response)
        tokens.refreshToken = tokens.refreshToken ?? proof.grant
        tokens.imported = proof.grant
        let now = timebase.now()
        let arrival = QueuedEvent(
            account: account.id,
            event: .grant(.proved(response.issuance, sentAt: sentAt)),
            tokens: tokens,
            grantFacts: GrantFacts(
                subject: outcome.person?.subject,
                person: outcome.person?.names,
                scope: response.scopes.flatMap { GrantedScope(granted: $0) }
            ),
            settings: change,
            learnedEncoding: outcome.basicCredentialEncoding,
            correlationID: correlationID
        )
        do throws(StoreError) {
            try decideNow(arrival, at: now)
            return .stored(try records.record(of: account.id).map { snapshot(of: $0, at: now) })
        } catch {
            return .unstored(error)
        }
    }
}

/// The proofs that are under way. A call with a token that is being proved waits for that proof, because a token that is
/// sent twice ends the grant at a server that rotates.
struct GrantProofs {
    /// Called once, on the coordinator's queue, with the proof and its result.
    typealias Answer = @Sendable (GrantProof, GrantProof.Outcome) -> Void

    private var underWay: [(proof: GrantProof, answers: [Answer])] = []

    mutating func begin(_ proof: GrantProof, _ answer: @escaping Answer) {
        underWay.append((proof, [answer]))
    }

    /// Waits for the proof of this token for this account.
    ///
    /// - Returns: false if there is none; then `answer` is never called.
    mutating func join(_ grant: RefreshToken, of account: AccountID, _ answer: @escaping Answer) -> Bool {
        guard let index = index(of: grant, account) else { return false }
        underWay[index].answers.append(answer)
        return true
    }

    /// Ends a proof.
    ///
    /// - Returns: whom to tell.
    mutating func end(_ proof: GrantProof) -> [Answer] {
        guard let index = index(of: proof.grant, proof.account.id) else { return [] }
        return underWay.remove(at: index).answers
    }

    private func index(of grant: RefreshToken, _ account: AccountID) -> Int? {
        underWay.firstIndex { $0.proof.account.id == account && $0.proof.grant == grant }
    }
}
