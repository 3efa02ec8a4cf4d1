internal import AccountStorage
internal import Dispatch
internal import OAuthClient
internal import RefreshCore

/// A request that is under way at the token endpoint.
struct Exchange {
    let lease: Lease
    /// Stands in the journal, and in the request where the provider takes it.
    let correlationID: String
    /// What is asked for beyond the grant; nil if nothing is.
    let claims: String?
    /// What the attempt before it failed by; nil if it did not.
    let lastFailure: RefreshFailure?
    /// Whether nothing has been sent: the token of another account is waited for.
    var awaitsSource = false
    /// What waits for the answer; nil while nothing has been sent.
    var task: Task<Void, Never>?
}

/// The requests that are under way, at most one for each account. Of one whose account has another grant meanwhile only the identifier is
/// kept, for its slot.
struct Exchanges {
    private var exchanges: [AccountID: Exchange] = [:]
    /// Those that have not passed their time limit, each with a slot at its issuer's gate, by correlation identifier.
    private var young: Set<String> = []

    var isEmpty: Bool { exchanges.isEmpty }
    var count: Int { exchanges.count }
    /// Whether an answer is about to come.
    var areYoung: Bool { !young.isEmpty }

    /// The one of `account`; nil if there is none.
    subscript(_ account: AccountID) -> Exchange? { exchanges[account] }

    /// The one of `account`, if it holds `lease`: an imported grant may have begun another.
    func holding(_ lease: Lease, of account: AccountID) -> Exchange? {
        exchanges[account].flatMap { $0.lease == lease ? $0 : nil }
    }

    mutating func begin(_ exchange: Exchange, of account: AccountID) {
        exchanges[account] = exchange
        if !exchange.awaitsSource { young.insert(exchange.correlationID) }
    }

    /// A request has passed its time limit.
    ///
    /// - Returns: whether its answer is still waited for.
    mutating func passLimit(_ correlationID: String) -> Bool {
        young.remove(correlationID) != nil
    }

    /// A request has ended.
    ///
    /// - Returns: it; nil if the account has another grant meanwhile.
    mutating func end(_ lease: Lease, of account: AccountID, correlationID: String) -> Exchange? {
        young.remove(correlationID)
        guard let exchange = holding(lease, of: account) else { return nil }
        exchanges[account] = nil
        return exchange
    }

    /// Ends the waiting for another account's token.
    ///
    /// - Returns: whether `account` waited with this lease. It may have been signed out meanwhile, and have begun anew.
    mutating func endWaiting(_ lease: Lease, of account: AccountID) -> Bool {
        guard let exchange = holding(lease, of: account), exchange.awaitsSource else { return false }
        exchanges[account] = nil
        return true
    }

    /// Ends all waiting for other accounts' tokens.
    ///
    /// - Returns: who has waited, and with which lease.
    mutating func endAllWaiting() -> [(account: AccountID, lease: Lease)] {
        let waiting = exchanges.filter(\.value.awaitsSource)
        for account in waiting.keys { exchanges[account] = nil }
        return waiting.map { ($0.key, $0.value.lease) }
    }

    /// Whether the account's request has passed its time limit, and its answer is still waited for.
    func isOverdue(_ account: AccountID) -> Bool {
        exchanges[account].map { !$0.awaitsSource && !young.contains($0.correlationID) } ?? false
    }

    /// Gives up the answers of requests whose connections cannot be alive any more: they count as unanswered.
    ///
    /// - Parameter isLost: tells by account.
    func giveUpAnswers(where isLost: (AccountID) -> Bool) {
        for (account, exchange) in exchanges where isLost(account) { exchange.task?.cancel() }
    }
}

/// The requests to authorization servers.
extension RefreshCoordinator {
    /// As whom a request of `account` is made.
    func requestingClient(of account: Account, correlationID: String) -> RequestingClient {
        let registration = account.registration
        return RequestingClient(
            issuer: account.issuer,
            profile: settings.profile(for: account),
            registration: registrations.current(of: account.id, stored: registration),
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
        let correlationID = Self.newCorrelationID()
        let requesting = requestingClient(of: account, correlationID: correlationID)
        let request: TokenRequest
        var programs: [ListedProgram] = []
        if let grant = account.registration.serviceGrant {
            guard let exchange = exchange(of: grant, for: account, holding: lease, set, after: lastFailure) else {
                return false
            }
            programs = exchange.programs
            request = .obtain(
                ServiceTokenRequest(client: requesting, grant: grant, tokenSet: set, exchange: exchange.tokens)
            )
        } else {
            do {
                guard let stored = try token.get() else {
                    let summary = "the store holds no refresh token for this account"
                    let failure = RefreshFailure(.misconfigured, detail: FailureDetail(summary: summary))
                    fail(lease, for: set, of: account.id, failure)
                    return false
                }
                request = .refresh(refreshRequest(spending: stored, for: set, of: record, as: requesting))
            } catch {
                fail(lease, for: set, of: account.id, RefreshFailure(readingToken: error))
                return false
            }
        }
        let place = gates.enter(record.issuerID, limits: settings.limits(for: account), at: now)
        pace.note(account.id, set, at: now)
        host.delaySleep()
        // Where the answer arrives, so that it is read without a change of threads.
        let task = Task(executorPreference: client.executor) { @concurrent [self, client, request, programs] in
            let outcome = await request.run(by: client, afterLookingAt: programs) { [self] in
                queue.async {
                    self.assumeIsolated { $0.overdue(lease, of: record, at: place, correlationID: correlationID) }
                }
            }
            // Not awaited: the task would come back to its own thread only to end there.
            queue.async {
                self.assumeIsolated {
                    $0.ended(lease, for: set, of: record, with: outcome, at: place, correlationID: correlationID)
                }
            }
        }
        let exchange = Exchange(
            lease: lease,
            correlationID: correlationID,
            claims: request.claims,
            lastFailure: lastFailure,
            task: task
        )
        exchanges.begin(exchange, of: account.id)
        return true
    }

    private func refreshRequest(
        spending token: RefreshToken,
        for set: TokenSet?,
        of record: Record,
        as client: RequestingClient
    ) -> RefreshRequest {
        var request = RefreshRequest(
            client: client,
            refreshToken: token,
            tokenSet: set,
            hasWorkedBefore: set == nil && record.state.hasRefreshed,
            subject: record.account.grantFacts.subject,
            mayRotate: record.state.isRotating != false,
            rotationGrace: settings.policy(of: record.account).rotationGrace
        )
        // Where a person is needed, the grant goes on as it is.
        if set == nil, let stepUp = stepUps[record.account.id], !stepUp.needsPerson { request.claims = stepUp.claims }
        return request
    }

    /// A request has passed its time limit, and its connection is still open. Its answer may hold the only refresh token that the server
    /// still takes, so it is read on; callers are let go, and the issuer's slot is free again.
    private func overdue(_ lease: Lease, of record: Record, at place: IssuerGate.Place, correlationID: String) {
        guard exchanges.passLimit(correlationID) else { return }
        gates.leave(record.issuerID, place)
        wake()
        let account = record.account.id
        guard let exchange = exchanges.holding(lease, of: account) else { return }
        changeLog.overdue(record.account.name, correlationID: correlationID)
        if isStopping { exchange.task?.cancel() }
        guard case .intact(let record)? = try? entry(of: account) else { return }
        let snapshot = snapshot(of: record, at: timebase.now())
        answerWaiters(of: account, with: .overdue(snapshot))
    }

    private func ended(
        _ lease: Lease,
        for set: TokenSet?,
        of record: Record,
        with outcome: RefreshOutcome,
        at place: IssuerGate.Place,
        correlationID: String
    ) {
        let account = record.account.id
        // What was asked for beyond a grant that was replaced meanwhile is none of the new one's business.
        let claims = exchanges.end(lease, of: account, correlationID: correlationID)?.claims
        gates.leave(record.issuerID, place)
        if let word = outcome.wordOnRate {
            gates.note(word, of: record.issuerID, to: account, askedAt: lease.startedAt, at: timebase.now())
        }
        noteServerDate(outcome.serverDate, of: record.issuerID)
        if let fault = outcome.idTokenFault {
            changeLog.refusedIDToken(fault, of: record.account.name, correlationID: correlationID)
        }
        if set == nil { noteDemand(of: record, having: claims, outcome, at: timebase.now()) }
        let event: Event
        var tokens: StoredTokens?
        switch outcome.result {
        case .success(let response):
            event = .issued(lease.generation, response.issuance, for: set)
            tokens = StoredTokens(
                accessToken: response.accessToken,
                refreshToken: response.refreshToken,
                idToken: response.idToken,
                scopes: response.scopes
            )
        case .failure(let said):
            let failure = isOutdated(said, of: record.account) ? said.worthAnotherTry : said
            if set == nil, let lack = lackingSource(of: record.account, after: failure) {
                event = .sourceLacking(lease.generation, lack)
            } else {
                event =
                    claims == nil
                    ? .failed(lease.generation, failure, for: set) : .demandRefused(lease.generation, failure)
            }
        }
        submit(
            Arrival(
                account: account,
                event: event,
                tokens: tokens,
                learnedEncoding: outcome.basicCredentialEncoding,
                correlationID: correlationID
            )
        )
        if record.account.registration.clientSecretExpiresAt != nil { tendClientSecret(of: account) }
    }

    /// Whether the server has refused the client for a secret that is no longer the one of `account`, as which it was asked.
    private func isOutdated(_ failure: RefreshFailure, of account: Account) -> Bool {
        guard failure.failureClass == .misconfigured, let now = try? store.entry(account.id)?.record() else {
            return false
        }
        return now.account.registration.clientSecret != account.registration.clientSecret
    }

    /// A lease whose refresh token cannot be had is a failure like one the server reports, but nothing was spent.
    private func fail(_ lease: Lease, for set: TokenSet?, of account: AccountID, _ failure: RefreshFailure) {
        submit(.failed(lease.generation, failure, for: set), for: account)
    }
}

extension RefreshOutcome {
    /// What the server's answer says about the rate of requests; nil if there was none.
    fileprivate var wordOnRate: IssuerGate.Word? {
        switch result {
        case .success: return .served
        case .failure(let failure):
            if failure.isThrottled { return .throttled(retryAfter: failure.retryAfter) }
            switch failure.failureClass {
            // What a server in trouble answers tells nothing of its limits.
            case .unreachable, .unanswered, .unavailable, .untrusted, .refusedByGateway: return nil
            case .misconfigured, .rejected, .grantEnded, .userRequired:
                return failure.detail.httpStatus.map { _ in .served }
            }
        }
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

    /// The same, as one that passes by itself: the next request is another one.
    fileprivate var worthAnotherTry: RefreshFailure {
        var failure = self
        failure.failureClass = .unavailable
        return failure
    }
}

/// What the token endpoint is asked.
private enum TokenRequest: Sendable {
    case refresh(RefreshRequest)
    case obtain(ServiceTokenRequest)

    /// What a resource server wants the token to say; nil if nothing is asked for.
    var claims: String? {
        switch self {
        case .refresh(let request): request.claims
        case .obtain: nil
        }
    }

    func run(
        by client: OAuthClient,
        afterLookingAt programs: [ListedProgram],
        onOverdue: @escaping @Sendable () -> Void
    ) async -> RefreshOutcome {
        for program in programs {
            if let refusal = await program.refusal() { return RefreshOutcome(result: .failure(refusal)) }
        }
        return switch self {
        case .refresh(let request): await client.refresh(request, onOverdue: onOverdue)
        case .obtain(let request): await client.obtain(request)
        }
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
