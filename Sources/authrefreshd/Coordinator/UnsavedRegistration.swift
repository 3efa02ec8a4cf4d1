internal import AccountStorage
internal import RefreshCore

/// What a server has made of a client's registration, and the store does not have yet.
struct UnsavedRegistration {
    /// As whom the server was asked.
    let known: ClientRegistration
    /// What came of it.
    let renewed: ClientRegistration
    /// Whether the secret lasts longer now, which is told when it is stored.
    let isRenewal: Bool
    let correlationID: String

    /// `registration` with what the server has changed; who brought another client or another secret meanwhile is right.
    func applied(to registration: ClientRegistration) -> ClientRegistration {
        var applied = registration
        guard registration.clientID == known.clientID else { return applied }
        if registration.management == known.management { applied.management = renewed.management }
        if registration.clientSecret == known.clientSecret {
            applied.clientSecret = renewed.clientSecret
            applied.clientSecretExpiresAt = renewed.clientSecretExpiresAt
        }
        return applied
    }
}

/// Registrations that could not be stored: the server takes no others any more, so they are kept, used, and tried again.
extension RefreshCoordinator {
    /// Stores what the server has made of the registration that a renewal under way concerns.
    ///
    /// - Returns: whether it is stored; what is not is kept, and tried again with everything else that the store owes.
    func keep(_ renewed: ClientRegistration, of account: AccountID, isRenewal: Bool, correlationID: String) -> Bool {
        guard
            registrations.take(renewed, of: account, isRenewal: isRenewal, correlationID: correlationID)
        else { return true }
        let now = timebase.now()
        do {
            try storeRegistrations(at: now)
            return true
        } catch {
            storeFailed(error, with: [], at: now)
            wake()
            return false
        }
    }

    /// Stores the registrations that could not be stored yet.
    ///
    /// - Throws: `StoreError` if the store cannot be written; what is not stored is kept.
    func storeRegistrations(at now: Moment) throws(StoreError) {
        for (account, unsaved) in registrations.owed {
            do throws(StoreError) {
                try store(unsaved, of: account, at: now)
            } catch {
                // Where it would be is what is damaged, or gone.
                guard error.damagedAccount != nil || error.contradictedAccount != nil else { throw error }
                changeLog.storeFailed(error)
            }
            registrations.settled(account)
        }
    }

    /// What a decision that is kept has of the account may be older than what the store has: its settings are read there.
    private func store(_ unsaved: UnsavedRegistration, of id: AccountID, at now: Moment) throws(StoreError) {
        guard var record = try store.entry(id)?.record() else { return }
        let before = record.account.registration
        let after = unsaved.applied(to: before)
        guard after != before else { return }
        record.account.registration = after
        try store.update(record.account)
        // What was refused for the old secret's sake goes on with the new one.
        if after.clientSecret != before.clientSecret { submit(.accountUpdated, for: id) }
        guard unsaved.isRenewal, after.clientSecretExpiresAt == unsaved.renewed.clientSecretExpiresAt else { return }
        announce(.clientSecretRenewed, of: record, at: now, correlationID: unsaved.correlationID)
    }
}
