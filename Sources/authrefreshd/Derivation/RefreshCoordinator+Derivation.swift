internal import AccountStorage
internal import BlockingWork
internal import OAuthClient
internal import RefreshCore
internal import Systemd

/// Accounts whose tokens are derived from other accounts' (RFC 8693): what they wait for, and what wakes them.
///
/// A request that needs another account's token holds its lease while that account obtains one, but no place at the issuer's gate, which
/// the other account may need. The lease is then returned, and the request begins anew, at the gate.
extension RefreshCoordinator {
    /// What a request by a service account exchanges.
    struct ReadyExchange {
        /// Nil for grants that exchange nothing.
        let tokens: TokenExchange?
        /// What has to be found true before it is sent.
        var programs: [ListedProgram] = []
    }

    /// Why the token of another account is not at hand.
    private enum SourceFault: Error {
        /// It has to obtain one first.
        case awaited(AccountSnapshot)
        case failed(RefreshFailure)
    }

    /// The tokens that a request by `grant` needs of other accounts; nil if it cannot be made now, and the lease comes to its end.
    func exchange(
        of grant: ServiceGrant,
        for account: Account,
        holding lease: Lease,
        _ set: TokenSet?,
        after lastFailure: RefreshFailure?
    ) -> ReadyExchange? {
        guard let terms = grant.exchange else { return ReadyExchange(tokens: nil) }
        do throws(SourceFault) {
            var programs: [ListedProgram] = []
            let subject = try token(terms.subject, for: account, setUpBy: terms.deriver, &programs)
            var exchange = TokenExchange(subjectToken: subject, subjectTokenType: terms.subject.type)
            if let actor = terms.actor {
                exchange.actorToken = try token(actor, for: account, setUpBy: terms.deriver, &programs)
                exchange.actorTokenType = actor.type
            }
            exchange.requestedTokenType = terms.requestedType
            return ReadyExchange(tokens: exchange, programs: programs)
        } catch {
            switch error {
            case .failed(let failure): submit(.failed(lease.generation, failure, for: set), for: account.id)
            case .awaited(let source):
                let waiting = Exchange(
                    lease: lease,
                    correlationID: "",
                    claims: nil,
                    lastFailure: lastFailure,
                    awaitsSource: true
                )
                exchanges.begin(waiting, of: account.id)
                wait(on: source, for: account.id, holding: lease, set)
            }
            return nil
        }
    }

    /// The account that is a source, by its number: one that was added later under its name is another. Nil if it was removed.
    func account(behind source: SourceToken) throws(StoreError) -> ShownAccount? {
        guard let id = source.id, let entry = try store.entry(id) else { return nil }
        return shown(entry, at: timebase.now())
    }

    /// - Parameter programs: gets those whose executables have to be looked at before the token is sent.
    private func token(
        _ source: SourceToken,
        for account: Account,
        setUpBy deriver: SeenProgram?,
        _ programs: inout [ListedProgram]
    ) throws(SourceFault) -> Secret {
        let found: Result<ShownAccount?, StoreError> = Result { () throws(StoreError) in
            try self.account(behind: source)
        }
        switch found {
        case .failure(let error):
            throw .failed(RefreshFailure(.unavailable, detail: FailureDetail(summary: error.description)))
        case .success(nil): throw .failed(RefreshFailure(.misconfigured, source.account, "was removed"))
        case .success(.damaged): throw .failed(RefreshFailure(.misconfigured, source.account, "cannot be read"))
        case .success(.whole(let snapshot)):
            // The list may be a later one than the one that the program was on when it set the account up.
            if let allowed = snapshot.account.allowedCallers, deriver?.unit.map(allowed.units.contains) != true {
                programs.append(ListedProgram(source: source.account, allowed: allowed, program: deriver))
            }
            guard snapshot.holdsAccessToken(for: nil) else { throw .awaited(snapshot) }
            // An issuer's refresh tokens go to that issuer only, whatever the settings of both accounts became.
            guard source.type != .refreshToken || snapshot.account.issuer == account.issuer else {
                throw .failed(RefreshFailure(.misconfigured, source.account, "is at another issuer"))
            }
            guard let secret = try? secret(source.type, of: snapshot) else {
                throw .failed(RefreshFailure(.misconfigured, source.account, "has no token of this type"))
            }
            return secret
        }
    }

    /// Nil if the account has none.
    private func secret(_ type: TokenTypeIdentifier, of source: AccountSnapshot) throws(StoreError) -> Secret? {
        switch type {
        case .accessToken, .jwt: try accessToken(of: source.account.id)?.secret
        case .idToken: try store.idToken(of: source.account.id)
        case .refreshToken: try refreshToken(of: source)?.secret
        case .saml1, .saml2: nil
        }
    }

    /// Has `source` obtain its token; the lease of the account that waits for it then comes to its end.
    private func wait(on source: AccountSnapshot, for account: AccountID, holding lease: Lease, _ set: TokenSet?) {
        let name = source.account.name
        _ = wait(
            for: .token(minimumValidity: nil, isForced: false),
            of: source.account.id,
            after: .tokenNeeded
        ) { [self] outcome in
            assumeIsolated { $0.settled(outcome, of: name, for: account, holding: lease, set) }
        }
    }

    private func settled(
        _ outcome: WaitOutcome,
        of source: AccountName,
        for account: AccountID,
        holding lease: Lease,
        _ set: TokenSet?
    ) {
        guard exchanges.endWaiting(lease, of: account) else { return }
        let generation = lease.generation
        let fail = { (failureClass: FailureClass, words: String) -> Event in
            .failed(generation, RefreshFailure(failureClass, source, words), for: set)
        }
        let event: Event
        switch outcome {
        case .settled(let snapshot), .notNow(_, let snapshot), .tokenSetFailed(_, let snapshot):
            let needsUser = { (words: String) -> Event in
                .sourceLacking(generation, RefreshFailure(.userRequired, source, words))
            }
            if snapshot.holdsAccessToken(for: nil) {
                event = .leaseReturned(generation)
            } else {
                switch snapshot.shown {
                case .interactionRequired: event = needsUser("needs a sign-in")
                case .signedOut: event = needsUser("is signed out")
                case .parked: event = needsUser("is parked")
                case .misconfigured: event = fail(.misconfigured, "is misconfigured")
                case .fresh, .refreshing, .retrying, .refreshTokenExpiring: event = fail(.unavailable, "has none now")
                }
            }
        case .removed: event = fail(.misconfigured, "was removed")
        case .damaged: event = fail(.misconfigured, "cannot be read")
        case .timedOut, .stopping, .storeFailed: event = fail(.unavailable, "has none now")
        }
        submit(event, for: account)
    }

    /// What a server means that does not take the token of another account: that account needs a person. Nil if it does not, as far as is
    /// known.
    ///
    /// It is no reason to think worse of that account's token: whoever may have this one's could take away the other's.
    func lackingSource(of account: Account, after failure: RefreshFailure) -> RefreshFailure? {
        // RFC 8693 §2.2.2 has `invalid_request` for a token that is not good; some servers say it more clearly.
        let words = ["invalid_request", "invalid_grant", "invalid_token"]
        guard let terms = account.registration.serviceGrant?.exchange,
            failure.detail.oauthError.map({ words.contains($0.lowercased()) }) == true
        else { return nil }
        for source in terms.sources {
            guard case .whole(let snapshot)? = try? self.account(behind: source) else { continue }
            if snapshot.shown == .interactionRequired {
                return RefreshFailure(.userRequired, source.account, "needs a sign-in")
            }
        }
        return nil
    }

    /// Ends the waiting for other accounts' tokens, which the end of the daemon does not wait for.
    func returnWaitingLeases() {
        for (account, lease) in exchanges.endAllWaiting() {
            submit(.leaseReturned(lease.generation), for: account)
        }
    }

    /// Has the accounts go on that the want of a token of this one may have stopped, or learn that it needs a person.
    func wakeDerived(from source: AccountID) {
        // What cannot be read or stored now is done at the source's next refresh, or at the next start.
        let derived = (try? store.derived(from: source, limit: CallerLimits.derivedAccountsMax * 2)) ?? []
        for account in derived { submit(.sourceChanged, for: account) }
    }

    /// Has the accounts go on whose sources have had tokens again since nobody could tell them.
    func wakeLackingSource() throws(StoreError) {
        for id in try store.lackingSource() {
            // A damaged one has a state of its own.
            guard let account = try? store.record(id)?.account else { continue }
            let sources = account.registration.serviceGrant?.exchange?.sources ?? []
            let haveTokens = sources.allSatisfy { source in
                guard case .whole(let found)? = try? self.account(behind: source) else { return false }
                return found.holdsAccessToken(for: nil)
            }
            if haveTokens { submit(.sourceChanged, for: id) }
        }
    }
}

extension RefreshFailure {
    /// What keeps a token from being derived.
    init(_ failureClass: FailureClass, _ source: AccountName, _ words: String) {
        let summary = "the account '\(source)', whose token this one is derived from, \(words)"
        self.init(failureClass, detail: FailureDetail(summary: summary, source: source))
    }
}

/// The executable of a program that set up a derived account, held against the list of an account that the token is derived from.
///
/// The program may have ended long ago, and an upgrade may have replaced its file, so executables are compared by their paths. Symbolic
/// links count in the list only: one in the place of a program makes it no other program. Following them may block for as long as a file
/// system does, so it is done by the request, before it is sent, where it holds up nobody else.
struct ListedProgram: Sendable {
    private static let paths = BlockingWork<String, String?>(
        "authrefreshd.listed-programs",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: CallerLimits.lookUpsMax
    )

    let source: AccountName
    let allowed: AllowedCallers
    /// Nil if nobody knows what it was.
    let program: SeenProgram?

    /// Nil if the program is on the list.
    func refusal() async -> RefreshFailure? {
        var doesAnswer = true
        for path in allowed.executables {
            switch await Self.paths.value(path, { FileIdentity.path(behind: path) }) {
            case .some(let found): if let found, found == program?.executable { return nil }
            case nil: doesAnswer = false
            }
        }
        guard doesAnswer else {
            return RefreshFailure(.unavailable, source, "is for \(allowed) only, whose file system does not answer")
        }
        let maker = program?.description ?? "an unknown program"
        return RefreshFailure(.misconfigured, source, "is for \(allowed) only, and this one was set up by \(maker)")
    }
}
