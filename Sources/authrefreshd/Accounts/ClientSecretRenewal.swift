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

    /// Starts the renewal of the account's client secret if it is due, or announces that only a person can provide a
    /// new one.
    ///
    /// Call it after the account's server has answered, because only an answer shows that a secret is refused. The new
    /// secret must be stored before it is used. So no renewal begins while the store fails or the daemon ends.
    static func beginIfDue(for account: AccountID, on coordinator: isolated RefreshCoordinator) {
        let now = coordinator.timebase.now()
        guard !coordinator.isStopping, coordinator.trouble == nil, coordinator.scheduler.requests[account] == nil,
            coordinator.signIns[account] == nil, let record = try? coordinator.records.record(of: account)
        else { return }
        switch coordinator.registrations.careDue(for: record.account, at: now.wall) {
        case nil: break
        case .tell: coordinator.announce(.clientSecretEnding(nil), of: record, at: now)
        case .renew(let management):
            let asking = coordinator.requestingClient(of: record.account, correlationID: CorrelationID.new())
            let renewal = ClientSecretRenewal(account: account, management: management, asking: asking)
            // The renewal begins in a later turn of the queue, when `registrations` has been updated.
            let crowding = coordinator.beginServerCall { await renewal.run(on: $0) }
            if crowding == nil { coordinator.registrations.beginRenewal(record.account.registration, of: account) }
        }
    }

    private func run(on coordinator: isolated RefreshCoordinator) async {
        let renewal = await coordinator.client.registrar.renew(management, of: asking) { [coordinator] read in
            await keepRead(read, on: coordinator)
        }
        if let renewal { take(renewal, on: coordinator) }
        coordinator.registrations.endRenewal(of: account)
    }

    /// Stores the registration as the server returned it. Reading it may have changed the access token for the next
    /// request (RFC 7592 §2.1).
    ///
    /// - Returns: whether the renewal may continue and change the registration.
    private func keepRead(_ read: ClientRegistration, on coordinator: isolated RefreshCoordinator) -> Bool {
        guard keep(read, isRenewal: false, on: coordinator) else { return false }
        let isThere = ((try? coordinator.store.entry(account)) ?? nil) != nil
        return !coordinator.isStopping && coordinator.trouble == nil && isThere
    }

    /// Applies the result of the renewal.
    private func take(_ renewal: RegistrationRenewal, on coordinator: isolated RefreshCoordinator) {
        let now = coordinator.timebase.now()
        let renewed = renewal.registration
        _ = keep(renewed, isRenewal: renewal.failure == nil, on: coordinator)
        guard let record = try? coordinator.records.record(of: account) else { return }
        let end = renewed.clientSecretExpiresAt
        coordinator.registrations.renewed(account, until: end, at: now.wall, failed: renewal.failure != nil)
        // If somebody has set another secret meanwhile, the failure for the old one does not matter.
        guard let failure = renewal.failure, record.account.registration.clientSecret == renewed.clientSecret else {
            return
        }
        let announcement = Announcement.clientSecretEnding(failure)
        coordinator.announce(announcement, of: record, at: now, correlationID: asking.correlationID)
    }

    /// Stores the registration that the server returned.
    ///
    /// - Returns: whether it is stored. If not, it is kept in memory and used, and stored later with everything else
    ///   that is not stored yet.
    func keep(_ renewed: ClientRegistration, isRenewal: Bool, on coordinator: isolated RefreshCoordinator) -> Bool {
        let isNew = coordinator.registrations.take(
            renewed,
            of: account,
            isRenewal: isRenewal,
            correlationID: asking.correlationID
        )
        guard isNew else { return true }
        let now = coordinator.timebase.now()
        do {
            try AccountChanges.storeRegistrations(at: now, on: coordinator)
            return true
        } catch {
            StoreFailures.note(error, at: now, on: coordinator)
            coordinator.wake()
            return false
        }
    }
}
