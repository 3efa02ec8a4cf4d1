internal import AccountStorage
internal import RefreshCore
internal import SignIn

/// What people do with accounts. Each call is durable when it returns.
extension RefreshCoordinator {
    /// Adds an account. With a grant, or as a service account, its first refresh is due at once.
    ///
    /// - Throws: `StoreError.nameTaken` if there is one of this name.
    func add(_ new: NewAccount, grant: RefreshToken?) throws(StoreError) -> AccountSnapshot {
        let now = timebase.now()
        let policy = settings.policy(of: new.account)
        let (record, changes) = try scheduler.add(new, grant: grant, policy: policy, at: now)
        announce(.added, of: record, at: now)
        for change in changes { announce(.changed(change), of: record, at: now) }
        statusChanged()
        wake()
        return snapshot(of: record, at: now)
    }

    /// Changes an account's settings.
    ///
    /// - Returns: nil if there is no such account.
    func update(_ account: AccountID, by change: SettingsChange) throws(StoreError) -> AccountSnapshot? {
        let now = timebase.now()
        try decideNow(Arrival(account: account, event: .accountUpdated, settings: change), at: now)
        return try records.record(of: account).map { snapshot(of: $0, at: now) }
    }

    /// Tells everybody who is concerned about the new settings that a decision has brought.
    func settingsChanged(by decision: Decision, at now: Moment) {
        let account = decision.record.account.id
        // Read anew, because the account may have got another name since the decision.
        guard let before = decision.accountBefore, let record = try? records.record(of: account) else { return }
        callers.forgetFailures(of: account)
        if !before.isAsked(like: record.account) { take(signIns.tell(.cancelled(by: .changed), to: account, at: now)) }
        if before.allowedCallers != record.account.allowedCallers { wakeDerived(from: account) }
        wake()
        let correlationID = decision.arrival.correlationID
        announceLater(.updated, of: record, at: now, correlationID: correlationID)
    }

    /// Gives an account another name.
    ///
    /// - Throws: `StoreError.nameTaken` if there is one of that name.
    func rename(_ account: AccountID, to name: AccountName) throws(StoreError) {
        let previous = try records.record(of: account)?.account.name
        try store.rename(account, to: name)
        records.renamed(account, to: name)
        guard let record = try records.record(of: account), let previous else { return }
        announce(.renamed(from: previous), of: record, at: timebase.now())
    }

    /// Forgets an account and its tokens. An answer that is still on its way is dropped.
    func remove(_ account: AccountID) throws(StoreError) {
        let entry = try records.entry(of: account)
        try store.remove(account)
        records.removed(account)
        callers.forgetFailures(of: account)
        stepUps.forget(account)
        registrations.forget(account)
        answerWaiters(of: account, with: .removed)
        let now = timebase.now()
        take(signIns.tell(.cancelled(by: .removed), to: account, at: now))
        switch entry {
        case .intact(let record): announce(.removed, of: record, at: now)
        // A damaged row cannot be read, and can be removed all the same.
        case .damaged(let damaged):
            changeLog.removed(damaged)
            subscribers.publishRemoval(of: damaged, at: now.wall)
            subscribers.send()
        case nil: break
        }
        statusChanged()
    }

    /// Replaces an account's grant by one from outside, and its settings with it.
    func importGrant(_ grant: RefreshToken, for account: AccountID, by change: SettingsChange?) throws(StoreError) {
        let arrival = Arrival(
            account: account,
            event: .grantImported(refreshTokenLifetime: nil),
            tokens: StoredTokens(refreshToken: grant),
            settings: change
        )
        try decideNow(arrival, at: timebase.now())
        wake()
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

    // MARK: Registrations

    /// Stores the registrations that could not be stored yet.
    ///
    /// - Throws: `StoreError` if the store cannot be written; what is not stored is kept.
    func storeRegistrations(at now: Moment) throws(StoreError) {
        var stored: [Registrations.Stored] = []
        defer {
            for outcome in stored {
                switch outcome {
                case .newSecret(let account): submit(.accountUpdated, for: account)
                case .renewed(let record, let correlationID):
                    announce(.clientSecretRenewed, of: record, at: now, correlationID: correlationID)
                case .lost(let error): changeLog.storeFailed(error)
                }
            }
        }
        try registrations.storeAll(in: store, &stored)
    }
}

extension Account {
    /// Whether a server would be asked for a grant of `other` in the same way, and would mean the same person by the same subject.
    func isAsked(like other: Account) -> Bool {
        !ProfileChoice(self).isElsewhere(than: ProfileChoice(other))
            && registration.clientID == other.registration.clientID
    }

    /// Whether the server would take a refresh token of `other` from this account, and the same proof of who asks.
    func refreshes(like other: Account) -> Bool {
        let (mine, its) = (registration, other.registration)
        return isAsked(like: other) && mine.authentication == its.authentication
            && mine.clientSecret == its.clientSecret
            && mine.clientKey == its.clientKey && mine.clientKeyID == its.clientKeyID && mine.teamID == its.teamID
            && mine.dpopKey == its.dpopKey && mine.refreshParameters == its.refreshParameters
    }
}

extension SettingsChange {
    /// What an owner wants of an account. What a server has taught us, and whose grant it is, stays unless another server or client is
    /// asked from then on.
    init(byOwner change: @escaping @Sendable (Account) -> Account) {
        self.init({ account in
            var changed = change(account)
            let stays = account.isAsked(like: changed)
            changed.grantFacts = stays ? account.grantFacts : GrantFacts()
            changed.basicCredentialEncoding = stays ? account.basicCredentialEncoding : nil
            return changed
        })
    }
}
