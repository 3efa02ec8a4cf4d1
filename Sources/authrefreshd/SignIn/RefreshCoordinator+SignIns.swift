internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import OAuthMessages
internal import RedirectListener
internal import RefreshCore
internal import SignIn

/// The coordinator's steps for sign-ins and step-ups.
extension RefreshCoordinator {
    /// Begins a sign-in, or joins the current one.
    ///
    /// - Parameter follower: receives all reports from the beginning, on this queue. The end is the last.
    /// - Returns: the follower's number, for `forget`.
    /// - Throws: `SignInStartError` if nothing was begun.
    func beginSignIn(
        _ request: SignInRequest,
        of snapshot: AccountSnapshot,
        follower: @escaping RunningSignIn.Follower
    ) throws(SignInStartError) -> Int {
        let (account, now) = (snapshot.account, timebase.now())
        if let failure = settings.failure(of: request, to: account) { throw .failed(failure) }
        take(signIns.endReplaced(by: request, of: account.id, at: now))
        let (number, steps) = try signIns.start(
            request,
            of: account,
            by: settings.signIn(for: account),
            policies: settings.profile(for: account)?.policies ?? SignInPolicies(),
            stepUp: stepUps[account.id],
            lacksRefreshToken: snapshot.lacksRefreshToken || snapshot.state.interaction?.reason == .noRefreshToken,
            isFirst: snapshot.state.generation == Generation(0) && account.grantFacts == GrantFacts(),
            isForgotten: account.registration.isForgotten(after: snapshot.failure?.detail, at: now.wall),
            profileSchemes: settings.profileSchemes(of: account),
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

    /// The state of an account; nil if it cannot be read.
    private func knownSnapshot(of account: AccountID, at now: Moment) -> AccountSnapshot? {
        (try? records.record(of: account)).map { snapshot(of: $0, at: now) }
    }

    /// Carries out the steps of sign-ins.
    func carryOut(_ steps: [SignIns.Step]) {
        for step in steps {
            switch step {
            case .prepare(let id):
                guard let asking = requestingClient(ofSignIn: id) else { continue }
                Task {
                    take(
                        await signIns.prepare(id, as: asking, deliver: delivery(to: id))
                    )
                }
            case .replaceClient(let id): replaceClient(ofSignIn: id)
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
            case .announce(let announcement, let account, let now):
                announceIfKnown(announcement, of: account, at: now)
            case .report(let report, let followers):
                for follower in followers { follower(report) }
            case .reportUnchanged(var reply, let account, let followers):
                let record = try? records.record(of: account)
                reply.status = record.map { snapshot(of: $0, at: timebase.now()).wireStatus }
                for follower in followers { follower(.completed(reply)) }
            case .noteServerDate(let date, let account):
                if let record = try? records.record(of: account) {
                    noteServerDate(date, of: record.issuerID)
                }
            case .ended(let account):
                renewClientSecretIfDue(of: account)
                wake()
            case .wake: wake()
            }
        }
    }

    /// Has the server register another client for the account of a sign-in.
    private func replaceClient(ofSignIn id: String) {
        guard let signIn = signIns.named(id) else { return }
        let (account, addsAccount) = (signIn.account, signIn.addsAccount)
        let registration = newRegistration(for: account)
        let crowding = beginServerCall(of: signIn.asked.process) { coordinator in
            do throws(ServerOrStoreError) {
                var changed = account
                if addsAccount {
                    // A new account is stored only together with its tokens.
                    changed.registration = try await coordinator.registerClient(by: registration)
                } else {
                    guard let updated = try await coordinator.replaceClient(by: registration) else { return }
                    changed = updated.account
                }
                let profile = coordinator.settings.signIn(for: changed)
                coordinator.take(coordinator.signIns.replacedClient(of: id, in: changed, by: profile))
            } catch {
                coordinator.take(coordinator.signIns.clientNotReplaced(of: id, error.signInFailure))
            }
        }
        guard crowding != nil else { return }
        let failure = SignInFailure(.unavailable, "too many clients are being registered at once")
        take(signIns.clientNotReplaced(of: id, failure))
    }

    /// The client for a sign-in's requests; nil if the sign-in is over.
    private func requestingClient(ofSignIn id: String) -> RequestingClient? {
        guard let signIn = signIns.named(id) else { return nil }
        let account = signIn.policy.map { settings.account(signIn.account, running: $0) } ?? signIn.account
        return requestingClient(of: account, correlationID: signIn.correlationID)
    }

    /// Passes on what browsers deliver to the listener of the sign-in `id`.
    private func delivery(to id: String) -> RedirectListener.Deliver {
        { [weak self, queue] form, show in
            queue.async { [weak self] in
                guard let self else { return show(.nothingUnderWay) }
                self.assumeIsolated {
                    $0.take($0.signIns.delivered(form, to: id, at: $0.timebase.now(), show: show))
                }
            }
        }
    }

    private func announceIfKnown(_ announcement: Announcement, of account: AccountID, at now: Moment) {
        guard let record = try? records.record(of: account) else { return }
        announce(announcement, of: record, at: now)
    }

    // MARK: Step-ups

    /// Records what a resource server requires.
    func noteStepUp(_ stepUp: StepUp, of snapshot: AccountSnapshot) {
        let account = snapshot.account.id
        if let announcement = stepUps.note(stepUp, of: account) {
            announceIfKnown(announcement, of: account, at: snapshot.at)
        }
    }
}
