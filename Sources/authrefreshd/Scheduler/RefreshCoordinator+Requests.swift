internal import AccountStorage
internal import Dispatch
internal import OAuthClient
internal import RefreshCore

/// The requests to token endpoints: as whom they are made, and how they begin and end.
extension RefreshCoordinator {
    /// As whom a request of `account` is made.
    func requestingClient(of account: Account, correlationID: String) -> RequestingClient {
        RequestingClient(
            issuer: account.issuer,
            profile: settings.profile(for: account),
            registration: registrations.current(of: account.id, stored: account.registration),
            basicCredentialEncoding: account.basicCredentialEncoding,
            correlationID: correlationID
        )
    }

    /// Spends the refresh token of `lease`, which has been committed; a service account's client asks for itself instead.
    ///
    /// - Parameters:
    ///   - set: what is asked for; nil for the account's default access token.
    ///   - token: what the store holds of it; nil if nothing.
    ///   - lastFailure: what the attempt before it failed by.
    /// - Returns: whether a request is under way; if not, the next turn decides on why.
    func send(
        _ lease: Lease,
        for set: TokenSet?,
        of record: Record,
        spending token: Result<RefreshToken?, StoreError>,
        after lastFailure: RefreshFailure?,
        at now: Moment
    ) -> Bool {
        let account = record.account
        var pending = PendingRequest(lease: lease, correlationID: CorrelationID.new(), lastFailure: lastFailure)
        let asking = requestingClient(of: account, correlationID: pending.correlationID)
        let request: TokenRequest
        if let grant = account.registration.serviceGrant {
            switch sources.exchange(of: grant, for: account) {
            case .ready(let tokens, let programs):
                let obtaining = ServiceTokenRequest(client: asking, grant: grant, tokenSet: set, exchange: tokens)
                request = .obtain(obtaining, afterLookingAt: programs)
            case .awaited(let source):
                wait(on: source, with: pending.awaitingSource, for: account.id, set)
                return false
            case .failed(let failure):
                submit(.failed(lease.generation, failure, for: set), for: account.id)
                return false
            }
        } else {
            do throws(RefreshFailure) {
                let stored = try token.opened()
                request = .refresh(refreshRequest(spending: stored, for: set, of: record, as: asking))
            } catch {
                // A failure like one that the server reports, but nothing was spent.
                submit(.failed(lease.generation, error, for: set), for: account.id)
                return false
            }
        }
        let place = scheduler.enter(record, set, limits: settings.limits(for: account), at: now)
        host.delaySleep()
        pending.claims = request.claims
        let correlationID = pending.correlationID
        let sent = SentRequest(
            lease: lease,
            set: set,
            scopes: request.scopes,
            record: record,
            place: place,
            correlationID: correlationID
        )
        // Where the answer arrives, so that it is read without a change of threads.
        pending.task = Task(executorPreference: client.executor) { @concurrent [self, client, request] in
            let outcome = await request.run(by: client) { [self] in
                queue.async { self.assumeIsolated { $0.overdue(sent) } }
            }
            // Not awaited: the task would come back to its own thread only to end there.
            queue.async { self.assumeIsolated { $0.ended(sent, with: outcome) } }
        }
        scheduler.begin(pending, of: account.id)
        return true
    }

    private func refreshRequest(
        spending token: RefreshToken,
        for set: TokenSet?,
        of record: Record,
        as asking: RequestingClient
    ) -> RefreshRequest {
        var request = RefreshRequest(
            client: asking,
            refreshToken: token,
            tokenSet: set,
            hasWorkedBefore: set == nil && record.state.hasWorked,
            subject: record.account.grantFacts.subject,
            mayRotate: record.state.isRotating != false,
            rotationGrace: settings.policy(of: record.account).rotationGrace
        )
        // Where a person is needed, the grant goes on as it is.
        if set == nil, let stepUp = stepUps[record.account.id], !stepUp.needsPerson { request.claims = stepUp.claims }
        if set == nil, asking.leavesScopeToServer { request.scopes = record.account.grantFacts.scope?.toName }
        return request
    }

    /// What the answer to an account's own request shows of its grant's scope; nil if that is what was known before.
    private func learnedScope(from outcome: RefreshOutcome, of sent: SentRequest) -> GrantedScope? {
        let account = sent.record.account
        let asking = requestingClient(of: account, correlationID: sent.correlationID)
        guard sent.set == nil, account.registration.serviceGrant == nil, asking.leavesScopeToServer else { return nil }
        var scope = account.grantFacts.scope
        switch outcome.result {
        case .success(let response):
            if scope == nil { scope = response.scopes.flatMap(GrantedScope.init(granted:)) }
            scope?.note(response.scopes)
        case .failure(let failure):
            if sent.scopes != nil, failure.mayMeanScope { scope?.noteRefusal() }
        }
        return scope == account.grantFacts.scope ? nil : scope
    }

    /// A request has passed its time limit, and its connection is still open. Its answer may hold the only refresh token that the server
    /// still takes, so it is read on; callers are let go, and the issuer's slot is free again.
    private func overdue(_ sent: SentRequest) {
        guard scheduler.passLimit(sent.correlationID, at: sent.place, of: sent.record.issuerID) else { return }
        wake()
        let account = sent.record.account.id
        guard let pending = scheduler.requests.holding(sent.lease, of: account) else { return }
        changeLog.overdue(sent.record.account.name, correlationID: sent.correlationID)
        if isStopping { pending.task?.cancel() }
        guard let record = try? records.record(of: account) else { return }
        answerWaiters(of: account, with: .overdue(snapshot(of: record, at: timebase.now())))
    }

    private func ended(_ sent: SentRequest, with outcome: RefreshOutcome) {
        let (record, now) = (sent.record, timebase.now())
        // What was asked for beyond a grant that was replaced meanwhile is none of the new one's business.
        let claims = scheduler.end(sent.lease, of: record, outcome, at: sent.place, sent.correlationID, now: now)?
            .claims
        noteServerDate(outcome.serverDate, of: record.issuerID)
        if let fault = outcome.idTokenFault {
            changeLog.refusedIDToken(fault, of: record.account.name, correlationID: sent.correlationID)
        }
        if sent.set == nil { noteDemand(of: record, having: claims, outcome, at: now) }
        let event: Event
        var tokens: StoredTokens?
        switch outcome.result {
        case .success(let response):
            event = .issued(sent.lease.generation, response.issuance, for: sent.set)
            tokens = StoredTokens(response)
        case .failure(let failure):
            event = ending(sent, having: claims, failure)
        }
        submit(
            Arrival(
                account: record.account.id,
                event: event,
                tokens: tokens,
                learnedEncoding: outcome.basicCredentialEncoding,
                learnedScope: learnedScope(from: outcome, of: sent),
                correlationID: sent.correlationID
            )
        )
        if record.account.registration.clientSecretExpiresAt != nil { tendClientSecret(of: record.account.id) }
    }

    /// What a failure means for the lease that a request was sent with.
    private func ending(_ sent: SentRequest, having claims: String?, _ said: RefreshFailure) -> Event {
        let (account, generation) = (sent.record.account, sent.lease.generation)
        let failure = isOutdated(said, of: account) ? said.worthAnotherTry : said
        if sent.set == nil, let lack = sources.lacking(for: account, after: failure) {
            return .sourceLacking(generation, lack)
        }
        // The next request asks for nothing but the grant, and tells whether that is meant.
        let isBeyondGrant = claims != nil || sent.scopes != nil && failure.mayMeanScope
        return isBeyondGrant ? .demandRefused(generation, failure) : .failed(generation, failure, for: sent.set)
    }

    /// Whether the server has refused the client for a secret that is no longer the one of `account`, as which it was asked.
    private func isOutdated(_ failure: RefreshFailure, of account: Account) -> Bool {
        guard failure.failureClass == .misconfigured, let now = try? store.entry(account.id)?.record() else {
            return false
        }
        return now.account.registration.clientSecret != account.registration.clientSecret
    }

    /// Asks the server how long an access token lives whose answer did not say it, where the profile says whom to ask (RFC 7662). The client
    /// has asked already for tokens without a refresh token; one that is to be stored waits for nothing.
    func askLifetime(after decision: Decision) {
        guard !isStopping, decision.event.isIssuance, let tokens = decision.arrivedTokens(for: nil),
            tokens.refreshToken != nil, let token = tokens.accessToken,
            let times = decision.record.state.accessToken, [.notStated, .unreadable].contains(times.basis),
            settings.profile(for: decision.record.account)?.introspectionEndpoint != nil, beginServerCall()
        else { return }
        let (account, correlationID) = (decision.record.account, decision.arrival.correlationID)
        let requesting = requestingClient(of: account, correlationID: correlationID ?? CorrelationID.new())
        Task { [client] in
            if let lifetime = await client.introspectedLifetime(of: token, as: requesting) {
                self.submit(.lifetimeLearned(lifetime, issuedAt: times.issuedAt), for: account.id)
            }
            self.serverCallEnded()
        }
    }
}

/// A request that was sent, as its end has to know it.
private struct SentRequest: Sendable {
    let lease: Lease
    /// What was asked for; nil for the account's default access token.
    let set: TokenSet?
    /// The scope that was named, because the server leaves some of it out otherwise; nil if none was.
    let scopes: [String]?
    /// The account as it was when it was asked for.
    let record: Record
    let place: IssuerGate.Place
    let correlationID: String
}

/// What the token endpoint is asked.
private enum TokenRequest: Sendable {
    case refresh(RefreshRequest)
    case obtain(ServiceTokenRequest, afterLookingAt: [ListedProgram])

    /// What a resource server wants the token to say; nil if nothing is asked for.
    var claims: String? {
        switch self {
        case .refresh(let request): request.claims
        case .obtain: nil
        }
    }

    /// The scope of the grant, if it is named.
    var scopes: [String]? {
        switch self {
        case .refresh(let request): request.scopes
        case .obtain: nil
        }
    }

    func run(by client: OAuthClient, onOverdue: @escaping @Sendable () -> Void) async -> RefreshOutcome {
        switch self {
        case .refresh(let request): return await client.refresh(request, onOverdue: onOverdue)
        case .obtain(let request, let programs):
            for program in programs {
                if let refusal = await program.refusal() { return RefreshOutcome(result: .failure(refusal)) }
            }
            return await client.obtain(request)
        }
    }
}

extension Result<RefreshToken?, StoreError> {
    /// The refresh token of a lease, as the store has it.
    ///
    /// - Throws: why there is none to spend.
    fileprivate func opened() throws(RefreshFailure) -> RefreshToken {
        do throws(StoreError) {
            if let token = try get() { return token }
        } catch {
            throw RefreshFailure(readingToken: error)
        }
        let summary = "the store holds no refresh token for this account"
        throw RefreshFailure(.misconfigured, detail: FailureDetail(summary: summary))
    }
}

extension RefreshFailure {
    /// The refresh token could not be read from the store, so nothing was sent.
    init(readingToken error: StoreError) {
        let failureClass: FailureClass =
            switch error {
            // What is stored is damaged, and stays so until a person brings another grant.
            case .sealBroken, .damagedRow: .misconfigured
            // The disk, or the file as a whole: the next attempt may find it well.
            default: .unreachable
            }
        self.init(failureClass, detail: FailureDetail(summary: error.description))
    }

    /// Whether a request that named a scope may have failed by that: the server has judged what was asked for.
    fileprivate var mayMeanScope: Bool {
        failureClass == .misconfigured || failureClass.isAboutGrant
    }

    /// The same, as one that passes by itself: the next request is another one.
    fileprivate var worthAnotherTry: RefreshFailure {
        var failure = self
        failure.failureClass = .unavailable
        return failure
    }
}

extension RequestingClient {
    /// Whether the account's own requests say nothing of the scope by themselves, so that answers tell what the grant covers.
    fileprivate var leavesScopeToServer: Bool {
        profile?.refreshParameters["scope"] == nil && registration.refreshParameters["scope"] == nil
    }
}

extension StoredTokens {
    /// All that an answer brought and that may be used.
    init(_ response: TokenResponse) {
        self.init(
            accessToken: response.issuance.isUnbound ? nil : response.accessToken,
            refreshToken: response.refreshToken,
            idToken: response.idToken,
            scopes: response.scopes
        )
    }
}

extension Event {
    /// - Parameter set: what was asked for; nil for the account's default access token.
    fileprivate static func issued(_ generation: Generation, _ issuance: Issuance, for set: TokenSet?) -> Event {
        set.map { .tokenSetIssued($0, generation, issuance) } ?? .tokensIssued(generation, issuance)
    }

    /// - Parameter set: what was asked for; nil for the account's default access token.
    static func failed(_ generation: Generation, _ failure: RefreshFailure, for set: TokenSet?) -> Event {
        set.map { .tokenSetFailed($0, generation, failure) } ?? .refreshFailed(generation, failure)
    }
}
