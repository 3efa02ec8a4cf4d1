internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore

/// What servers have made of their clients' registrations, and the store does not have yet; and what was done about client secrets that
/// end.
struct Registrations {
    /// Renewals at a time: each takes one place from those of people, and nobody waits for it.
    private static let renewalsAtOnce = 2

    /// Absent where nothing was done yet.
    private var care: [AccountID: ClientSecretCare] = [:]
    /// The renewals that are under way: each with the registration as its server has it.
    private var renewals: [AccountID: ClientRegistration] = [:]
    /// They are kept here until they can be stored.
    private var unstored: [AccountID: UnstoredRegistration] = [:]

    /// Whether all that servers have told is stored.
    var areStored: Bool { unstored.isEmpty }
    var hasRenewals: Bool { !renewals.isEmpty }

    /// The registration of `account` as its server has it.
    ///
    /// - Parameter stored: what the store has of it.
    func current(of account: AccountID, stored: ClientRegistration) -> ClientRegistration {
        unstored[account]?.applied(to: stored) ?? stored
    }

    // MARK: Client secrets that end (RFC 7591 §3.2.1)

    /// What is to be done about a client secret that ends.
    enum Care {
        /// Only a person can bring another.
        case tell
        /// The client may renew it by itself (RFC 7592).
        case renew(RegistrationManagement)
    }

    /// What is to be done about the client secret of `account` now; nil if nothing is.
    mutating func careDue(for account: Account, at now: Timestamp) -> Care? {
        guard isDue(account.id, at: now), account.registration.isSecretEnding(at: now),
            let end = account.registration.clientSecretExpiresAt
        else { return nil }
        let failed = hasFailed(account.id)
        guard let management = account.registration.management else {
            care[account.id] = ClientSecretCare(until: end, at: now, failed: failed)
            return .tell
        }
        // Without room for one more renewal it is looked at again soon.
        care[account.id] = ClientSecretCare(soonAfter: now, failed: failed)
        return renewals.count < Self.renewalsAtOnce ? .renew(management) : nil
    }

    /// Whether a person has to bring another secret: it ends soon, and the daemon cannot renew it, or could not.
    func needsPerson(for account: Account, at now: Timestamp) -> Bool {
        guard account.registration.isSecretEnding(at: now) else { return false }
        return account.registration.management == nil || hasFailed(account.id)
    }

    /// Whether it is time to look after the client secret of `account`.
    private func isDue(_ account: AccountID, at now: Timestamp) -> Bool {
        renewals[account] == nil && care[account].map { $0.nextAt <= now } ?? true
    }

    /// Whether the secret could not be renewed when that was tried last.
    private func hasFailed(_ account: AccountID) -> Bool {
        care[account]?.failed ?? false
    }

    /// When to look after the client secret again; nil if it was not looked after.
    func nextLook(at account: AccountID) -> Timestamp? { care[account]?.nextAt }

    mutating func beginRenewal(_ registration: ClientRegistration, of account: AccountID) {
        renewals[account] = registration
    }

    /// Notes what the renewal under way has made of the registration.
    ///
    /// - Returns: whether that is anything new, which has to be stored.
    mutating func take(
        _ renewed: ClientRegistration,
        of account: AccountID,
        isRenewal: Bool,
        correlationID: String
    ) -> Bool {
        guard let known = renewals[account], renewed != known else { return false }
        renewals[account] = renewed
        unstored[account] = UnstoredRegistration(
            known: known,
            renewed: renewed,
            isRenewal: isRenewal,
            correlationID: correlationID
        )
        return true
    }

    /// Notes how a renewal came out; it is under way until `endRenewal`.
    mutating func renewed(_ account: AccountID, until end: Timestamp?, at now: Timestamp, failed: Bool) {
        care[account] = end.map { ClientSecretCare(until: $0, at: now, failed: failed) }
    }

    mutating func endRenewal(of account: AccountID) {
        renewals[account] = nil
    }

    // MARK: What could not be stored

    // The server takes no other registrations any more: they are kept, used, and tried again with everything else that the store owes.

    /// What storing a registration has brought.
    enum Stored {
        /// What was refused for the old secret's sake goes on with the new one.
        case newSecret(AccountID)
        /// The secret lasts longer.
        case renewed(Record, correlationID: String)
        /// Where it would be is what is damaged, or gone.
        case lost(StoreError)
    }

    /// Stores the registrations that could not be stored yet.
    ///
    /// - Parameter stored: gets what was stored, also if this throws.
    /// - Throws: `StoreError` if the store cannot be written; what is not stored is kept.
    mutating func storeAll(in store: AccountStore, _ stored: inout [Stored]) throws(StoreError) {
        for (account, registration) in unstored {
            do throws(StoreError) {
                stored += try registration.store(in: store, of: account)
            } catch {
                guard error.damagedAccount != nil || error.contradictedAccount != nil else { throw error }
                stored.append(.lost(error))
            }
            unstored[account] = nil
        }
    }

    /// The account was removed.
    mutating func forget(_ account: AccountID) {
        care[account] = nil
        unstored[account] = nil
    }
}

/// What a server has made of a client's registration, and the store does not have yet.
private struct UnstoredRegistration {
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

    /// What a decision that is kept has of the account may be older than what the store has: its settings are read there.
    fileprivate func store(in store: AccountStore, of id: AccountID) throws(StoreError) -> [Registrations.Stored] {
        guard var record = try store.entry(id)?.record() else { return [] }
        let before = record.account.registration
        let after = applied(to: before)
        guard after != before else { return [] }
        record.account.registration = after
        try store.update(record.account)
        var stored: [Registrations.Stored] = []
        if after.clientSecret != before.clientSecret { stored.append(.newSecret(id)) }
        if isRenewal, after.clientSecretExpiresAt == renewed.clientSecretExpiresAt {
            stored.append(.renewed(record, correlationID: correlationID))
        }
        return stored
    }
}

/// What was done about a client secret that ends.
private struct ClientSecretCare {
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

extension ClientRegistration {
    /// Whether the server stops taking the client secret soon, or has.
    ///
    /// Two weeks are enough for anyone who is not away, and for a server that is down.
    func isSecretEnding(at now: Timestamp) -> Bool {
        clientSecretExpiresAt.map { $0 - now < .seconds(14 * 86_400) } ?? false
    }
}
