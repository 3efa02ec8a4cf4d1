internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore

/// Carries out what people do with accounts. When a call returns, its change is durable.
extension RefreshCoordinator {
    /// Adds an account. If it has a grant or is a service account, its first refresh is due at once.
    ///
    /// - Throws: `StoreError.nameTaken` if the name exists.
    func add(_ new: NewAccount, grant: RefreshToken?) throws(StoreError) -> AccountSnapshot {
        let arrival = grant.map { QueuedEvent(importing: $0, for: new.account.id) }
        let now = timebase.now()
        let record = try add(new, having: arrival, at: now)
        wake()
        return snapshot(of: record, at: now)
    }

    /// Adds an account, with the grant in `arrival` if there is one, and tells everybody.
    func add(_ new: NewAccount, having arrival: QueuedEvent?, at now: Moment) throws(StoreError) -> Record {
        let policy = settings.policy(of: new.account)
        let (record, changes) = try scheduler.add(new, having: arrival, policy: policy, at: now)
        announce(.added, of: record, at: now)
        for change in changes { announce(.changed(change), of: record, at: now) }
        statusChanged()
        return record
    }

    /// Changes an account's settings.
    ///
    /// - Parameter mayEnd: whether the account signs out now if its time is over by the new settings.
    /// - Returns: nil if there is no such account.
    func update(
        _ account: AccountID,
        by change: SettingsChange,
        mayEnd: Bool = false
    ) throws(StoreError) -> AccountSnapshot? {
        let now = timebase.now()
        guard let before = try records.record(of: account)?.account else { return nil }
        try decideNow(QueuedEvent(change, of: before), at: now)
        if mayEnd, try records.record(of: account)?.state.isSignOutDue(at: now) == true {
            try decideNow(QueuedEvent(account: account, event: .host(.signOutReached)), at: now)
        }
        return try records.record(of: account).map { snapshot(of: $0, at: now) }
    }

    /// Tells everybody concerned about new settings from a decision.
    func tellOfSettings(changedBy decision: AccountTransition, at now: Moment) {
        let account = decision.record.account.id
        // Read it again, because the account may have been renamed since the decision.
        guard let before = decision.accountBefore, let record = try? records.record(of: account) else {
            return
        }
        callers.forgetFailures(of: account)
        carryOut(signIns.settingsChanged(from: before, to: record.account, at: now), at: now)
        if before.allowedCallers != record.account.allowedCallers {
            wakeAccountsDerived(from: account)
        }
        wake()
        let correlationID = decision.arrival.correlationID
        announceLater(.updated, of: record, at: now, correlationID: correlationID)
    }

    /// Renames an account.
    ///
    /// - Throws: `StoreError.nameTaken` if the name exists.
    func rename(_ account: AccountID, to name: AccountName) throws(StoreError) {
        let previous = try records.record(of: account)?.account.name
        try records.rename(account, to: name)
        if let previous { confirmations.forget(previous) }
        guard let record = try records.record(of: account), let previous else { return }
        announce(.renamed(from: previous), of: record, at: timebase.now())
    }

    /// Removes an account and its tokens. An answer that is still on its way will be dropped.
    func remove(_ account: AccountID) throws(StoreError) {
        let entry = try records.entry(of: account)
        try records.remove(account)
        if let entry { removed(entry, at: timebase.now()) }
        statusChanged()
    }

    /// Adds, changes and removes accounts in one commit: all of it, or nothing.
    ///
    /// - Parameters:
    ///   - changes: the owner's changes of existing accounts.
    ///   - roster: new accounts without grants, and accounts to remove with their tokens.
    func apply(_ changes: [QueuedEvent], with roster: RosterChange) throws(StoreError) {
        let now = timebase.now()
        var prepared = roster
        prepared.added = []
        for new in roster.added {
            prepared.added.append(scheduler.prepared(new, policy: settings.policy(of: new.account), at: now).new)
        }
        var gone: [AccountEntry] = []
        for account in roster.removed { gone += [try records.entry(of: account)].compactMap(\.self) }
        try decide(changes, with: prepared, at: now)
        for new in prepared.added {
            if let record = try? records.record(of: new.account.id) { announce(.added, of: record, at: now) }
        }
        for entry in gone { removed(entry, at: now) }
        statusChanged()
        wake()
    }

    /// Ends everything about an account that was removed, and tells everybody concerned.
    private func removed(_ entry: AccountEntry, at now: Moment) {
        let account = entry.id
        updateTokenFiles(of: [account], at: now)
        callers.forgetFailures(of: account)
        stepUps.forget(account)
        registrations.forget(account)
        answerWaiters(of: account, with: .removed)
        tellSignIn(.cancelled(by: .removed), of: account, at: now)
        switch entry {
        case .intact(let record):
            confirmations.forget(record.account.name)
            announce(.removed, of: record, at: now)
        // A damaged row cannot be read, but it can be removed.
        case .damaged(let damaged):
            changeLog.write(.accountRemoved.about(damaged, .accountRemoved))
            subscribers.publish(.accountRemoved, of: damaged, at: now.wall)
            subscribers.send()
        }
    }

    /// Replaces an account's grant by an imported one, together with its settings.
    func replaceGrant(_ grant: RefreshToken, for account: AccountID, by change: SettingsChange?) throws(StoreError) {
        try decideNow(QueuedEvent(importing: grant, for: account, by: change), at: timebase.now())
        wake()
    }

    /// Makes the account use its grant here again.
    func unpark(_ account: AccountID) throws(StoreError) {
        try decideNow(QueuedEvent(account: account, event: .owner(.unparked)), at: timebase.now())
        wake()
    }

    /// Erases an account's tokens.
    func eraseTokens(of account: AccountID) throws(StoreError) {
        try decideNow(QueuedEvent(account: account, event: .owner(.signedOut)), at: timebase.now())
    }

    // MARK: Registrations

    /// Stores the registrations that could not be stored before.
    ///
    /// - Throws: `StoreError` if the store cannot be written. The rest is then kept, and stored by a later call.
    func storeRegistrations(at now: Moment) throws(StoreError) {
        var stored: [Registrations.Stored] = []
        defer {
            for outcome in stored {
                switch outcome {
                case .newSecret(let account): submit(.owner(.accountUpdated(asksAnew: true)), for: account)
                case .renewed(let record, let correlationID):
                    announce(.clientSecretRenewed, of: record, at: now, correlationID: correlationID)
                case .lost(let error): changeLog.write(.storeUnwritable(error))
                }
            }
        }
        try registrations.storeAll(in: records, &stored)
    }
}

extension Account {
    /// Whether a grant for `other` is requested in the same way, and the same subject means the same person.
    func isAsked(like other: Account) -> Bool {
        !ProfileChoice(self).isElsewhere(than: ProfileChoice(other))
            && registration.clientID == other.registration.clientID
    }

    /// Whether a sign-in for `other` sends the same requests, and waits for the same answer.
    func signsIn(like other: Account) -> Bool {
        ProfileChoice(self) == ProfileChoice(other) && registration.signingIn == other.registration.signingIn
            && delivery.username == other.delivery.username
    }

    /// Whether the server would accept a refresh token of `other` from this account, with the same client
    /// authentication.
    func refreshes(like other: Account) -> Bool {
        let (mine, its) = (registration, other.registration)
        return isAsked(like: other) && mine.authentication == its.authentication
            && mine.clientSecret == its.clientSecret
            && mine.clientKey == its.clientKey && mine.clientKeyID == its.clientKeyID && mine.teamID == its.teamID
            && mine.clientAssertionFile == its.clientAssertionFile
            && mine.dpopKey == its.dpopKey && mine.refreshParameters == its.refreshParameters
    }

    /// Whether a refresh of `other` is the same request, so that a refusal of it holds for this account, too.
    func asksToRefresh(like other: Account) -> Bool {
        refreshes(like: other) && ProfileChoice(self) == ProfileChoice(other)
            && registration.serviceGrant == other.registration.serviceGrant
            && registration.clientCapabilities == other.registration.clientCapabilities
    }
}

extension ClientRegistration {
    /// What a sign-in depends on: everything except the browser, the refreshes and the registration's management.
    fileprivate var signingIn: ClientRegistration {
        var other = self
        (other.loginBrowser, other.refreshParameters) = (nil, target)
        (other.clientSecretExpiresAt, other.management) = (nil, nil)
        return other
    }
}

extension QueuedEvent {
    /// An owner's change of `account`.
    init(_ change: SettingsChange, of account: Account) {
        let asksAnew = !change.applied(to: account).asksToRefresh(like: account)
        self.init(account: account.id, event: .owner(.accountUpdated(asksAnew: asksAnew)), settings: change)
    }

    /// An imported grant, together with settings for it.
    fileprivate init(importing grant: RefreshToken, for account: AccountID, by change: SettingsChange? = nil) {
        let tokens = StoredTokens(refreshToken: grant, imported: grant)
        let event = Event.grant(.imported(refreshTokenLifetime: nil))
        self.init(account: account, event: event, tokens: tokens, settings: change)
    }
}

extension SettingsChange {
    /// An owner's change of an account. What we learned from the server, and who signed in, is kept unless the account
    /// now uses another server or client.
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
