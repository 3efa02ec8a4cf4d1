internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Client secrets that end (RFC 7591 §3.2.1): renewed where the client may do that by itself (RFC 7592), and announced where not.
extension RefreshCoordinator {
    /// Does what is due about the client secret of `account`. To be called when the account was at its server: nobody else knows when a
    /// secret is refused.
    func tendClientSecret(of account: AccountID) {
        let now = timebase.now()
        guard !isStopping, clientSecretCare[account].map({ $0.nextAt <= now.wall }) ?? true,
            exchanges[account] == nil, signIns[account] == nil,
            let record = try? entry(of: account)?.record(), record.account.registration.isSecretEnding(at: now.wall),
            let end = record.account.registration.clientSecretExpiresAt
        else { return }
        let failed = clientSecretCare[account]?.failed ?? false
        clientSecretCare[account] = ClientSecretCare(until: end, at: now.wall, failed: failed)
        guard let management = record.account.registration.management else {
            return announce(.clientSecretEnding(nil), of: record, at: now)
        }
        guard beginErrand() else { return }
        let client = requestingClient(of: record.account, correlationID: Self.newCorrelationID())
        Task {
            let renewal = await self.client.renew(management, of: client)
            take(renewal, for: record, correlationID: client.correlationID)
            errandEnded()
        }
    }

    /// Whether a person has to bring another secret: it ends soon, and the daemon cannot renew it, or could not.
    func needsClientSecret(_ account: Account, at now: Timestamp) -> Bool {
        guard account.registration.isSecretEnding(at: now) else { return false }
        return account.registration.management == nil || clientSecretCare[account.id]?.failed == true
    }

    /// Stores what the server has made of the registration. What cannot be stored is lost with nothing but time: the server tells its
    /// present secret to whoever asks again (RFC 7592 §2.1).
    private func take(_ renewal: RegistrationRenewal, for asked: Record, correlationID: String) {
        let now = timebase.now()
        do throws(StoreError) {
            guard let record = try entry(of: asked.account.id)?.record() else { return }
            var account = record.account
            // Somebody brought another client or another secret meanwhile.
            let known = asked.account.registration
            guard account.registration.clientID == known.clientID,
                account.registration.clientSecret == known.clientSecret
            else { return }
            if renewal.registration != known {
                account.registration.clientSecret = renewal.registration.clientSecret
                account.registration.clientSecretExpiresAt = renewal.registration.clientSecretExpiresAt
                account.registration.management = renewal.registration.management
                try store.update(account)
                // What was refused for the old secret's sake goes on with the new one.
                try decideNow(Arrival(account: account.id, event: .accountUpdated), at: now)
                wake()
            }
            guard let after = try entry(of: account.id)?.record() else { return }
            clientSecretCare[account.id] = renewal.registration.clientSecretExpiresAt.map { end in
                ClientSecretCare(until: end, at: now.wall, failed: renewal.failure != nil)
            }
            let news = renewal.failure.map(Announcement.clientSecretEnding) ?? .clientSecretRenewed
            announce(news, of: after, at: now, correlationID: correlationID)
        } catch {
            changeLog.storeFailed(error)
        }
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

    /// To look again when half of what is left has passed.
    init(until end: Timestamp, at now: Timestamp, failed: Bool) {
        nextAt = now + max((end - now) / 2, Self.pause)
        self.failed = failed
    }
}
