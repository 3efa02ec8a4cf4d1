internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import OAuthMessages
internal import RedirectListener
internal import RefreshCore
internal import SignIn

/// The coordinator's steps for sign-ins and step-ups.
enum SignInSteps {
    /// Begins a sign-in, or joins the current one.
    ///
    /// - Parameter follower: receives all reports from the beginning, on this queue. The end is the last.
    /// - Returns: the follower's number, for `forget`.
    /// - Throws: `SignInStartError` if nothing was begun.
    static func start(
        _ request: SignInRequest,
        of snapshot: AccountSnapshot,
        follower: @escaping RunningSignIn.Follower,
        on coordinator: isolated RefreshCoordinator
    ) throws(SignInStartError) -> Int {
        let (account, now) = (snapshot.account, coordinator.timebase.now())
        if let failure = coordinator.settings.failure(of: request, to: account) { throw .failed(failure) }
        coordinator.take(coordinator.signIns.endReplaced(by: request, of: account.id, at: now))
        let (number, steps) = try coordinator.signIns.start(
            request,
            of: account,
            by: coordinator.settings.signIn(for: account),
            policies: coordinator.settings.profile(for: account)?.policies ?? SignInPolicies(),
            stepUp: coordinator.stepUps[account.id],
            lacksRefreshToken: snapshot.lacksRefreshToken || snapshot.state.interaction?.reason == .noRefreshToken,
            isFirst: snapshot.state.generation == Generation(0) && account.grantFacts == GrantFacts(),
            isForgotten: account.registration.isForgotten(after: snapshot.failure?.detail, at: now.wall),
            profileSchemes: coordinator.settings.profileSchemes(of: account),
            isStopping: coordinator.isStopping,
            at: now,
            follower: follower
        )
        coordinator.take(steps)
        return number
    }

    /// Tells a sign-in that its tokens are stored.
    static func stored(of account: AccountID, at now: Moment, on coordinator: isolated RefreshCoordinator) {
        coordinator.take(
            coordinator.signIns.stored(account, as: knownSnapshot(of: account, at: now, on: coordinator), at: now)
        )
    }

    /// The state of an account; nil if it cannot be read.
    private static func knownSnapshot(
        of account: AccountID,
        at now: Moment,
        on coordinator: isolated RefreshCoordinator
    ) -> AccountSnapshot? {
        (try? coordinator.records.record(of: account)).map { coordinator.snapshot(of: $0, at: now) }
    }

    /// Carries out the steps of sign-ins.
    static func carryOut(_ steps: [SignIns.Step], on coordinator: isolated RefreshCoordinator) {
        for step in steps {
            switch step {
            case .prepare(let id):
                guard let asking = requestingClient(ofSignIn: id, on: coordinator) else { continue }
                Task {
                    coordinator.take(
                        await coordinator.signIns.prepare(id, as: asking, deliver: delivery(to: id, on: coordinator))
                    )
                }
            case .replaceClient(let id): replaceClient(ofSignIn: id, on: coordinator)
            case .exchange(let id, let code):
                guard let asking = requestingClient(ofSignIn: id, on: coordinator) else { continue }
                Task { coordinator.take(await coordinator.signIns.exchange(code, of: id, as: asking)) }
            case .identify(let id, let idToken):
                guard let asking = requestingClient(ofSignIn: id, on: coordinator) else { continue }
                Task { coordinator.take(await coordinator.signIns.identify(idToken, of: id, as: asking)) }
            case .poll(let id):
                guard let asking = requestingClient(ofSignIn: id, on: coordinator) else { continue }
                Task { coordinator.take(await coordinator.signIns.poll(id, as: asking)) }
            case .submit(let arrival): coordinator.submit(arrival)
            case .addAccount(let id): NewAccountSignIn.add(ofSignIn: id, on: coordinator)
            case .announce(let announcement, let account, let now):
                announce(announcement, of: account, at: now, on: coordinator)
            case .report(let report, let followers):
                for follower in followers { follower(report) }
            case .reportUnchanged(var reply, let account, let followers):
                let record = try? coordinator.records.record(of: account)
                reply.status = record.map { coordinator.snapshot(of: $0, at: coordinator.timebase.now()).wireStatus }
                for follower in followers { follower(.completed(reply)) }
            case .noteServerDate(let date, let account):
                if let record = try? coordinator.records.record(of: account) {
                    HostChanges.noteServerDate(date, of: record.issuerID, on: coordinator)
                }
            case .ended(let account):
                ClientSecretRenewal.beginIfDue(for: account, on: coordinator)
                coordinator.wake()
            case .wake: coordinator.wake()
            }
        }
    }

    /// Has the server register another client for the account of a sign-in.
    private static func replaceClient(ofSignIn id: String, on coordinator: isolated RefreshCoordinator) {
        guard let signIn = coordinator.signIns.named(id) else { return }
        let (account, addsAccount) = (signIn.account, signIn.addsAccount)
        let registration = DynamicRegistration(account, on: coordinator)
        let crowding = coordinator.beginServerCall(of: signIn.asked.process) { coordinator in
            do throws(ServerOrStoreError) {
                // A new account is stored only together with its tokens.
                let changed: Account? =
                    if addsAccount {
                        try await registration.withClient(on: coordinator)
                    } else {
                        try await registration.replaceClient(on: coordinator)?.account
                    }
                guard let changed else { return }
                let profile = coordinator.settings.signIn(for: changed)
                coordinator.take(coordinator.signIns.replacedClient(of: id, in: changed, by: profile))
            } catch {
                coordinator.take(coordinator.signIns.clientNotReplaced(of: id, error.signInFailure))
            }
        }
        guard crowding != nil else { return }
        let failure = SignInFailure(.unavailable, "too many clients are being registered at once")
        coordinator.take(coordinator.signIns.clientNotReplaced(of: id, failure))
    }

    /// The client for a sign-in's requests; nil if the sign-in is over.
    private static func requestingClient(ofSignIn id: String, on coordinator: isolated RefreshCoordinator)
        -> RequestingClient?
    {
        guard let signIn = coordinator.signIns.named(id) else { return nil }
        let account = signIn.policy.map { coordinator.settings.account(signIn.account, running: $0) } ?? signIn.account
        return coordinator.requestingClient(of: account, correlationID: signIn.correlationID)
    }

    /// Passes on what browsers deliver to the listener of the sign-in `id`.
    private static func delivery(to id: String, on coordinator: isolated RefreshCoordinator) -> RedirectListener.Deliver
    {
        { [weak coordinator, queue = coordinator.queue] form, show in
            queue.async { [weak coordinator] in
                guard let coordinator else { return show(.nothingUnderWay) }
                coordinator.assumeIsolated {
                    $0.take($0.signIns.delivered(form, to: id, at: $0.timebase.now(), show: show))
                }
            }
        }
    }

    private static func announce(
        _ announcement: Announcement,
        of account: AccountID,
        at now: Moment,
        on coordinator: isolated RefreshCoordinator
    ) {
        guard let record = try? coordinator.records.record(of: account) else { return }
        coordinator.announce(announcement, of: record, at: now)
    }

    // MARK: Step-ups

    /// Records what a resource server requires.
    static func note(_ stepUp: StepUp, of snapshot: AccountSnapshot, on coordinator: isolated RefreshCoordinator) {
        let account = snapshot.account.id
        if let announcement = coordinator.stepUps.note(stepUp, of: account) {
            announce(announcement, of: account, at: snapshot.at, on: coordinator)
        }
    }
}
