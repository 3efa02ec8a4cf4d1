internal import AccountStorage
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// Accounts whose tokens are derived from other accounts: what they wait for, and what wakes them.
///
/// A request that needs another account's token holds its lease while that account gets one. It holds no place at the
/// issuer's gate, because the other account may need that place. When that account has its token, the lease is
/// returned, and the request starts again at the gate.
extension RefreshCoordinator {
    /// How long until the first of the accounts signs out by itself that the tokens of `account` are derived from; zero if
    /// a clock says that its time is over, nil if all stay signed in.
    func timeToSignOut(ofSourcesOf account: Account, at now: Moment) -> Duration? {
        var (accounts, shortest) = ([account], Duration?.none)
        // Chains are short and never circular. A source that cannot be read gives no more tokens.
        while !accounts.isEmpty {
            let sources = accounts.flatMap { $0.registration.serviceGrant?.exchange?.sources ?? [] }
            let records = sources.compactMap(\.id).compactMap { try? self.records.record(of: $0) }
            let times = records.compactMap { $0.state.timeToSignOut(at: now) } + [shortest].compactMap(\.self)
            (accounts, shortest) = (records.map(\.account), times.min())
        }
        return shortest
    }

    /// Makes `source` get its token. The waiting account's lease ends after that.
    func awaitToken(
        of source: AccountSnapshot,
        with waiting: PendingRequest,
        for account: AccountID,
        _ target: TokenTarget?
    ) {
        scheduler.begin(waiting, of: account)
        let (lease, name) = (waiting.lease, source.account.name)
        let purpose = Waiter.Purpose.token(minimumValidity: nil, isForced: false)
        _ = wait(for: purpose, of: source.account.id, after: .demand(.tokenNeeded)) { outcome in
            self.assumeIsolated {
                guard $0.scheduler.endWaiting(lease, of: account) else { return }
                $0.submit(Event(outcome, of: name, lease.generation, for: target), for: account)
            }
        }
    }

    /// Resumes the accounts that may wait for a token of this account, or tells them that it needs a person.
    func wakeAccountsDerived(from source: AccountID) {
        // If something cannot be read or stored now, the source's next refresh or the next start does it.
        let derived = (try? store.derived(from: source, limit: CallerLimits.derivedAccountsMax * 2)) ?? []
        for account in derived { submit(.source(.changed), for: account) }
    }

    /// Resumes the accounts whose sources got tokens while nobody could tell them.
    func wakeAccountsLackingSource() throws(StoreError) {
        for id in try store.lackingSource() {
            // A damaged account has its own state.
            guard let account = try? store.record(id)?.account, sourcesHaveTokens(for: account) else {
                continue
            }
            submit(.source(.changed), for: id)
        }
    }
}

/// The accounts from whose tokens others are derived (RFC 8693), in their current state.
extension RefreshCoordinator {
    /// The source account, by its number. An account added later under the same name is a different one. Nil if it was
    /// removed.
    func shownAccount(behind source: SourceToken) throws(StoreError) -> ShownAccount? {
        guard let id = source.id, let entry = try store.entry(id) else { return nil }
        return shown(entry, at: timebase.now())
    }

    /// The request by `grant` for a token of `account`, with the tokens of other accounts that it exchanges, and the
    /// programs to check before they are sent.
    func request(
        by grant: ServiceGrant,
        for account: Account,
        _ target: TokenTarget?,
        as asking: RequestingClient
    ) -> TokenRequest.Draft {
        var (exchange, programs) = (TokenExchange?.none, [ListedProgram]())
        if let terms = grant.exchange {
            do throws(RefreshFailure) {
                let subject = try whole(terms.subject, setUpBy: terms.deriver, &programs)
                guard subject.holdsAccessToken(for: nil) else { return .awaited(subject) }
                let subjectToken = try token(terms.subject, of: subject, for: account)
                var tokens = TokenExchange(subjectToken: subjectToken, subjectTokenType: terms.subject.type)
                if let source = terms.actor {
                    let actor = try whole(source, setUpBy: terms.deriver, &programs)
                    guard actor.holdsAccessToken(for: nil) else { return .awaited(actor) }
                    tokens.actorToken = try token(source, of: actor, for: account)
                    tokens.actorTokenType = source.type
                }
                tokens.requestedTokenType = terms.requestedType
                exchange = tokens
            } catch {
                return .failed(error)
            }
        }
        let request = ServiceTokenRequest(client: asking, grant: grant, target: target, exchange: exchange)
        return .ready(.obtain(request, afterLookingAt: programs))
    }

    /// The source account, if it is there and can be read.
    ///
    /// - Parameter programs: receives the programs whose executables must be checked before its token is sent.
    private func whole(
        _ source: SourceToken,
        setUpBy deriver: SeenProgram?,
        _ programs: inout [ListedProgram]
    ) throws(RefreshFailure) -> AccountSnapshot {
        let found: ShownAccount?
        do throws(StoreError) {
            found = try shownAccount(behind: source)
        } catch {
            throw RefreshFailure(.unavailable, detail: FailureDetail(summary: error.description))
        }
        switch found {
        case nil:
            throw RefreshFailure(.misconfigured, derivedFrom: source.account, which: "was removed")
        case .damaged:
            throw RefreshFailure(.misconfigured, derivedFrom: source.account, which: "cannot be read")
        case .whole(let snapshot):
            // The list may have changed since the program set the account up.
            if let allowed = snapshot.account.allowedCallers, !allowed.isEverybody,
                deriver?.unit.map(allowed.units.contains) != true
            {
                programs.append(ListedProgram(source: source.account, allowed: allowed, program: deriver))
            }
            return snapshot
        }
    }

    /// The source token that is exchanged for one of `account`.
    private func token(
        _ source: SourceToken,
        of snapshot: AccountSnapshot,
        for account: Account
    ) throws(RefreshFailure) -> Secret {
        // Refresh tokens go only to their own issuer, whatever the settings of both accounts are now.
        guard source.type != .refreshToken || snapshot.account.issuer == account.issuer else {
            let flaw = "belongs to another issuer"
            throw RefreshFailure(.misconfigured, derivedFrom: source.account, which: flaw)
        }
        guard let secret = try? secret(source.type, of: snapshot) else {
            let flaw = "has no token of this type"
            throw RefreshFailure(.misconfigured, derivedFrom: source.account, which: flaw)
        }
        return secret
    }

    /// The token of this type; nil if the account has none.
    private func secret(_ type: TokenTypeIdentifier, of source: AccountSnapshot) throws(StoreError) -> Secret? {
        switch type {
        case .accessToken, .jwt: try records.accessToken(of: source.account.id)?.secret
        case .idToken: try store.tokens.idToken(of: source.account.id)
        case .refreshToken: try records.refreshToken(of: source)?.secret
        case .saml1, .saml2: nil
        }
    }

    /// Interprets a server's refusal of another account's token: that account needs a person. Nil if the refusal does
    /// not seem to mean that.
    ///
    /// The state of the other account does not change. Otherwise, anybody who may use this account could disable the
    /// other one.
    func sourceLacking(for derived: Account, after failure: RefreshFailure) -> RefreshFailure? {
        // RFC 8693 §2.2.2 uses `invalid_request` for an invalid token; some servers are more specific.
        let words = ["invalid_request", "invalid_grant", "invalid_token"]
        guard let terms = derived.registration.serviceGrant?.exchange,
            failure.detail.oauthError.map({ words.contains($0.lowercased()) }) == true
        else { return nil }
        for source in terms.sources {
            guard case .whole(let snapshot)? = try? shownAccount(behind: source) else { continue }
            if snapshot.shown == .interactionRequired {
                return RefreshFailure(.userRequired, derivedFrom: source.account, which: "needs a sign-in")
            }
        }
        return nil
    }

    /// Whether all source accounts of `derived` have tokens now.
    func sourcesHaveTokens(for derived: Account) -> Bool {
        (derived.registration.serviceGrant?.exchange?.sources ?? []).allSatisfy { source in
            guard case .whole(let found)? = try? shownAccount(behind: source) else { return false }
            return found.holdsAccessToken(for: nil)
        }
    }
}

extension Event {
    /// What the end of waiting for `source` means for the account that waits with a lease of `generation`.
    ///
    /// - Parameter target: the target of the lease; nil for the account's default access token.
    init(_ outcome: WaitOutcome, of source: AccountName, _ generation: Generation, for target: TokenTarget?) {
        func fails(_ failureClass: FailureClass, _ flaw: String) -> Event {
            .failed(generation, RefreshFailure(failureClass, derivedFrom: source, which: flaw), for: target)
        }
        func needsUser(_ flaw: String) -> Event {
            .answer(.sourceLacking(generation, RefreshFailure(.userRequired, derivedFrom: source, which: flaw)))
        }
        switch outcome {
        case .settled(let snapshot), .notNow(_, let snapshot), .targetFailed(_, let snapshot):
            if snapshot.holdsAccessToken(for: nil) {
                self = .answer(.leaseReturned(generation))
                return
            }
            switch snapshot.shown {
            case .interactionRequired: self = needsUser("needs a sign-in")
            case .signedOut: self = needsUser("is signed out")
            case .parked: self = needsUser("is parked")
            case .misconfigured: self = fails(.misconfigured, "is misconfigured")
            case .fresh, .refreshing, .retrying, .refreshTokenExpiring:
                self = fails(.unavailable, "has no valid token now")
            }
        case .removed: self = fails(.misconfigured, "was removed")
        case .damaged: self = fails(.misconfigured, "cannot be read")
        case .timedOut, .stopping, .storeFailed: self = fails(.unavailable, "has no valid token now")
        }
    }
}

extension RefreshFailure {
    /// Creates the failure of a derivation.
    ///
    /// - Parameter flaw: what `source` lacks: "was removed".
    init(_ failureClass: FailureClass, derivedFrom source: AccountName, which flaw: String) {
        let summary = "this account is derived from '\(source)', which \(flaw)"
        self.init(failureClass, detail: FailureDetail(summary: summary, source: source))
    }
}
