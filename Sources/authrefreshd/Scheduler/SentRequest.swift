internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import Logging
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// A request to a token endpoint, from its start until the machine gets its result.
private struct SentRequest: Sendable {
    let lease: Lease
    /// What was requested; nil for the account's default access token.
    let target: TokenTarget?
    /// The scope in the request, because the server would otherwise omit some of it; nil if none was named.
    let scopes: [String]?
    /// The account when the request was sent.
    let record: Record
    let place: IssuerGate.Place
    let correlationID: String
    let sentAt: Moment

    var account: Account { record.account }
}

extension RefreshCoordinator {
    /// Sends the refresh token of `lease`, which has been committed. The client of a service account requests a token
    /// in its own name instead.
    ///
    /// - Parameters:
    ///   - target: what is requested; nil for the account's default access token.
    ///   - token: the stored refresh token; nil if there is none.
    ///   - lastFailure: the failure of the previous attempt; nil if it succeeded.
    /// - Returns: whether a request is under way. If not, the next turn decides on the reason.
    func send(
        _ lease: Lease,
        for target: TokenTarget?,
        of record: Record,
        spending token: Result<RefreshToken?, StoreError>,
        after lastFailure: RefreshFailure?,
        at now: Moment
    ) -> Bool {
        let account = record.account
        var pending = PendingRequest(lease: lease, correlationID: RandomText.correlationID(), lastFailure: lastFailure)
        let asking = requestingClient(of: account, correlationID: pending.correlationID)
        switch draft(for: target, of: record, spending: token, as: asking) {
        case .awaited(let source):
            awaitToken(of: source, with: pending.awaitingSource, for: account.id, target)
            return false
        case .failed(let failure):
            // The machine treats it like a failure reported by the server, except that nothing was spent.
            submit(.failed(lease.generation, failure, for: target), for: account.id)
            return false
        case .ready(let request):
            let sent = SentRequest(
                lease: lease,
                target: target,
                scopes: request.scopes,
                record: record,
                place: scheduler.enter(record, target, limits: settings.limits(for: account), at: now),
                correlationID: pending.correlationID,
                sentAt: now
            )
            host.delaySleep()
            pending.claims = request.claims
            pending.task = begin(request, as: sent)
            scheduler.begin(pending, of: account.id)
            return true
        }
    }

    private func draft(
        for target: TokenTarget?,
        of record: Record,
        spending token: Result<RefreshToken?, StoreError>,
        as asking: RequestingClient
    ) -> TokenRequest.Draft {
        let account = record.account
        if let grant = account.registration.serviceGrant {
            return request(by: grant, for: account, target, as: asking)
        }
        do throws(RefreshFailure) {
            let request = RefreshRequest(
                spending: try RefreshToken.toSpend(token),
                for: target,
                of: record,
                as: asking,
                rotationGrace: settings.policy(of: account).rotationGrace,
                stepUp: stepUps[account.id]
            )
            return .ready(.refresh(request))
        } catch {
            return .failed(error)
        }
    }

    private func begin(_ request: TokenRequest, as sent: SentRequest) -> Task<Void, Never> {
        // The task runs on the thread on which the answer arrives, so that reading it needs no switch of threads.
        Task(executorPreference: client.executor) { @concurrent [client, queue] in
            let outcome = await request.run(by: client) {
                queue.async { self.assumeIsolated { $0.overdue(sent) } }
            }
            // This is not awaited, because the task would return to its own thread only to end there.
            queue.async { self.assumeIsolated { $0.ended(sent, with: outcome) } }
        }
    }

    // MARK: The end of a request

    /// Handles a request that has exceeded its time limit while its connection is open.
    ///
    /// The daemon keeps reading, because the answer may contain the only refresh token that the server still accepts.
    /// Callers no longer wait, and the place at the issuer's gate is free.
    private func overdue(_ sent: SentRequest) {
        let (account, lease) = (sent.account, sent.lease)
        guard scheduler.passLimit(sent.correlationID, at: sent.place, of: sent.record.issuerID, lease) else { return }
        wake()
        guard let pending = scheduler.requests.holding(lease, of: account.id) else { return }
        changeLog.logger.notice(
            "the server has not answered in time; the daemon still waits for its answer",
            metadata: [
                JournalKey.account.rawValue: "\(account.name)",
                JournalKey.correlationID.rawValue: "\(sent.correlationID)",
            ]
        )
        if isStopping { pending.task?.cancel() }
        guard let now = try? records.record(of: account.id) else { return }
        answerWaiters(of: account.id, with: .overdue(snapshot(of: now, at: timebase.now())))
    }

    private func ended(_ sent: SentRequest, with outcome: RefreshOutcome) {
        let (account, record, correlationID) = (sent.account, sent.record, sent.correlationID)
        let now = timebase.now()
        // Nil if the grant was replaced meanwhile. Claims that were requested with the old grant do not concern the new
        // one.
        let pending = scheduler.end(sent.lease, of: record, outcome, at: sent.place, correlationID, now: now)
        let claims = pending?.claims
        requestMetrics.note(outcome.failureClass, after: now.elapsed(since: sent.sentAt))
        noteServerDate(outcome.serverDate, of: record.issuerID)
        if let fault = outcome.idTokenFault {
            changeLog.write(.idTokenRefused(fault, of: account.name, correlationID: correlationID))
        }
        if sent.target == nil, let demand = stepUps.note(outcome, having: claims, of: account.id, at: now) {
            announce(demand, of: record, at: now)
        }
        var tokens: StoredTokens?
        if case .success(let response) = outcome.result { tokens = StoredTokens(response) }
        submit(
            QueuedEvent(
                account: account.id,
                event: event(of: outcome, to: sent, having: claims),
                tokens: tokens,
                learnedEncoding: outcome.basicCredentialEncoding,
                learnedScope: learnedScope(from: outcome, to: sent),
                learnedPerson: outcome.person,
                correlationID: correlationID
            )
        )
        guard account.registration.clientSecretExpiresAt != nil else { return }
        renewClientSecretIfDue(of: account.id)
    }

    /// The event for the result of a request.
    ///
    /// - Parameter claims: the requested claims beyond the grant; nil for none.
    private func event(of outcome: RefreshOutcome, to sent: SentRequest, having claims: String?) -> Event {
        let (generation, target) = (sent.lease.generation, sent.target)
        switch outcome.result {
        case .success(let response): return .issued(generation, response.issuance, for: target)
        case .failure(let failure):
            // The refresh token was not spent, and the next request asks in another way.
            if target == nil, isOutdated(sent, after: failure) { return .answer(.leaseReturned(generation)) }
            if target == nil, let lack = sourceLacking(for: sent.account, after: failure) {
                return .answer(.sourceLacking(generation, lack))
            }
            // The failure may be about the claims or the scope only. The next request asks for neither, and shows
            // whether the grant is affected.
            let isBeyondGrant = claims != nil || sent.scopes != nil && failure.mayMeanScope
            guard isBeyondGrant else { return .failed(generation, failure, for: target) }
            return .answer(.demandRefused(generation, failure))
        }
    }

    /// Whether the server refused a request that would be different now, because the settings were changed after it
    /// began, or the client's secret was replaced.
    private func isOutdated(_ sent: SentRequest, after failure: RefreshFailure) -> Bool {
        guard failure.failureClass.subject != .service, let now = try? store.record(sent.account.id)?.account else {
            return false
        }
        return !now.asksToRefresh(like: sent.account)
    }

    /// What the answer to a request shows about the scope of the account's grant; nil if that is nothing new.
    private func learnedScope(from outcome: RefreshOutcome, to sent: SentRequest) -> GrantedScope? {
        let account = sent.account
        let asking = requestingClient(of: account, correlationID: sent.correlationID)
        guard account.registration.serviceGrant == nil, asking.leavesScopeToServer else { return nil }
        var scope = account.grantFacts.scope
        if let target = sent.target {
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
            if sent.scopes != nil, failure.mayMeanScope { scope?.noteRefusal() }
        }
        return scope == account.grantFacts.scope ? nil : scope
    }

    // MARK: How long a token lives

    /// Asks the server how long an access token lives (RFC 7662), if the answer did not state it and the profile names
    /// an endpoint.
    ///
    /// For a token without a refresh token, the client has already asked. A refresh token must be stored first.
    func askForLifetime(after decision: AccountTransition) {
        let account = decision.record.account
        guard !isStopping, let (token, issuedAt) = decision.tokenOfUnknownLifetime,
            settings.profile(for: account)?.introspectionEndpoint != nil
        else { return }
        let correlationID = decision.arrival.correlationID ?? RandomText.correlationID()
        let asking = requestingClient(of: account, correlationID: correlationID)
        // If all places are taken, the assumed lifetime stays.
        _ = beginServerCall { coordinator in
            if let lifetime = await coordinator.client.introspection.lifetime(of: token, as: asking) {
                coordinator.submit(.lifetimeLearned(lifetime, issuedAt: issuedAt), for: account.id)
            }
        }
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
        target.map { .answer(.targetIssued($0, generation, issuance)) } ?? .answer(.tokensIssued(generation, issuance))
    }

    /// The event for a request that failed.
    ///
    /// - Parameter target: what was requested; nil for the account's default access token.
    static func failed(_ generation: Generation, _ failure: RefreshFailure, for target: TokenTarget?) -> Event {
        target.map { .answer(.targetFailed($0, generation, failure)) } ?? .answer(.refreshFailed(generation, failure))
    }
}
