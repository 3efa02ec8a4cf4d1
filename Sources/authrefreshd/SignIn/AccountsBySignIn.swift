internal import AccountStorage
internal import OAuthClient
internal import RefreshCore
internal import SignIn

/// Accounts that a sign-in brings: several people at one client.
enum AccountsBySignIn {
    /// Begins the sign-in that brings a new account, made like the one of `snapshot`, or joins the one under way. Nothing is added before
    /// its tokens are there.
    static func start(
        _ request: SignInRequest,
        adding name: AccountName,
        like snapshot: AccountSnapshot,
        follower: @escaping RunningSignIn.Follower,
        on coordinator: isolated RefreshCoordinator
    ) throws(SignInRefusal) -> (follower: Int, account: AccountID) {
        let (source, now) = (snapshot.account, coordinator.timebase.now())
        let registration = coordinator.registrations.current(of: source.id, stored: source.registration)
        let account = source.another(name, id: coordinator.signIns.number(forAdding: name), registration: registration)
        if let flaw = coordinator.settings.flaw(of: request, to: account) { throw .failed(flaw) }
        coordinator.take(coordinator.signIns.makeWay(for: request, of: account.id, at: now))
        let (number, steps) = try coordinator.signIns.start(
            request,
            of: account,
            by: coordinator.settings.signIn(for: account),
            policies: coordinator.settings.profile(for: account)?.policies ?? SignInPolicies(),
            stepUp: nil,
            likeThatOf: source.name,
            browser: account.registration.loginBrowser ?? coordinator.settings.loginBrowser,
            isStopping: coordinator.isStopping,
            at: now,
            follower: follower
        )
        coordinator.take(steps)
        return (number, account.id)
    }

    /// Adds the account that a sign-in is to bring, with its tokens, in one commit. While the store fails the tokens wait for it.
    static func add(ofSignIn id: String, on coordinator: isolated RefreshCoordinator) {
        guard let signIn = coordinator.signIns.named(id), signIn.addsAccount, let arrival = signIn.grant else { return }
        let now = coordinator.timebase.now()
        do throws(StoreError) {
            let other = try account(ofSamePersonAs: signIn, on: coordinator)
            let new = NewAccount(signIn.account, createdAt: now.wall)
            let policy = coordinator.settings.policy(of: signIn.account)
            let (record, changes) = try coordinator.scheduler.add(new, having: arrival, policy: policy, at: now)
            coordinator.announce(.added, of: record, at: now)
            for change in changes { coordinator.announce(.changed(change), of: record, at: now) }
            coordinator.statusChanged()
            coordinator.signIns.added(id, as: record.account, samePersonAs: other)
            SignInSteps.stored(of: record.account.id, at: now, on: coordinator)
            coordinator.wake()
        } catch {
            guard case .nameTaken(let name) = error else {
                return StoreFailures.note(error, at: now, on: coordinator)
            }
            let reason = SignInObstacle.nameTaken(name).reason
            coordinator.take(coordinator.signIns.tell(.notStored(reason: reason), to: signIn.account.id, at: now))
        }
    }

    /// Another account in which the person who has just signed in is signed in by the same client; nil if there is none.
    private static func account(
        ofSamePersonAs signIn: RunningSignIn,
        on coordinator: isolated RefreshCoordinator
    ) throws(StoreError) -> AccountName? {
        guard let subject = signIn.grant?.grantFacts.subject else { return nil }
        let issuer = signIn.account.issuer
        // A person has few accounts at one server.
        let accounts = try coordinator.store.accounts(ofPerson: subject, at: issuer, limit: 100)
        return accounts.first { $0.registration.clientID == signIn.account.registration.clientID }?.name
    }
}

/// The account that a sign-in is for, as people are told about it.
struct SignInTarget: Sendable {
    let account: AccountName
    /// The account that it is made like once the person has signed in; nil: it is there.
    var source: AccountName?

    /// What begins the sign-in anew.
    var command: String {
        source.map { "authctl login \($0) --new-account \(account)" } ?? "authctl login \(account)"
    }

    /// What has become of it by a sign-in that brought no tokens.
    var unchanged: String {
        source == nil ? "The account “\(account)” is unchanged." : "The account “\(account)” was not added."
    }

    /// The account whose settings count.
    var settled: AccountName { source ?? account }
}

extension Account {
    /// A new account of the same client at the same server, for the grant of another person.
    ///
    /// Its DPoP key is its own: what is bound to one account's key is no other one's to use (RFC 9449). What deletes or renews the client's
    /// registration (RFC 7592) stays with the account that registered it.
    func another(_ name: AccountName, id: AccountID, registration: ClientRegistration) -> Account {
        var other = self
        (other.id, other.name, other.registration) = (id, name, registration)
        other.registration.management = nil
        other.registration.dpopKey = registration.dpopKey.map { _ in ClientKeys.newDPoPKey() }
        other.grantFacts = GrantFacts(needsConsent: grantFacts.needsConsent)
        return other
    }
}
