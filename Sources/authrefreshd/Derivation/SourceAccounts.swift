internal import AccountStorage
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Systemd

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
        case .idToken: try records.idToken(of: source.account.id)
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

/// The executable of the program that set up a derived account. It is checked against the list of a source account.
///
/// The program may have ended long ago, and an upgrade may have replaced its file, so paths are compared. Symbolic
/// links are followed only in the list: a link at the place of a program does not make it another program. Following
/// links can block if a file system hangs. So this is done in the request's own task before the request is sent, where
/// it delays nobody else.
struct ListedProgram: Sendable {
    private static let paths = BlockingWork<String, String?>(
        "authrefreshd.listed-programs",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: CallerLimits.lookUpsMax
    )

    let source: AccountName
    let allowed: AllowedCallers
    /// The program; nil if it is unknown.
    let program: SeenProgram?

    /// Why the program is refused; nil if it is on the list.
    func refusal() async -> RefreshFailure? {
        var doesAnswer = true
        for path in allowed.executables {
            switch await Self.paths.value(path, { FileIdentity.path(behind: path) }) {
            case .some(let found): if let found, found == program?.executable { return nil }
            case nil: doesAnswer = false
            }
        }
        guard doesAnswer else {
            let flaw = "is for \(allowed) only, whose file system does not answer"
            return RefreshFailure(.unavailable, derivedFrom: source, which: flaw)
        }
        let program = program?.description ?? "an unknown program"
        let flaw = "is for \(allowed) only, but this account was set up by \(program)"
        return RefreshFailure(.misconfigured, derivedFrom: source, which: flaw)
    }
}
