internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import RedirectListener
internal import RefreshCore
internal import SignIn

/// Signing people in: who asks, who answers, and what is done about it. The decisions are `SignInAttempt`'s.
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
        if request.restarts { tell(.cancelled(by: .superseded), to: account.id, at: now) }
        if signIns[account.id] == nil {
            var request = request
            if let stepUp = stepUps[account.id] { request.satisfy(stepUp) }
            guard !isStopping else { throw .failed(SignInFailure(.unavailable, "the daemon is stopping")) }
            guard !signIns.isFull else { throw .tooMany }
            let signIn = settings.signIn(for: account)
            let flow = request.flow ?? RedirectChoice.flow(for: signIn)
            let plan = SignInPlan(
                flow: flow,
                storedSubject: account.grantFacts.subject,
                replacesSubject: request.replacesSubject,
                startedAt: now
            )
            let running = RunningSignIn(account: account, request: request, attempt: SignInAttempt(plan: plan))
            if flow == .device, request.namesAuthentication {
                throw .failed(
                    SignInFailure(.misconfigured, "a code on another device cannot ask for a stronger or newer sign-in")
                )
            }
            if flow == .device {
                signIns[account.id] = running
                prepareDevice(running)
            } else {
                let choice: RedirectChoice
                do { choice = try RedirectChoice(for: flow, signIn) } catch { throw .failed(error) }
                signIns[account.id] = running
                prepare(running, sendingBackTo: choice)
            }
            wake()
        }
        return follow(account.id, follower)
    }

    private func follow(_ account: AccountID, _ follower: @escaping RunningSignIn.Follower) -> Int {
        let number = signIns.nextFollower()
        for reply in signIns[account]?.news ?? [] { follower(.news(reply)) }
        signIns[account]?.followers[number] = follower
        return number
    }

    /// Forgets a follower whose caller has gone; the sign-in goes on.
    func forgetSignInFollower(_ number: Int, of account: AccountID) {
        signIns[account]?.followers[number] = nil
    }

    /// Takes what a browser delivered to the listener of the sign-in `id`.
    func delivered(_ form: RedirectListener.Delivery, to id: String, show: @escaping @Sendable (RedirectPage) -> Void) {
        guard let running = signIns.named(id) else { return show(.nothingUnderWay) }
        guard !form.isEmpty else { return show(.awaited(running.account.name)) }
        guard let response = try? AuthorizationResponse(form: form) else { return show(.unreadable) }
        if let refusal = bring(response, to: running.account.id, show) {
            show(RedirectPage(refusal, running.account.name))
        }
    }

    /// Puts an answer before a sign-in.
    ///
    /// - Parameter show: shows the end to the browser that brought it; nil if no browser waits.
    /// - Returns: why it is none; nil if it was taken.
    func bring(
        _ response: AuthorizationResponse,
        to account: AccountID,
        _ show: (@Sendable (RedirectPage) -> Void)? = nil
    ) -> ResponseRefusal? {
        let now = timebase.now()
        guard let effects = handle(.responseArrived(response), of: account, at: now) else { return .alreadyAnswered }
        for case .refuse(let refusal) in effects { return refusal }
        if let show { signIns[account]?.pages.append(show) }
        perform(effects, of: account, at: now)
        return nil
    }

    /// Tells a sign-in what has happened, and does what it says about it.
    func tell(_ event: SignInEvent, to account: AccountID, at now: Moment) {
        perform(handle(event, of: account, at: now) ?? [], of: account, at: now)
        wake()
    }

    /// Tells those sign-ins whose time has come.
    func advanceSignIns(at now: Moment) {
        guard signIns.remaining(at: now) == .zero else { return }
        for account in signIns.accounts where signIns[account]?.attempt.remaining(at: now) == .zero {
            tell(.timePassed, to: account, at: now)
        }
    }

    /// Ends those that can be ended, because the daemon stops.
    func stopSignIns() {
        for account in signIns.accounts { tell(.cancelled(by: .stopping), to: account, at: timebase.now()) }
    }

    /// - Returns: nil if there is no such sign-in.
    private func handle(_ event: SignInEvent, of account: AccountID, at now: Moment) -> [SignInEffect]? {
        signIns[account]?.attempt.handle(event, at: now)
    }

    private func perform(_ effects: [SignInEffect], of account: AccountID, at now: Moment) {
        for effect in effects {
            guard let running = signIns[account] else { return }
            switch effect {
            case .tell(let news): publish(news, of: running, at: now)
            case .exchange(let code): exchange(code, of: running)
            case .poll: poll(running)
            case .store: if let grant = running.grant { submit(grant) }
            // Whoever brought the answer has been told.
            case .refuse: break
            case .finish(let end): finish(running, end, at: now)
            }
        }
    }

    private func publish(_ news: SignInNews, of running: RunningSignIn, at now: Moment) {
        let reply = running.reply(news, at: now)
        // A browser may be opened again and again.
        guard !running.news.contains(where: { $0.event == reply.event }) else { return }
        signIns[running.account.id]?.news.append(reply)
        for (_, follower) in running.followers.sorted(by: { $0.key < $1.key }) { follower(.news(reply)) }
        if news == .started { announce(.signInStarted(flow: running.flow.rawValue), of: running.account.id, at: now) }
    }

    private func finish(_ running: RunningSignIn, _ end: SignInEnd, at now: Moment) {
        let account = running.account.id
        signIns[account] = nil
        running.listener?.close()
        let page = RedirectPage(end, running.account.name)
        for show in running.pages { show(page) }
        if end != .completed { announce(.signInFailed(reason: end.reason), of: account, at: now) }
        var report = RunningSignIn.Report.ended(end)
        if end == .completed {
            var reply = running.reply(.completed, at: now)
            if let record = try? entry(of: account)?.record() {
                reply.status = snapshot(of: record, at: now).wireStatus
                let isKept = running.grant?.tokens?.refreshToken == nil && record.state.isRefreshable
                reply.refreshTokenKept = isKept ? true : nil
            }
            report = .completed(reply)
        }
        for (_, follower) in running.followers.sorted(by: { $0.key < $1.key }) { follower(report) }
        // A secret that has ended may be why there are no tokens.
        tendClientSecret(of: account)
        wake()
    }

    private func announce(_ announcement: Announcement, of account: AccountID, at now: Moment) {
        guard let record = try? entry(of: account)?.record() else { return }
        announce(announcement, of: record, at: now)
    }
}

/// Why a sign-in was not begun.
enum SignInRefusal: Error {
    case failed(SignInFailure)
    /// `CallerLimits.signInsMax`.
    case tooMany
}
