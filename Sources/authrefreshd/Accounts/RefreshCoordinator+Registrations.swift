internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Client secrets that end, and what servers make of registrations.
extension RefreshCoordinator {
    /// Does what is due about the client secret of `account`. To be called when the account was at its server: nobody else knows when a
    /// secret is refused.
    ///
    /// What a renewal brings has to be stored before it is used: none is begun while the store fails, or when the daemon ends.
    func tendClientSecret(of account: AccountID) {
        let now = timebase.now()
        guard !isStopping, trouble == nil, scheduler.requests[account] == nil, signIns[account] == nil,
            let record = try? records.record(of: account)
        else { return }
        switch registrations.careDue(for: record.account, at: now.wall) {
        case nil: break
        case .tell: announce(.clientSecretEnding(nil), of: record, at: now)
        case .renew(let management):
            guard beginServerCall() else { return }
            registrations.beginRenewal(record.account.registration, of: account)
            let asking = requestingClient(of: record.account, correlationID: CorrelationID.new())
            Task {
                let renewal = await self.client.renew(management, of: asking) { [self] read in
                    await keepRead(read, of: account, correlationID: asking.correlationID)
                }
                if let renewal { take(renewal, for: account, correlationID: asking.correlationID) }
                registrations.endRenewal(of: account)
                serverCallEnded()
            }
        }
    }

    /// Stores what reading the registration brought, before it is used: a server may take nothing else from then on (RFC 7592 §2.1).
    ///
    /// - Returns: whether the renewal may go on to change the registration.
    private func keepRead(_ read: ClientRegistration, of account: AccountID, correlationID: String) -> Bool {
        guard keep(read, of: account, isRenewal: false, correlationID: correlationID) else { return false }
        return !isStopping && trouble == nil && ((try? store.entry(account)) ?? nil) != nil
    }

    /// Takes over what a renewal has come to.
    private func take(_ renewal: RegistrationRenewal, for account: AccountID, correlationID: String) {
        let now = timebase.now()
        let renewed = renewal.registration
        _ = keep(renewed, of: account, isRenewal: renewal.failure == nil, correlationID: correlationID)
        guard let record = try? records.record(of: account) else { return }
        let end = renewed.clientSecretExpiresAt
        registrations.renewed(account, until: end, at: now.wall, failed: renewal.failure != nil)
        // Whoever brought another secret meanwhile needs to know nothing about the old one.
        guard let failure = renewal.failure, record.account.registration.clientSecret == renewed.clientSecret else {
            return
        }
        announce(.clientSecretEnding(failure), of: record, at: now, correlationID: correlationID)
    }

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
