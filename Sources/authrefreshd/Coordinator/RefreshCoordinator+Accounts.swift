internal import AccountStorage
internal import OAuthClient
internal import RefreshCore
internal import SignIn

/// What people do with accounts. Each call is durable when it returns.
extension RefreshCoordinator {
    /// Adds an account; with a grant, or as a service account, its first refresh is due at once.
    ///
    /// - Throws: `StoreError.nameTaken` if there is one of this name.
    func add(_ new: NewAccount, grant: RefreshToken?) throws(StoreError) -> AccountSnapshot {
        let now = timebase.now()
        let serviceGrant = new.registration.serviceGrant
        let policy = settings.policy(of: new.policy, ProfileChoice(new), serviceGrant: serviceGrant)
        let state = serviceGrant == nil ? RefreshState() : .service(at: now)
        var machine = RefreshMachine(state: state, policy: policy)
        var effects: [Effect] = []
        if grant != nil {
            effects = machine.handle(.grantImported(refreshTokenLifetime: nil), at: now, jitter: timebase.jitter())
        }
        var new = new
        new.createdAt = now.wall
        new.state = machine.state
        new.tokens = grant.map { StoredTokens(refreshToken: $0) }
        let record = try store.add(new)
        announce(.added, of: record, at: now)
        for case .publish(let change) in effects {
            announce(.changed(change), of: record, at: now)
        }
        onStatusChange()
        wake()
        return snapshot(of: record, at: now)
    }

    /// Replaces an account's registration and policy.
    func update(_ account: Account) throws(StoreError) -> AccountSnapshot? {
        let now = timebase.now()
        var account = account
        let before = try entry(of: account.id)?.record().account
        if before?.isAsked(like: account) == false {
            tell(.cancelled(by: .changed), to: account.id, at: now)
            account.grantFacts = GrantFacts()
            account.basicCredentialEncoding = nil
        }
        try store.update(account)
        tokenSetFailures.forget(account.id)
        try decideNow(Arrival(account: account.id, event: .accountUpdated), at: now)
        return try announceUpdate(of: account.id, from: before, at: now)
    }

    /// Tells everybody whom the new settings concern.
    private func announceUpdate(
        of account: AccountID,
        from before: Account?,
        at now: Moment
    ) throws(StoreError) -> AccountSnapshot? {
        guard let record = try entry(of: account)?.record() else { return nil }
        if before?.allowedCallers != record.account.allowedCallers { wakeDerived(from: account) }
        wake()
        announce(.updated, of: record, at: now)
        return snapshot(of: record, at: now)
    }

    /// Gives an account another name.
    ///
    /// - Throws: `StoreError.nameTaken` if there is one of that name.
    func rename(_ account: AccountID, to name: AccountName) throws(StoreError) {
        let previous = try entry(of: account)?.record().account.name
        try store.rename(account, to: name)
        guard let record = try entry(of: account)?.record(), let previous else { return }
        announce(.renamed(from: previous), of: record, at: timebase.now())
    }

    /// Forgets an account and its tokens. An answer that is still on its way is dropped.
    func remove(_ account: AccountID) throws(StoreError) {
        let entry = try entry(of: account)
        try store.remove(account)
        unsaved[account] = nil
        tokenSetFailures.forget(account)
        stepUps[account] = nil
        clientSecretCare[account] = nil
        unsavedRegistrations[account] = nil
        answerWaiters(of: account, with: .removed)
        tell(.cancelled(by: .removed), to: account, at: timebase.now())
        let now = timebase.now()
        switch entry {
        case .intact(let record): announce(.removed, of: record, at: now)
        // A damaged row cannot be read, and can be removed all the same.
        case .damaged(let damaged): announceRemoval(of: damaged, at: now)
        case nil: break
        }
        onStatusChange()
    }

    /// Replaces an account's grant by one from outside.
    func importGrant(_ grant: RefreshToken, for account: AccountID) throws(StoreError) {
        let arrival = Arrival(
            account: account,
            event: .grantImported(refreshTokenLifetime: nil),
            tokens: StoredTokens(refreshToken: grant)
        )
        try decideNow(arrival, at: timebase.now())
        wake()
    }

    /// Replaces an account's grant, which may still work, by one from outside that the server has given tokens for.
    ///
    /// Until then the old one is used as ever, with the settings that go with it. What the server answers is stored with the swap, in one
    /// commit.
    ///
    /// - Parameters:
    ///   - held: the account as it is.
    ///   - changed: the account as the server is asked for it, and as it is from the swap on.
    /// - Returns: nil if the account was removed meanwhile.
    /// - Throws: `RefreshFailure` if the server gives none, and `StoreError`; the account keeps its grant and its settings.
    func prove(_ grant: RefreshToken, for held: Account, as changed: Account) async throws -> AccountSnapshot? {
        let (sentAt, correlationID) = (timebase.now(), Self.newCorrelationID())
        let asking = requestingClient(of: changed, correlationID: correlationID)
        // Whose grant it is, nobody has said.
        let request = RefreshRequest(
            client: asking,
            refreshToken: grant,
            tokenSet: nil,
            hasWorkedBefore: false,
            subject: nil
        )
        // Somebody is waiting who may have just brought the server back.
        client.forgetFailures(of: changed.issuer)
        let outcome = await client.refresh(request)
        guard let record = try entry(of: changed.id)?.record() else { return nil }
        if let serverDate = outcome.serverDate { noteSkew(serverDate - timebase.now().wall, of: record.issuerID) }
        let response = try outcome.result.get()
        let isChanging = !changed.isSetUp(like: held)
        guard isChanging ? record.account.isSetUp(like: held) : record.account.isAsked(like: held) else {
            throw RefreshFailure(.unavailable, detail: FailureDetail(summary: "the account was changed meanwhile"))
        }
        let now = timebase.now()
        let arrival = Arrival(
            account: changed.id,
            event: .grantProved(response.issuance, sentAt: sentAt),
            tokens: StoredTokens(
                accessToken: response.accessToken,
                refreshToken: response.refreshToken ?? grant,
                idToken: response.idToken,
                scopes: response.scopes
            ),
            changed: isChanging ? changed : nil,
            learnedEncoding: outcome.basicCredentialEncoding,
            correlationID: correlationID
        )
        try decideNow(arrival, at: now)
        guard isChanging else { return try entry(of: changed.id).map { snapshot(of: try $0.record(), at: now) } }
        if !held.isAsked(like: changed) { tell(.cancelled(by: .changed), to: changed.id, at: now) }
        tokenSetFailures.forget(changed.id)
        return try announceUpdate(of: changed.id, from: held, at: now)
    }

    /// Has an account's grant rest, because it is on its way to another machine; no request for it may be under way.
    func park(_ account: AccountID) throws(StoreError) {
        try decideNow(Arrival(account: account, event: .parked), at: timebase.now())
    }

    /// Has the grant used here again.
    func unpark(_ account: AccountID) throws(StoreError) {
        try decideNow(Arrival(account: account, event: .unparked), at: timebase.now())
        wake()
    }

    /// Erases an account's tokens.
    func signOut(_ account: AccountID) throws(StoreError) {
        try decideNow(Arrival(account: account, event: .signedOut), at: timebase.now())
    }

    /// The current refresh token, for revocation and export; nil if the account is signed out.
    func refreshToken(of snapshot: AccountSnapshot) throws(StoreError) -> RefreshToken? {
        if let kept = unsaved[snapshot.account.id]?.arrivedTokens?.refreshToken { return kept }
        return try store.refreshToken(of: snapshot.account.id, generation: snapshot.state.generation)
    }

    /// A name for one attempt: 16 hexadecimal digits.
    static func newCorrelationID() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Account {
    /// Whether a server would be asked for a grant of `other` in the same way, and would mean the same person by the same subject.
    func isAsked(like other: Account) -> Bool {
        !ProfileChoice(self).isElsewhere(than: ProfileChoice(other))
            && registration.clientID == other.registration.clientID
    }

    /// Whether the two differ at most in what a server has taught us.
    fileprivate func isSetUp(like other: Account) -> Bool {
        var other = other
        other.grantFacts = grantFacts
        other.basicCredentialEncoding = basicCredentialEncoding
        return self == other
    }
}
