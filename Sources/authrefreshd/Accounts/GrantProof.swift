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

    /// Proves the new grant.
    ///
    /// - Returns: nil if the account was removed meanwhile.
    /// - Throws: `server` if the server issues no tokens; the account then keeps its grant and its settings. `store` if
    ///   the answer could not be stored; it is kept and stored as soon as possible.
    func run(on coordinator: isolated RefreshCoordinator) async throws(ServerOrStoreError) -> AccountSnapshot? {
        let (sentAt, correlationID) = (coordinator.timebase.now(), CorrelationID.new())
        // Nobody has said whose grant it is.
        let request = RefreshRequest(
            client: coordinator.requestingClient(of: account, correlationID: correlationID),
            refreshToken: grant,
            target: nil,
            hasWorkedBefore: false,
            subject: nil
        )
        // Somebody is waiting, and may have just repaired the server.
        coordinator.client.forgetFailures(of: account.issuer)
        let outcome = await coordinator.client.refresh(request)
        // Keep the answer even if the store cannot be read now.
        let record = try? coordinator.records.record(of: account.id)
        if let record { HostChanges.noteServerDate(outcome.serverDate, of: record.issuerID, on: coordinator) }
        let response: TokenResponse
        do throws(RefreshFailure) { response = try outcome.result.get() } catch { throw .server(error) }
        if let record {
            let changed = change?.applied(to: record.account) ?? record.account
            guard changed.isAsked(like: account) else {
                throw .server(RefreshFailure(.unavailable, detail: FailureDetail(.changedMeanwhile)))
            }
        }
        var tokens = StoredTokens(response)
        tokens.refreshToken = tokens.refreshToken ?? grant
        tokens.imported = grant
        let now = coordinator.timebase.now()
        let arrival = Arrival(
            account: account.id,
            event: .grantProved(response.issuance, sentAt: sentAt),
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
            try coordinator.decideNow(arrival, at: now)
            return try coordinator.records.record(of: account.id).map { coordinator.snapshot(of: $0, at: now) }
        } catch {
            throw .store(error)
        }
    }
}

/// Why something that a server issues only once is missing: the server did not issue it, or it could not be stored.
enum ServerOrStoreError: Error {
    case server(RefreshFailure)
    case store(StoreError)
}
