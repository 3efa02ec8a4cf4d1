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

/// Why something that a server gives only once was not had: the server did not give it, or it could not be stored.
enum ServerOrStoreError: Error {
    case server(RefreshFailure)
    case store(StoreError)
}

/// Clients that register themselves (RFC 7591).
extension RefreshCoordinator {
    /// As whom a registration is asked for.
    func registering(_ new: NewAccount) -> RequestingClient {
        RequestingClient(
            issuer: new.issuer,
            profile: settings.profile(for: ProfileChoice(new)),
            registration: new.registration,
            correlationID: Self.newCorrelationID()
        )
    }

    /// Has the server register a client, and adds the account that it is for.
    ///
    /// - Throws: `server` if it registers none; `store` if the account cannot be added, and the client is deregistered
    ///   again, as far as that is possible.
    func register(
        _ new: NewAccount,
        as asking: RequestingClient,
        initialAccessToken: Secret?
    ) async throws(ServerOrStoreError) -> AccountSnapshot {
        let wanted = new.registration
        let signIn = (asking.profile?.signIn ?? SignInProfile()).registered(with: wanted.redirect)
        var request = RegistrationRequest(
            client: asking,
            clientName: "authrefreshd",
            redirectURIs: wanted.serviceGrant == nil ? RedirectChoice.registered(as: signIn) : []
        )
        if let grant = wanted.serviceGrant { request.grantTypes = [grant.kind.rawValue] }
        request.postLogoutRedirectURIs = wanted.redirect.postLogoutURI.map { [$0] } ?? []
        // A client with a key proves itself with it, unless something else was chosen.
        let byKey = wanted.clientKey != nil && wanted.serviceGrant?.kind != .jwtBearer
        request.authentication = wanted.authentication ?? (byKey ? .privateKeyJWT : nil)
        request.scopes = asking.scopes(nil)
        request.initialAccessToken = initialAccessToken
        request.softwareVersion = Version.text
        request.keySet = wanted.clientKey.flatMap { OAuthClient.keySet(ofClientKey: $0, keyID: wanted.clientKeyID) }
        let registered: ClientRegistration
        switch await client.register(request) {
        case .success(let success): registered = success.registration
        case .failure(let failure): throw .server(failure)
        }
        var new = new
        new.registration.clientID = registered.clientID
        new.registration.clientSecret = registered.clientSecret
        new.registration.clientSecretExpiresAt = registered.clientSecretExpiresAt
        new.registration.authentication = registered.authentication
        new.registration.management = registered.management
        do throws(StoreError) {
            return try add(new, grant: nil)
        } catch {
            var owner = asking
            owner.registration = new.registration
            if let management = registered.management { _ = await client.deregister(management, of: owner) }
            throw .store(error)
        }
    }
}

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
        guard registrations.hasRoom(for: account, at: now.wall), beginServerCall() else { return }
        registrations.beginRenewal(record.account.registration, of: account)
        let client = requestingClient(of: record.account, correlationID: Self.newCorrelationID())
        Task {
            let renewal = await self.client.renew(management, of: client) { [self] read in
                await keepRead(read, of: account, correlationID: client.correlationID)
            }
            if let renewal { take(renewal, for: account, correlationID: client.correlationID) }
            registrations.endRenewal(of: account)
            serverCallEnded()
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
        for (account, owed) in registrations.owed {
            do throws(StoreError) {
                try store(owed, of: account, at: now)
            } catch {
                // Where it would be is what is damaged, or gone.
                guard error.damagedAccount != nil || error.contradictedAccount != nil else { throw error }
                changeLog.storeFailed(error)
            }
            registrations.settled(account)
        }
    }

    /// What a decision that is kept has of the account may be older than what the store has: its settings are read there.
    private func store(_ owed: UnstoredRegistration, of id: AccountID, at now: Moment) throws(StoreError) {
        guard var record = try store.entry(id)?.record() else { return }
        let before = record.account.registration
        let after = owed.applied(to: before)
        guard after != before else { return }
        record.account.registration = after
        try store.update(record.account)
        // What was refused for the old secret's sake goes on with the new one.
        if after.clientSecret != before.clientSecret { submit(.accountUpdated, for: id) }
        guard owed.isRenewal, after.clientSecretExpiresAt == owed.renewed.clientSecretExpiresAt else { return }
        announce(.clientSecretRenewed, of: record, at: now, correlationID: owed.correlationID)
    }
}
