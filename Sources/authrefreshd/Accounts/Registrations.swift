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
    /// What is to be stored, by account.
    var owed: [AccountID: UnstoredRegistration] { unstored }

    /// The registration of `account` as its server has it.
    ///
    /// - Parameter stored: what the store has of it.
    func current(of account: AccountID, stored: ClientRegistration) -> ClientRegistration {
        unstored[account]?.applied(to: stored) ?? stored
    }

    /// Whether it is time to look after the client secret of `account`.
    func isDue(_ account: AccountID, at now: Timestamp) -> Bool {
        renewals[account] == nil && care[account].map { $0.nextAt <= now } ?? true
    }

    /// Whether the secret could not be renewed when that was tried last.
    func hasFailed(_ account: AccountID) -> Bool {
        care[account]?.failed ?? false
    }

    /// When to look after the client secret again; nil if it was not looked after.
    func nextLook(at account: AccountID) -> Timestamp? { care[account]?.nextAt }

    /// Nobody but a person can bring another secret.
    mutating func leaveToPerson(_ account: AccountID, until end: Timestamp, at now: Timestamp) {
        care[account] = ClientSecretCare(until: end, at: now, failed: hasFailed(account))
    }

    /// Whether there is room for one more renewal; without it `account` is looked at again soon.
    mutating func hasRoom(for account: AccountID, at now: Timestamp) -> Bool {
        care[account] = ClientSecretCare(soonAfter: now, failed: hasFailed(account))
        return renewals.count < Self.renewalsAtOnce
    }

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

    /// What was owed is stored, or has no place where it could be.
    mutating func settled(_ account: AccountID) {
        unstored[account] = nil
    }

    /// The account was removed.
    mutating func forget(_ account: AccountID) {
        care[account] = nil
        unstored[account] = nil
    }
}

/// What a server has made of a client's registration, and the store does not have yet.
struct UnstoredRegistration {
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
