internal import AccountStorage
internal import OAuthClient
internal import RefreshCore
internal import SignIn

/// Accounts that a sign-in brings: several people at one client.
extension RefreshCoordinator {
    /// Begins the sign-in that brings a new account, made like the one of `snapshot`, or joins the one under way. Nothing is added before its
    /// tokens are there.
    func startSignIn(
        _ request: SignInRequest,
        adding name: AccountName,
        like snapshot: AccountSnapshot,
        follower: @escaping RunningSignIn.Follower
    ) throws(SignInRefusal) -> (follower: Int, account: AccountID) {
        let (source, now) = (snapshot.account, timebase.now())
        let registration = registrations.current(of: source.id, stored: source.registration)
        let account = source.another(name, id: signIns.number(forAdding: name), registration: registration)
        if let flaw = settings.flaw(of: request, to: account) { throw .failed(flaw) }
        take(signIns.makeWay(for: request, of: account.id, at: now))
        let (number, steps) = try signIns.start(
            request,
            of: account,
            by: settings.signIn(for: account),
            policies: settings.profile(for: account)?.policies ?? SignInPolicies(),
            stepUp: nil,
            likeThatOf: source.name,
            browser: account.registration.loginBrowser ?? settings.loginBrowser,
            isStopping: isStopping,
            at: now,
            follower: follower
        )
        take(steps)
        return (number, account.id)
    }

    /// Adds the account that a sign-in is to bring, with its tokens, in one commit. While the store fails the tokens wait for it.
    func addAccount(ofSignIn id: String) {
        guard let signIn = signIns.named(id), signIn.addsAccount, let arrival = signIn.grant else { return }
        let now = timebase.now()
        do throws(StoreError) {
            let other = try account(ofSamePersonAs: signIn)
            let new = NewAccount(signIn.account, createdAt: now.wall)
            let policy = settings.policy(of: signIn.account)
            let (record, changes) = try scheduler.add(new, having: arrival, policy: policy, at: now)
            announce(.added, of: record, at: now)
            for change in changes { announce(.changed(change), of: record, at: now) }
            statusChanged()
            signIns.added(id, as: record.account, samePersonAs: other)
            signInStored(of: record.account.id, at: now)
            wake()
        } catch {
            guard case .nameTaken(let name) = error else { return storeFailed(error, with: [], at: now) }
            let reason = "an account '\(name)' was added meanwhile"
            take(signIns.tell(.notStored(reason: reason), to: signIn.account.id, at: now))
        }
    }

    /// Another account in which the person who has just signed in is signed in by the same client; nil if there is none.
    private func account(ofSamePersonAs signIn: RunningSignIn) throws(StoreError) -> AccountName? {
        guard let subject = signIn.grant?.grantFacts.subject else { return nil }
        let issuer = signIn.account.issuer
        // A person has few accounts at one server.
        let accounts = try store.accounts(ofPerson: subject, at: issuer, limit: 100)
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
        other.registration.dpopKey = registration.dpopKey.map { _ in OAuthClient.newDPoPKey() }
        other.grantFacts = GrantFacts(needsConsent: grantFacts.needsConsent)
        return other
    }
}
