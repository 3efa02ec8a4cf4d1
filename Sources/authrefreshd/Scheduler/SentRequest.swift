internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import Logging
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// A request to a token endpoint, from its start until the machine gets its result.
struct SentRequest: Sendable {
    private let lease: Lease
    /// What was requested; nil for the account's default access token.
    private let target: TokenTarget?
    /// The scope in the request, because the server would otherwise omit some of it; nil if none was named.
    private let scopes: [String]?
    /// The account when the request was sent.
    private let record: Record
    private let place: IssuerGate.Place
    private let correlationID: String
    private let sentAt: Moment

    private var account: Account { record.account }

    // MARK: The beginning

    /// Sends the refresh token of `lease`, which has been committed. The client of a service account requests a token
    /// in its own name instead.
    ///
    /// - Parameters:
    ///   - target: what is requested; nil for the account's default access token.
    ///   - token: the stored refresh token; nil if there is none.
    ///   - lastFailure: the failure of the previous attempt; nil if it succeeded.
    /// - Returns: whether a request is under way. If not, the next turn decides on the reason.
    static func send(
        _ lease: Lease,
        for target: TokenTarget?,
        of record: Record,
        spending token: Result<RefreshToken?, StoreError>,
        after lastFailure: RefreshFailure?,
        on coordinator: isolated RefreshCoordinator,
        at now: Moment
    ) -> Bool {
        let account = record.account
        var pending = PendingRequest(lease: lease, correlationID: CorrelationID.new(), lastFailure: lastFailure)
        let asking = coordinator.requestingClient(of: account, correlationID: pending.correlationID)
        switch draft(for: target, of: record, spending: token, as: asking, on: coordinator) {
        case .awaited(let source):
            DerivedAccounts.wait(on: source, with: pending.awaitingSource, for: account.id, target, on: coordinator)
            return false
        case .failed(let failure):
            // The machine treats it like a failure reported by the server, except that nothing was spent.
            coordinator.submit(.failed(lease.generation, failure, for: target), for: account.id)
            return false
        case .ready(let request):
            let limits = coordinator.settings.limits(for: account)
            let sent = SentRequest(
                lease: lease,
                target: target,
                scopes: request.scopes,
                record: record,
                place: coordinator.scheduler.enter(record, target, limits: limits, at: now),
                correlationID: pending.correlationID,
                sentAt: now
            )
            coordinator.host.delaySleep()
            pending.claims = request.claims
            pending.task = sent.begin(request, on: coordinator)
            coordinator.scheduler.begin(pending, of: account.id)
            return true
        }
    }

    private static func draft(
        for target: TokenTarget?,
        of record: Record,
        spending token: Result<RefreshToken?, StoreError>,
        as asking: RequestingClient,
        on coordinator: isolated RefreshCoordinator
    ) -> TokenRequest.Draft {
        let account = record.account
        if let grant = account.registration.serviceGrant {
            switch DerivedAccounts.sources(on: coordinator).exchange(of: grant, for: account) {
            case .ready(let tokens, let programs):
                let request = ServiceTokenRequest(client: asking, grant: grant, target: target, exchange: tokens)
                return .ready(.obtain(request, afterLookingAt: programs))
            case .awaited(let source): return .awaited(source)
            case .failed(let failure): return .failed(failure)
            }
        }
        do throws(RefreshFailure) {
            let request = RefreshRequest(
                spending: try RefreshToken.toSpend(token),
                for: target,
                of: record,
                as: asking,
                rotationGrace: coordinator.settings.policy(of: account).rotationGrace,
                stepUp: coordinator.stepUps[account.id]
            )
            return .ready(.refresh(request))
        } catch {
            return .failed(error)
        }
    }

    private func begin(_ request: TokenRequest, on coordinator: isolated RefreshCoordinator) -> Task<Void, Never> {
        let client = coordinator.client
        // The task runs on the thread on which the answer arrives, so that reading it needs no switch of threads.
        return Task(executorPreference: client.executor) { @concurrent [coordinator] in
            let outcome = await request.run(by: client) {
                coordinator.queue.async { coordinator.assumeIsolated { overdue(on: $0) } }
            }
            // This is not awaited, because the task would return to its own thread only to end there.
            coordinator.queue.async { coordinator.assumeIsolated { ended(with: outcome, on: $0) } }
        }
    }

    // MARK: The end

    /// Handles a request that has exceeded its time limit while its connection is open.
    ///
    /// The daemon keeps reading, because the answer may contain the only refresh token that the server still accepts.
    /// Callers no longer wait, and the place at the issuer's gate is free.
    private func overdue(on coordinator: isolated RefreshCoordinator) {
        guard coordinator.scheduler.passLimit(correlationID, at: place, of: record.issuerID, lease) else { return }
        coordinator.wake()
        guard let pending = coordinator.scheduler.requests.holding(lease, of: account.id) else { return }
        coordinator.changeLog.logger.notice(
            "the server has not answered in time; the daemon still waits for its answer",
            metadata: [
                JournalKey.account.rawValue: "\(account.name)", JournalKey.correlationID.rawValue: "\(correlationID)",
            ]
        )
        if coordinator.isStopping { pending.task?.cancel() }
        guard let now = try? coordinator.records.record(of: account.id) else { return }
        let snapshot = coordinator.snapshot(of: now, at: coordinator.timebase.now())
        coordinator.answerWaiters(of: account.id, with: .overdue(snapshot))
    }

    private func ended(with outcome: RefreshOutcome, on coordinator: isolated RefreshCoordinator) {
        let now = coordinator.timebase.now()
        // Nil if the grant was replaced meanwhile. Claims that were requested with the old grant do not concern the new
        // one.
        let pending = coordinator.scheduler.end(lease, of: record, outcome, at: place, correlationID, now: now)
        let claims = pending?.claims
        coordinator.requestMetrics.note(outcome.failureClass, after: now.elapsed(since: sentAt))
        HostChanges.noteServerDate(outcome.serverDate, of: record.issuerID, on: coordinator)
        if let fault = outcome.idTokenFault {
            coordinator.changeLog.write(.idTokenRefused(fault, of: account.name, correlationID: correlationID))
        }
        if target == nil, let demand = coordinator.stepUps.note(outcome, having: claims, of: account.id, at: now) {
            coordinator.announce(demand, of: record, at: now)
        }
        var tokens: StoredTokens?
        if case .success(let response) = outcome.result { tokens = StoredTokens(response) }
        coordinator.submit(
            Arrival(
                account: account.id,
                event: event(of: outcome, having: claims, on: coordinator),
                tokens: tokens,
                learnedEncoding: outcome.basicCredentialEncoding,
                learnedScope: learnedScope(from: outcome, on: coordinator),
                learnedPerson: outcome.person,
                correlationID: correlationID
            )
        )
        guard account.registration.clientSecretExpiresAt != nil else { return }
        ClientSecretRenewal.beginIfDue(for: account.id, on: coordinator)
    }

    /// The event for the result of a request.
    ///
    /// - Parameter claims: the requested claims beyond the grant; nil for none.
    private func event(
        of outcome: RefreshOutcome,
        having claims: String?,
        on coordinator: isolated RefreshCoordinator
    ) -> Event {
        let generation = lease.generation
        switch outcome.result {
        case .success(let response): return .issued(generation, response.issuance, for: target)
        case .failure(let failure):
            // The refresh token was not spent, and the next request asks in another way.
            if target == nil, isOutdated(failure, on: coordinator) { return .leaseReturned(generation) }
            if target == nil, let lack = DerivedAccounts.sources(on: coordinator).lacking(for: account, after: failure)
            {
                return .sourceLacking(generation, lack)
            }
            // The failure may be about the claims or the scope only. The next request asks for neither, and shows
            // whether the grant is affected.
            let isBeyondGrant = claims != nil || scopes != nil && failure.mayMeanScope
            return isBeyondGrant ? .demandRefused(generation, failure) : .failed(generation, failure, for: target)
        }
    }

    /// Whether the server refused a request that would be different now, because the settings were changed after it
    /// began, or the client's secret was replaced.
    private func isOutdated(_ failure: RefreshFailure, on coordinator: isolated RefreshCoordinator) -> Bool {
        switch failure.failureClass {
        case .misconfigured, .untrusted, .rejected, .refusedByGateway, .grantEnded, .userRequired, .refusedHere:
            guard let now = try? coordinator.store.record(account.id)?.account else { return false }
            return !now.refreshes(like: account) || ProfileChoice(now) != ProfileChoice(account)
        case .unreachable, .unanswered, .unavailable: return false
        }
    }

    /// What the answer to a request shows about the scope of the account's grant; nil if that is nothing new.
    private func learnedScope(
        from outcome: RefreshOutcome,
        on coordinator: isolated RefreshCoordinator
    ) -> GrantedScope? {
        let asking = coordinator.requestingClient(of: account, correlationID: correlationID)
        guard account.registration.serviceGrant == nil, asking.leavesScopeToServer else { return nil }
        var scope = account.grantFacts.scope
        if let target {
            guard case .success = outcome.result, scope?.isWider(than: target.scopes) == true, !target.scopes.isEmpty
            else { return nil }
            scope?.noteNarrowing()
            return scope == account.grantFacts.scope ? nil : scope
        }
        switch outcome.result {
        case .success(let response):
            if scope == nil { scope = response.scopes.flatMap { GrantedScope(granted: $0) } }
            scope?.note(response.scopes)
        case .failure(let failure):
            if scopes != nil, failure.mayMeanScope { scope?.noteRefusal() }
        }
        return scope == account.grantFacts.scope ? nil : scope
    }
}

extension RefreshOutcome {
    /// The class of the failure; nil if the request brought tokens.
    fileprivate var failureClass: FailureClass? {
        if case .failure(let failure) = result { failure.failureClass } else { nil }
    }
}

extension Event {
    /// The event for a request that brought tokens.
    ///
    /// - Parameter target: what was requested; nil for the account's default access token.
    fileprivate static func issued(_ generation: Generation, _ issuance: Issuance, for target: TokenTarget?) -> Event {
        target.map { .targetIssued($0, generation, issuance) } ?? .tokensIssued(generation, issuance)
    }

    /// The event for a request that failed.
    ///
    /// - Parameter target: what was requested; nil for the account's default access token.
    static func failed(_ generation: Generation, _ failure: RefreshFailure, for target: TokenTarget?) -> Event {
        target.map { .targetFailed($0, generation, failure) } ?? .refreshFailed(generation, failure)
    }
}

/// The request after some token requests: how long the token lives.
enum LifetimeQuestion {
    /// Asks the server how long an access token lives (RFC 7662), if the answer did not state it and the profile names
    /// an endpoint.
    ///
    /// For a token without a refresh token, the client has already asked. A refresh token must be stored first.
    static func ask(after decision: Decision, on coordinator: isolated RefreshCoordinator) {
        let account = decision.record.account
        guard !coordinator.isStopping, let (token, issuedAt) = decision.tokenOfUnknownLifetime,
            coordinator.settings.profile(for: account)?.introspectionEndpoint != nil
        else { return }
        let correlationID = decision.arrival.correlationID ?? CorrelationID.new()
        let asking = coordinator.requestingClient(of: account, correlationID: correlationID)
        // If all places are taken, the assumed lifetime stays.
        _ = coordinator.beginServerCall { coordinator in
            if let lifetime = await coordinator.client.introspection.lifetime(of: token, as: asking) {
                coordinator.submit(.lifetimeLearned(lifetime, issuedAt: issuedAt), for: account.id)
            }
        }
    }
}
