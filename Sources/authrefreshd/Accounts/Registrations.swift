internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore

/// Changes to registrations that are not stored yet, and the state of expiring client secrets.
struct Registrations {
    /// The most renewals at a time. Each takes a place that a person's request could use, and nobody waits for a
    /// renewal.
    private static let renewalsAtOnce = 2

    /// When each secret was last checked, and the result; missing if it was not checked.
    private var care: [AccountID: ClientSecretCare] = [:]
    /// The renewals under way, each with the registration as the server has it.
    private var renewals: [AccountID: ClientRegistration] = [:]
    /// Registrations to store later.
    private var unstored: [AccountID: UnstoredRegistration] = [:]

    /// Whether all registrations are stored.
    var areStored: Bool { unstored.isEmpty }

    /// The registration of `account` as the server has it.
    ///
    /// - Parameter stored: the stored registration.
    func current(of account: AccountID, stored: ClientRegistration) -> ClientRegistration {
        unstored[account]?.applied(to: stored) ?? stored
    }

    // MARK: Client secrets that expire (RFC 7591 §3.2.1)

    /// Whether something is to be done about the client secret of `account` now: the client renews it itself (RFC 7592), or
    /// without management, a person has to provide a new one.
    mutating func isCareDue(for account: Account, at now: Timestamp) -> Bool {
        guard isDue(account.id, at: now), account.registration.isSecretEnding(at: now),
            let end = account.registration.clientSecretExpiresAt
        else { return false }
        let failed = hasFailed(account.id)
        guard account.registration.management != nil else {
            care[account.id] = ClientSecretCare(until: end, at: now, failed: failed)
            return true
        }
        // There is no place for another renewal, so check again soon.
        care[account.id] = ClientSecretCare(soonAfter: now, failed: failed)
        return renewals.count < Self.renewalsAtOnce
    }

    /// Whether a person has to provide a new secret: it expires soon, and the daemon cannot renew it, or tried and
    /// failed.
    func needsPerson(for account: Account, at now: Timestamp) -> Bool {
        guard account.registration.isSecretEnding(at: now) else { return false }
        return account.registration.management == nil || hasFailed(account.id)
    }

    /// Whether the client secret of `account` should be checked now.
    private func isDue(_ account: AccountID, at now: Timestamp) -> Bool {
        !isRenewing(account) && care[account].map { $0.nextAt <= now } ?? true
    }

    func isRenewing(_ account: AccountID) -> Bool { renewals[account] != nil }

    /// Whether the last attempt to renew the secret failed.
    private func hasFailed(_ account: AccountID) -> Bool {
        care[account]?.failed ?? false
    }

    /// When to check the client secret again; nil if it was not checked.
    func nextLook(at account: AccountID) -> Timestamp? { care[account]?.nextAt }

    mutating func beginRenewal(_ registration: ClientRegistration, of account: AccountID) {
        renewals[account] = registration
    }

    /// Records the registration that the current renewal has produced.
    ///
    /// - Returns: whether it is new and has to be stored.
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

    /// Records the result of a renewal. It counts as under way until `endRenewal`.
    mutating func renewed(_ account: AccountID, until end: Timestamp?, at now: Timestamp, failed: Bool) {
        care[account] = end.map { ClientSecretCare(until: $0, at: now, failed: failed) }
    }

    mutating func endRenewal(of account: AccountID) {
        renewals[account] = nil
    }

    // MARK: Registrations that are not stored

    // The server accepts only these registrations now. So they are kept and used, and stored later with everything else
    // that is not stored yet.

    /// The result of storing a registration.
    enum Stored {
        /// There is a new secret. Accounts that the server refused because of the old one can continue.
        case newSecret(AccountID)
        /// The secret now expires later.
        case renewed(Record, correlationID: String)
        /// The registration is lost, because its place in the store is damaged or gone.
        case lost(StoreError)
    }

    /// Stores the registrations that could not be stored before.
    ///
    /// - Parameter stored: receives what was stored, even if this throws.
    /// - Throws: `StoreError` if the store cannot be written. The rest is then kept, and stored by a later call.
    mutating func storeAll(in records: AccountRecords, _ stored: inout [Stored]) throws(StoreError) {
        for (account, registration) in unstored {
            do throws(StoreError) {
                stored += try registration.store(in: records, of: account)
            } catch {
                guard error.damagedAccount != nil || error.contradictedAccount != nil else { throw error }
                stored.append(.lost(error))
            }
            unstored[account] = nil
        }
    }

    /// Takes note that the account was removed.
    mutating func forget(_ account: AccountID) {
        care[account] = nil
        unstored[account] = nil
    }
}

/// A server's change of a registration that is not stored yet.
private struct UnstoredRegistration {
    /// The client in the request to the server.
    let known: ClientRegistration
    /// The resulting registration.
    let renewed: ClientRegistration
    /// Whether the secret now expires later. This is announced as soon as the registration is stored.
    let isRenewal: Bool
    let correlationID: String

    /// `registration` with the server's changes. If somebody has set another client or secret meanwhile, that is kept.
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

    /// Stores it with the settings from the store, which may be newer than those of a kept decision.
    fileprivate func store(in records: AccountRecords, of id: AccountID) throws(StoreError) -> [Registrations.Stored] {
        guard var record = try records.storedEntry(of: id)?.record() else { return [] }
        let before = record.account.registration
        let after = applied(to: before)
        guard after != before else { return [] }
        record.account.registration = after
        try records.update(record.account)
        var stored: [Registrations.Stored] = []
        if after.clientSecret != before.clientSecret { stored.append(.newSecret(id)) }
        if isRenewal, after.clientSecretExpiresAt == renewed.clientSecretExpiresAt {
            stored.append(.renewed(record, correlationID: correlationID))
        }
        return stored
    }
}

/// When a client secret that expires was last checked, and the result.
private struct ClientSecretCare {
    /// When to check again.
    let nextAt: Timestamp
    /// Whether the renewal failed.
    let failed: Bool

    /// The shortest time between two attempts. A refused renewal must not be repeated at every refresh.
    private static let pause = Duration.seconds(3600)

    /// Plans a check soon, because nothing was found out.
    init(soonAfter now: Timestamp, failed: Bool) {
        // Longer than a renewal takes, and shorter than any refresh period.
        nextAt = now + .seconds(60)
        self.failed = failed
    }

    /// Plans a check when half of the remaining time has passed.
    init(until end: Timestamp, at now: Timestamp, failed: Bool) {
        nextAt = now + max((end - now) / 2, Self.pause)
        self.failed = failed
    }
}

extension ClientRegistration {
    /// Whether the client secret expires soon or has expired.
    ///
    /// Two weeks are enough for a person who is not away, and for a server that is down for some days.
    func isSecretEnding(at now: Timestamp) -> Bool {
        clientSecretExpiresAt.map { $0 - now < .seconds(14 * 86_400) } ?? false
    }
}
