internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// A grant from outside that takes the place of an account's, which may still work, once the server has given tokens for it.
///
/// Until then the old one is used as ever, with the settings that go with it. What the server answers is stored with the swap, in one
/// commit.
struct GrantProof: Sendable {
    let grant: RefreshToken
    /// The account as the server is asked for it.
    let account: Account
    /// What makes that of the account as it is stored; nil if they are the same.
    let change: SettingsChange?

    /// - Returns: nil if the account was removed meanwhile.
    /// - Throws: `server` if the server gives no tokens: the account keeps its grant and its settings. `store` if its answer could not be
    ///   stored: it is kept, and stored as soon as that is possible.
    func run(on coordinator: isolated RefreshCoordinator) async throws(ServerOrStoreError) -> AccountSnapshot? {
        let (sentAt, correlationID) = (coordinator.timebase.now(), CorrelationID.new())
        // Whose grant it is, nobody has said.
        let request = RefreshRequest(
            client: coordinator.requestingClient(of: account, correlationID: correlationID),
            refreshToken: grant,
            target: nil,
            hasWorkedBefore: false,
            subject: nil
        )
        // Somebody is waiting who may have just brought the server back.
        coordinator.client.forgetFailures(of: account.issuer)
        let outcome = await coordinator.client.refresh(request)
        // An answer is not dropped for a store that cannot be read now.
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
        let now = coordinator.timebase.now()
        let arrival = Arrival(
            account: account.id,
            event: .grantProved(response.issuance, sentAt: sentAt),
            tokens: tokens,
            grantFacts: GrantFacts(scope: response.scopes.flatMap { GrantedScope(granted: $0) }),
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

/// Why something that a server gives only once was not had: the server did not give it, or it could not be stored.
enum ServerOrStoreError: Error {
    case server(RefreshFailure)
    case store(StoreError)
}
