internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import OAuthClient
internal import RedirectListener
internal import RefreshCore

/// Signing people in, and what is wanted of them beyond their grants.
extension RefreshCoordinator {
    /// Begins a sign-in, or joins the one under way.
    ///
    /// - Parameter follower: told everything from the beginning on, on this queue; the end is the last.
    /// - Returns: the follower's number, to forget it by.
    /// - Throws: `SignInRefusal` if nothing was begun.
    func startSignIn(
        _ request: SignInRequest,
        of snapshot: AccountSnapshot,
        follower: @escaping RunningSignIn.Follower
    ) throws(SignInRefusal) -> Int {
        let (account, now) = (snapshot.account, timebase.now())
        if let flaw = settings.flaw(of: request, to: account) { throw .failed(flaw) }
        take(signIns.makeWay(for: request, of: account.id, at: now))
        let (number, steps) = try signIns.start(
            request,
            of: account,
            by: settings.signIn(for: account),
            policies: settings.profile(for: account)?.policies ?? SignInPolicies(),
            stepUp: stepUps[account.id],
            lacksRefreshToken: snapshot.lacksRefreshToken || snapshot.state.interaction?.reason == .noRefreshToken,
            browser: account.registration.loginBrowser ?? settings.loginBrowser,
            isStopping: isStopping,
            at: now,
            follower: follower
        )
        take(steps)
        return number
    }

    /// Tells a sign-in that its tokens are stored.
    func signInStored(of account: AccountID, at now: Moment) {
        take(signIns.stored(account, as: knownSnapshot(of: account, at: now), at: now))
    }

    /// Where an account stands; nil if that cannot be read.
    private func knownSnapshot(of account: AccountID, at now: Moment) -> AccountSnapshot? {
        (try? records.record(of: account)).map { snapshot(of: $0, at: now) }
    }

    /// Does what the sign-ins ask for.
    func take(_ steps: [SignIns.Step]) {
        for step in steps {
            switch step {
            case .prepare(let id):
                guard let asking = requestingClient(ofSignIn: id) else { continue }
                Task { take(await signIns.prepare(id, as: asking, deliver: delivery(to: id))) }
            case .exchange(let id, let code):
                guard let asking = requestingClient(ofSignIn: id) else { continue }
                Task { take(await signIns.exchange(code, of: id, as: asking)) }
            case .identify(let id, let idToken):
                guard let asking = requestingClient(ofSignIn: id) else { continue }
                Task { take(await signIns.identify(idToken, of: id, as: asking)) }
            case .poll(let id):
                guard let asking = requestingClient(ofSignIn: id) else { continue }
                Task { take(await signIns.poll(id, as: asking)) }
            case .submit(let arrival): submit(arrival)
            case .addAccount(let id): addAccount(ofSignIn: id)
            case .announce(let announcement, let account, let now): announce(announcement, of: account, at: now)
            case .report(let report, let followers):
                for follower in followers { follower(report) }
            case .reportUnchanged(var reply, let account, let followers):
                let record = try? records.record(of: account)
                reply.status = record.map { snapshot(of: $0, at: timebase.now()).wireStatus }
                for follower in followers { follower(.completed(reply)) }
            case .noteServerDate(let date, let account):
                if let record = try? records.record(of: account) { noteServerDate(date, of: record.issuerID) }
            case .ended(let account):
                ClientSecretRenewal.beginIfDue(for: account, on: self)
                wake()
            case .wake: wake()
            }
        }
    }

    /// As whom the requests of a sign-in are made; nil if it is over.
    private func requestingClient(ofSignIn id: String) -> RequestingClient? {
        guard let signIn = signIns.named(id) else { return nil }
        let account = signIn.policy.map { settings.account(signIn.account, running: $0) } ?? signIn.account
        return requestingClient(of: account, correlationID: signIn.correlationID)
    }

    /// Brings here what browsers deliver to the listener of the sign-in `id`.
    private func delivery(to id: String) -> RedirectListener.Deliver {
        { [weak self, queue] form, show in
            queue.async { [weak self] in
                guard let self else { return show(.nothingUnderWay) }
                self.assumeIsolated { $0.take($0.signIns.delivered(form, to: id, at: $0.timebase.now(), show: show)) }
            }
        }
    }

    private func announce(_ announcement: Announcement, of account: AccountID, at now: Moment) {
        guard let record = try? records.record(of: account) else { return }
        announce(announcement, of: record, at: now)
    }

    // MARK: Step-ups

    /// Notes what a resource server wants.
    func note(_ stepUp: StepUp, of snapshot: AccountSnapshot) {
        let account = snapshot.account.id
        if let announcement = stepUps.note(stepUp, of: account) { announce(announcement, of: account, at: snapshot.at) }
    }
}
