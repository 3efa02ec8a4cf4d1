internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Client secrets that end (RFC 7591 §3.2.1): renewed where the client may do that by itself (RFC 7592), and announced where not.
extension RefreshCoordinator {
    /// Does what is due about the client secret of `account`. To be called when the account was at its server: nobody else knows when a
    /// secret is refused.
    func tendClientSecret(of account: AccountID) {
        let now = timebase.now()
        guard mayTendClientSecret(of: account, at: now.wall), let record = try? entry(of: account)?.record(),
            record.account.registration.isSecretEnding(at: now.wall),
            let end = record.account.registration.clientSecretExpiresAt
        else { return }
        guard let management = record.account.registration.management else {
            registrations.leaveToPerson(account, until: end, at: now.wall)
            return announce(.clientSecretEnding(nil), of: record, at: now)
        }
        guard registrations.hasRoom(for: account, at: now.wall), beginErrand() else { return }
        registrations.beginRenewal(record.account.registration, of: account)
        let client = requestingClient(of: record.account, correlationID: Self.newCorrelationID())
        Task {
            let renewal = await self.client.renew(management, of: client) { [self] read in
                await keepRead(read, of: account, correlationID: client.correlationID)
            }
            if let renewal { take(renewal, for: account, correlationID: client.correlationID) }
            registrations.endRenewal(of: account)
            errandEnded()
        }
    }

    /// What a renewal brings has to be stored before it is used: none is begun while the store fails, or when the daemon ends.
    private func mayTendClientSecret(of account: AccountID, at now: Timestamp) -> Bool {
        !isStopping && trouble == nil && registrations.isDue(account, at: now) && exchanges[account] == nil
            && signIns[account] == nil
    }

    /// Whether a person has to bring another secret: it ends soon, and the daemon cannot renew it, or could not.
    func needsClientSecret(_ account: Account, at now: Timestamp) -> Bool {
        guard account.registration.isSecretEnding(at: now) else { return false }
        return account.registration.management == nil || registrations.hasFailed(account.id)
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
        guard let record = try? entry(of: account)?.record() else { return }
        let end = renewed.clientSecretExpiresAt
        registrations.renewed(account, until: end, at: now.wall, failed: renewal.failure != nil)
        // Whoever brought another secret meanwhile needs to know nothing about the old one.
        guard let failure = renewal.failure, record.account.registration.clientSecret == renewed.clientSecret else {
            return
        }
        announce(.clientSecretEnding(failure), of: record, at: now, correlationID: correlationID)
    }
}

extension ClientRegistration {
    /// Whether the server stops taking the client secret soon, or has.
    ///
    /// Two weeks are enough for anyone who is not away, and for a server that is down.
    func isSecretEnding(at now: Timestamp) -> Bool {
        clientSecretExpiresAt.map { $0 - now < .seconds(14 * 86_400) } ?? false
    }
}

/// What was done about a client secret that ends.
struct ClientSecretCare {
    /// When to look again.
    let nextAt: Timestamp
    /// Whether it could not be renewed.
    let failed: Bool

    /// The shortest time between two attempts: whoever is refused is not to be asked by every refresh.
    private static let pause = Duration.seconds(3600)

    /// To look again soon: nothing was found out.
    init(soonAfter now: Timestamp, failed: Bool) {
        // Longer than a renewal takes, shorter than any refresh period.
        nextAt = now + .seconds(60)
        self.failed = failed
    }

    /// To look again when half of what is left has passed.
    init(until end: Timestamp, at now: Timestamp, failed: Bool) {
        nextAt = now + max((end - now) / 2, Self.pause)
        self.failed = failed
    }
}
