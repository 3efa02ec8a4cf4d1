internal import AccountStorage
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// Renews a client secret that expires soon (RFC 7592).
///
/// The server's answer is stored before it is used, because the server may accept only the new secret from then on.
struct ClientSecretRenewal: Sendable {
    let account: AccountID
    let management: RegistrationManagement
    /// The client in the requests to the server.
    let asking: RequestingClient
}

extension RefreshCoordinator {
    /// Starts the renewal of the account's client secret if it is due, or announces that only a person can provide a
    /// new one.
    ///
    /// Call it after the account's server has answered, because only an answer shows that a secret is refused. The new
    /// secret must be stored before it is used. So no renewal begins while the store fails or the daemon ends.
    func renewClientSecretIfDue(of account: AccountID) {
        let now = timebase.now()
        guard !isStopping, trouble == nil, scheduler.requests[account] == nil, signIns[account] == nil,
            let record = try? records.record(of: account), registrations.isCareDue(for: record.account, at: now.wall)
        else { return }
        guard let management = record.account.registration.management else {
            return announce(.clientSecretEnding(nil), of: record, at: now)
        }
        let asking = requestingClient(of: record.account)
        let renewal = ClientSecretRenewal(account: account, management: management, asking: asking)
        // The renewal begins in a later turn of the queue, when `registrations` has been updated.
        let crowding = beginServerCall { await $0.run(renewal) }
        if crowding == nil { registrations.beginRenewal(record.account.registration, of: account) }
    }

    private func run(_ renewal: ClientSecretRenewal) async {
        let renewed = await client.registrar.renew(renewal.management, of: renewal.asking) { read in
            await self.keepRead(read, of: renewal)
        }
        if let renewed { apply(renewed, of: renewal) }
        registrations.endRenewal(of: renewal.account)
    }

    /// Reads the registration, and stores what the server says of it.
    ///
    /// - Returns: the registration; nil if the server no longer has it.
    func lookUp(_ look: ClientSecretRenewal) async -> ClientRegistration? {
        let known = look.asking.registration
        // A renewal under way reads it, too.
        guard !registrations.isRenewing(look.account) else { return known }
        registrations.beginRenewal(known, of: look.account)
        defer { registrations.endRenewal(of: look.account) }
        switch await client.registrar.read(look.management, of: look.asking) {
        case .success(let read):
            _ = keep(read, of: look, isRenewal: false)
            return read
        case .failure(let failure):
            // RFC 7592 §2.1. A server may also name an address at which there is nothing.
            return failure.detail.httpStatus == 401 ? nil : known
        }
    }

    /// Stores the registration as the server returned it. Reading it may have changed the access token for the next
    /// request (RFC 7592 §2.1).
    ///
    /// - Returns: whether the renewal may continue and change the registration.
    private func keepRead(_ read: ClientRegistration, of renewal: ClientSecretRenewal) -> Bool {
        guard keep(read, of: renewal, isRenewal: false) else { return false }
        let isThere = ((try? store.entry(renewal.account)) ?? nil) != nil
        return !isStopping && trouble == nil && isThere
    }

    /// Applies the result of a renewal.
    private func apply(_ result: RegistrationRenewal, of renewal: ClientSecretRenewal) {
        let (account, now) = (renewal.account, timebase.now())
        let renewed = result.registration
        _ = keep(renewed, of: renewal, isRenewal: result.failure == nil)
        guard let record = try? records.record(of: account) else { return }
        let end = renewed.clientSecretExpiresAt
        registrations.renewed(account, until: end, at: now.wall, failed: result.failure != nil)
        // If somebody has set another secret meanwhile, the failure for the old one does not matter.
        guard let failure = result.failure, record.account.registration.clientSecret == renewed.clientSecret else {
            return
        }
        let announcement = Announcement.clientSecretEnding(failure)
        announce(announcement, of: record, at: now, correlationID: renewal.asking.correlationID)
    }

    /// Stores the registration that the server returned.
    ///
    /// - Returns: whether it is stored. If not, it is kept in memory and used, and stored later with everything else
    ///   that is not stored yet.
    func keep(_ renewed: ClientRegistration, of renewal: ClientSecretRenewal, isRenewal: Bool) -> Bool {
        let isNew = registrations.take(
            renewed,
            of: renewal.account,
            isRenewal: isRenewal,
            correlationID: renewal.asking.correlationID
        )
        guard isNew else { return true }
        let now = timebase.now()
        do {
            try storeRegistrations(at: now)
            return true
        } catch {
            noteStoreFailure(error, at: now)
            wake()
            return false
        }
    }
}
