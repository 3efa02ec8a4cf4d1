internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// Sign-ins and step-ups.
extension RefreshCoordinator {
    /// Begins a sign-in, or joins the current one.
    ///
    /// - Parameter follower: receives all reports from the beginning, on this queue. The end is the last.
    /// - Returns: the follower's number, for `forget`.
    /// - Throws: why nothing was begun.
    func beginSignIn(
        _ request: SignInRequest,
        of snapshot: AccountSnapshot,
        follower: @escaping RunningSignIn.Follower
    ) throws(VarlinkError) -> Int {
        let account = snapshot.account
        return try beginSignIn(
            request,
            for: account,
            after: snapshot.failure?.detail,
            stepUp: stepUps[account.id],
            lacksRefreshToken: snapshot.lacksRefreshToken || snapshot.state.interaction?.reason == .noRefreshToken,
            isFirst: snapshot.state.generation == Generation(0) && account.grantFacts == GrantFacts(),
            // A grant that may work belongs to the client that there is.
            mayBeForgotten: account.registration.management != nil && !snapshot.state.mayHoldGoodGrant,
            follower: follower
        )
    }

    /// Begins a sign-in for `account`, which need not exist yet, or joins the current one.
    ///
    /// - Parameters:
    ///   - source: the account whose settings the new one gets; nil if `account` exists.
    ///   - failure: the last failure with its client.
    ///   - stepUp: what is required beyond the account's grant; nil for nothing.
    ///   - lacksRefreshToken: whether the previous sign-in brought no refresh token.
    ///   - isFirst: whether nobody has signed in to `account` yet.
    ///   - mayBeForgotten: whether only the server can say that it no longer accepts the client that it registered, and
    ///     nothing is lost by another client.
    func beginSignIn(
        _ request: SignInRequest,
        for account: Account,
        likeThatOf source: AccountName? = nil,
        after failure: FailureDetail?,
        stepUp: StepUp? = nil,
        lacksRefreshToken: Bool = false,
        isFirst: Bool = false,
        mayBeForgotten: Bool = false,
        follower: @escaping RunningSignIn.Follower
    ) throws(VarlinkError) -> Int {
        let now = timebase.now()
        let target = SignInTarget(account: account.name, source: source)
        if let failure = settings.failure(of: request, to: account) { throw failure.error(of: target) }
        carryOut(signIns.endReplaced(by: request, of: account.id, at: now), at: now)
        if let crowding = signIns.crowding(by: request, of: account.id) {
            throw refusal(of: request.process, .signIns, crowding)
        }
        do throws(SignInFailure) {
            let joined = try signIns.join(
                account.id,
                as: target,
                by: request,
                isStopping: isStopping,
                follower: follower
            )
            if let joined { return joined }
            var signIn = try RunningSignIn(
                request,
                of: account,
                as: target,
                by: settings.signIn(for: account),
                policies: settings.profile(for: account)?.policies ?? SignInPolicies(),
                stepUp: stepUp,
                at: now
            )
            signIn.lacksRefreshToken = lacksRefreshToken
            signIn.profileSchemes = settings.profileSchemes(of: account)
            let (number, effects) = signIns.begin(
                signIn,
                isFirst: isFirst,
                isForgotten: account.registration.isForgotten(after: failure, at: now.wall),
                mayBeForgotten: mayBeForgotten,
                follower: follower
            )
            carryOut(effects, at: now)
            wake()
            return number
        } catch {
            throw error.error(of: target)
        }
    }

    /// Passes an event to the sign-in of `account`; does nothing without one.
    func tellSignIn(_ event: SignInEvent, of account: AccountID, at now: Moment) {
        carryOut(signIns.tell(event, to: account, at: now), at: now)
        wake()
    }

    /// Carries out what sign-ins want done. If that changes `SignIns.remaining(at:)`, the caller calls `wake`.
    func carryOut(_ effects: [SignInEffect], at now: Moment) {
        for effect in effects {
            switch effect {
            case .tell(let news, let id):
                guard let message = signIns.publish(news, of: id, at: now) else { continue }
                // Followers learn of a beginning before everybody else, and of a failure after.
                message.tellFollowers()
                announceIfKnown(message.announcement, of: message.account, at: now)
            case .lookUpClient(let id): lookUpClient(ofSignIn: id)
            case .replaceClient(let id): replaceClient(ofSignIn: id)
            case .prepare(let id):
                guard let (_, asking) = asking(forSignIn: id) else { continue }
                Task { continueSignIn(with: await signIns.prepare(id, as: asking, deliver: delivery(to: id))) }
                wake()
            case .exchange(let code, let id):
                guard let (account, asking) = asking(forSignIn: id) else { continue }
                Task { signInAnswered(await signIns.exchange(code, of: id, as: asking), for: account) }
            case .check(let idToken, let id):
                guard let (_, asking) = asking(forSignIn: id) else { continue }
                Task { continueSignIn(with: await signIns.identify(idToken, of: id, as: asking)) }
            case .poll(let id):
                guard let (account, asking) = asking(forSignIn: id) else { continue }
                Task { signInAnswered(await signIns.poll(id, as: asking), for: account) }
            case .store(let id):
                guard let signIn = signIns.named(id), let arrival = signIn.grant else { continue }
                if signIn.addsAccount { addAccount(of: signIn, with: arrival) } else { submit(arrival) }
            // The sender of the response was already told.
            case .refuse: break
            case .finish(let end, let id): finishSignIn(id, end, at: now)
            }
        }
    }

    /// Carries out what a sign-in wants done after it has waited for a server.
    private func continueSignIn(with effects: [SignInEffect]) {
        carryOut(effects, at: timebase.now())
        wake()
    }

    /// Continues a sign-in after an answer of the token endpoint for `account`.
    private func signInAnswered(_ answered: SignIns.Answered, for account: AccountID) {
        if let record = try? records.record(of: account) { noteServerDate(answered.serverDate, of: record.issuerID) }
        continueSignIn(with: answered.effects)
    }

    private func finishSignIn(_ id: String, _ end: SignInEnd, at now: Moment) {
        guard let account = signIns.named(id)?.account.id else { return }
        let snapshot = (try? records.record(of: account)).map { self.snapshot(of: $0, at: now) }
        guard let message = signIns.finish(id, end, as: snapshot, at: now) else { return }
        announceIfKnown(message.announcement, of: message.account, at: now)
        message.tellFollowers()
        // An expired client secret may be the reason why it brought no tokens.
        renewClientSecretIfDue(of: account)
        wake()
    }

    /// Asks the server whether it still has the client that it registered (RFC 7592 §2.1).
    ///
    /// An authorization endpoint that does not know the client shows the person an error page, and tells us nothing
    /// (RFC 6749 §4.1.2.1).
    private func lookUpClient(ofSignIn id: String) {
        guard let signIn = signIns.named(id), let (account, asking) = asking(forSignIn: id) else { return }
        let known = asking.registration
        guard let management = known.management else {
            return continueSignIn(with: signIns.lookedUpClient(of: id, known))
        }
        let look = ClientSecretRenewal(account: account, management: management, asking: asking)
        let crowding = beginServerCall(of: signIn.asked.process) { coordinator in
            let found = await coordinator.lookUp(look)
            coordinator.continueSignIn(with: coordinator.signIns.lookedUpClient(of: id, found))
        }
        if crowding != nil { continueSignIn(with: signIns.lookedUpClient(of: id, known)) }
    }

    /// Has the server register another client for the account of a sign-in.
    private func replaceClient(ofSignIn id: String) {
        guard let signIn = signIns.named(id) else { return }
        let (account, addsAccount) = (signIn.account, signIn.addsAccount)
        let crowding = beginServerCall(of: signIn.asked.process) { coordinator in
            do throws(SignInFailure) {
                guard let changed = try await coordinator.replaceClient(of: account, isStored: !addsAccount) else {
                    return
                }
                let profile = coordinator.settings.signIn(for: changed)
                coordinator.continueSignIn(with: coordinator.signIns.replacedClient(of: id, in: changed, by: profile))
            } catch {
                coordinator.continueSignIn(with: coordinator.signIns.clientNotReplaced(of: id, error))
            }
        }
        guard crowding != nil else { return }
        let failure = SignInFailure(.unavailable, "too many clients are being registered at once")
        continueSignIn(with: signIns.clientNotReplaced(of: id, failure))
    }

    /// `account` with another client, which its server registers; nil if the account was removed meanwhile.
    ///
    /// - Parameter isStored: whether the change is stored. A new account is stored only together with its tokens.
    private func replaceClient(of account: Account, isStored: Bool) async throws(SignInFailure) -> Account? {
        let registration = newRegistration(for: account)
        var changed = account
        do {
            changed.registration = try await registerClient(by: registration)
        } catch {
            throw SignInFailure(unregistered: error)
        }
        guard isStored else { return changed }
        do {
            return try await replaceClient(with: changed.registration, by: registration)?.account
        } catch {
            throw SignInFailure(.unavailable, "the store cannot be written", hint: error.hint)
        }
    }

    /// The account of a sign-in and the client for its requests; nil if the sign-in is over.
    private func asking(forSignIn id: String) -> (account: AccountID, client: RequestingClient)? {
        guard let signIn = signIns.named(id) else { return nil }
        let account = signIn.policy.map { settings.account(signIn.account, running: $0) } ?? signIn.account
        return (account.id, requestingClient(of: account, correlationID: signIn.correlationID))
    }

    /// Passes on what browsers deliver to the listener of the sign-in `id`.
    private func delivery(to id: String) -> RedirectListener.Deliver {
        { [weak self, queue] form, show in
            queue.async { [weak self] in
                guard let self else { return show(.nothingUnderWay) }
                self.assumeIsolated {
                    let now = $0.timebase.now()
                    $0.carryOut($0.signIns.delivered(form, to: id, at: now, show: show), at: now)
                }
            }
        }
    }

    private func announceIfKnown(_ announcement: Announcement?, of account: AccountID, at now: Moment) {
        guard let announcement, let record = try? records.record(of: account) else { return }
        announce(announcement, of: record, at: now)
    }

    // MARK: Step-ups

    /// Records what a resource server requires.
    func noteStepUp(_ stepUp: StepUp, of snapshot: AccountSnapshot) {
        let account = snapshot.account.id
        announceIfKnown(stepUps.note(stepUp, of: account), of: account, at: snapshot.at)
    }
}
