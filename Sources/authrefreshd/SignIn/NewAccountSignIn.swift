internal import AccountStorage
internal import Basics
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// Accounts that are added by a sign-in, for several people with one client.
extension RefreshCoordinator {
    /// Begins the sign-in for a new account with the settings of `snapshot`'s, or joins the current one. Nothing is
    /// added before the tokens have arrived.
    func beginSignIn(
        _ request: SignInRequest,
        adding name: AccountName,
        like snapshot: AccountSnapshot,
        follower: @escaping RunningSignIn.Follower
    ) throws(VarlinkError) -> (follower: Int, account: AccountID) {
        let source = snapshot.account
        let registration = registrations.current(of: source.id, stored: source.registration)
        let account = source.another(name, id: signIns.number(forAdding: name), registration: registration)
        let number = try beginSignIn(
            request,
            for: account,
            likeThatOf: source.name,
            after: snapshot.failure?.detail,
            follower: follower
        )
        return (number, account.id)
    }

    /// Adds the new account of a sign-in with its tokens, in one commit. While the store fails, the tokens wait.
    func addAccount(of signIn: RunningSignIn, with arrival: QueuedEvent) {
        let now = timebase.now()
        do throws(StoreError) {
            let other = try account(ofSamePersonAs: signIn)
            let new = NewAccount(signIn.account, createdAt: now.wall)
            let record = try add(new, having: arrival, at: now)
            signIns.added(signIn.id, as: record.account, samePersonAs: other)
            tellSignIn(.stored, of: record.account.id, at: now)
        } catch {
            guard case .nameTaken(let name) = error else {
                return noteStoreFailure(error, at: now)
            }
            let failure = SignInFailure(.unavailable, "an account named '\(name)' was added meanwhile")
            tellSignIn(.notStored(failure), of: signIn.account.id, at: now)
        }
    }

    /// Another account in which the same person is signed in with the same client; nil if there is none.
    private func account(ofSamePersonAs signIn: RunningSignIn) throws(StoreError) -> AccountName? {
        guard let subject = signIn.grant?.grantFacts.subject else { return nil }
        let issuer = signIn.account.issuer
        // A person has few accounts at one server.
        let accounts = try store.accounts(ofPerson: subject, at: issuer, limit: 100)
        return accounts.first { $0.registration.clientID == signIn.account.registration.clientID }?.name
    }
}

/// The account of a sign-in, as people are told about it.
struct SignInTarget: Sendable {
    let account: AccountName
    /// The account whose settings the new one gets after the sign-in; nil if the account exists already.
    var source: AccountName?

    /// The command that starts the sign-in again.
    var command: Command { command(with: nil) }

    func command(with option: String?) -> Command {
        let words = source.map { [$0.text, "--new-account", account.text] } ?? [account.text]
        return Command(words: ["login"] + words + (option.map { [$0] } ?? []))
    }

    /// The state of the account after a sign-in without tokens.
    var unchanged: String {
        source == nil ? "The account “\(account)” is unchanged." : "The account “\(account)” was not added."
    }

    /// The account whose settings are used.
    var settled: AccountName { source ?? account }
}

extension Account {
    /// A new account with the same client at the same server, for the grant of another person.
    ///
    /// It has its own DPoP key, because a token that is bound to one account's key is not for others (RFC 9449). The
    /// access to the client's registration (RFC 7592) stays with the account that registered it, and so does what leads
    /// programs to that account's tokens: its token file, its addresses and its user name.
    func another(_ name: AccountName, id: AccountID, registration: ClientRegistration) -> Account {
        var other = self
        (other.id, other.name, other.registration) = (id, name, registration)
        other.registration.management = nil
        other.registration.wasSelfRegistered = registration.isSelfRegistered
        other.delivery = .byName
        other.registration.dpopKey = registration.dpopKey.map { _ in Secret.newDPoPKey() }
        other.grantFacts = GrantFacts(consent: grantFacts.consent)
        return other
    }
}
