internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import OAuthClient
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
            if let record = try? records.entry(of: account)?.record() {
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
        guard let record = try? records.entry(of: account)?.record() else { return }
        announce(announcement, of: record, at: now)
    }
}

/// Why a sign-in was not begun.
enum SignInRefusal: Error {
    case failed(SignInFailure)
    /// `CallerLimits.signInsMax`.
    case tooMany
}

/// What sign-ins ask of authorization servers. Each answer finds the sign-in by its name: it may be over by then.
extension RefreshCoordinator {
    /// Makes the address that the browser has to open.
    func prepare(_ running: RunningSignIn, sendingBackTo choice: RedirectChoice) {
        // It captures this actor, and so runs on its queue.
        Task {
            var listener: RedirectListener?
            let redirectURI: String
            switch choice {
            case .fixed(let uri): redirectURI = uri
            case .loopback(let host, let port, let path):
                do throws(RedirectListenerError) {
                    let opened = try await self.listen(port: port, path: path, for: running.id)
                    listener = opened
                    redirectURI = "http://\(host):\(opened.port)\(path)"
                } catch {
                    let failure = RefreshFailure(.misconfigured, detail: FailureDetail(summary: error.description))
                    return self.tell(.preparationFailed(failure), toAttempt: running.id)
                }
            }
            guard self.signIns.named(running.id) != nil else { listener?.close(); return }
            self.signIns[running.account.id]?.listener = listener
            self.signIns[running.account.id]?.redirectURI = redirectURI
            let result = await self.client.authorizationURL(for: self.authorizationRequest(running, redirectURI))
            switch result {
            case .failure(let failure): self.tell(.preparationFailed(failure), toAttempt: running.id)
            case .success(let url): self.invite(running, url)
            }
        }
    }

    private func listen(
        port: Int?,
        path: String,
        for id: String
    ) async throws(RedirectListenerError) -> RedirectListener {
        try await RedirectListener.open(port: port, path: path) { [weak self, queue] form, show in
            queue.async { [weak self] in
                guard let self else { return show(.nothingUnderWay) }
                self.assumeIsolated { $0.delivered(form, to: id, show: show) }
            }
        }
    }

    /// As whom the requests of a sign-in are made.
    func requestingClient(of running: RunningSignIn) -> RequestingClient {
        requestingClient(of: running.account, correlationID: running.correlationID)
    }

    private func authorizationRequest(_ running: RunningSignIn, _ redirectURI: String) -> AuthorizationRequest {
        let asked = running.request
        var request = AuthorizationRequest(
            client: requestingClient(of: running),
            redirectURI: redirectURI,
            state: running.secrets.state,
            nonce: nonce(of: running),
            codeVerifier: running.secrets.codeVerifier
        )
        request.scopes = asked.scopes
        request.prompt = asked.prompt
        request.loginHint = asked.loginHint
        request.acrValues = asked.acrValues
        request.maxAge = asked.maxAge
        request.claims = asked.claims
        return request
    }

    /// OpenID Connect Core §3.1.2.1: it comes back in the ID token, which there is if `openid` was asked for.
    func nonce(of running: RunningSignIn) -> Secret? {
        requestingClient(of: running).scopes(running.request.scopes).contains("openid") ? running.secrets.nonce : nil
    }

    private func invite(_ running: RunningSignIn, _ url: AuthorizationURL) {
        let signIn = settings.profile(for: running.account)?.signIn ?? SignInProfile()
        signIns[running.account.id]?.invitation = RunningSignIn.Invitation(url: url.url, host: url.host)
        let expected = AuthorizationExpectation(
            state: running.secrets.state,
            issuer: url.issuer,
            requiresIssuer: url.requiresIssuer,
            isProofKeyUsed: signIn.pkce == .s256,
            codeParameters: ["code"] + signIn.codeParameters,
            keptParameters: signIn.callbackFields
        )
        tell(.prepared(expected), toAttempt: running.id)
    }

    /// Sends the code to the token endpoint.
    func exchange(_ code: AuthorizationCode, of running: RunningSignIn) {
        signIns[running.account.id]?.keptFields = code.keptFields
        let sentAt = timebase.now()
        let request = CodeExchange(
            client: requestingClient(of: running),
            code: code.secret,
            redirectURI: running.redirectURI ?? "",
            codeVerifier: running.secrets.codeVerifier,
            nonce: nonce(of: running),
            maxAge: running.request.maxAge,
            scopes: running.request.scopes
        )
        Task { [client] in
            let outcome = await client.exchange(request)
            self.obtained(outcome, of: running, sentAt: sentAt)
        }
    }

    /// Notes what came of a code or of a device's.
    func obtained(_ outcome: GrantOutcome, of running: RunningSignIn, sentAt: Moment) {
        let account = running.account.id
        if outcome.serverDate != nil, let record = try? records.entry(of: account)?.record() {
            noteServerDate(outcome.serverDate, of: record.issuerID)
        }
        guard let current = signIns.named(running.id) else { return }
        switch outcome.result {
        case .failure(let failure): tell(.exchangeFailed(failure), toAttempt: running.id)
        case .success(let grant):
            let tokens = grant.tokens
            let kept = current.keptFields.merging(grant.keptFields) { _, new in new }
            // A server that names nobody leaves it to us to remember whom it named before.
            let subject = grant.subject ?? (running.request.replacesSubject ? nil : running.account.grantFacts.subject)
            // With `replace`, only a server that names the same person again says that it is the same.
            let isSamePerson =
                !running.request.replacesSubject
                || grant.subject.map { $0 == running.account.grantFacts.subject } ?? false
            let event: Event =
                tokens.refreshToken == nil && isSamePerson
                ? .accessTokenObtained(tokens.issuance, sentAt: sentAt)
                : .grantObtained(tokens.issuance, hasRefreshToken: tokens.refreshToken != nil, sentAt: sentAt)
            signIns[account]?.grant = Arrival(
                account: account,
                event: event,
                tokens: StoredTokens(
                    accessToken: tokens.accessToken,
                    refreshToken: tokens.refreshToken,
                    idToken: tokens.idToken,
                    scopes: tokens.scopes
                ),
                grantFacts: GrantFacts(subject: subject, keptFields: kept),
                learnedEncoding: outcome.basicCredentialEncoding,
                correlationID: running.correlationID
            )
            tell(.grantArrived(subject: grant.subject), toAttempt: running.id)
        }
    }

    /// The same by the sign-in's name: what was asked for an earlier one is none of a later one's business.
    func tell(_ event: SignInEvent, toAttempt id: String) {
        guard let running = signIns.named(id) else { return }
        tell(event, to: running.account.id, at: timebase.now())
    }
}

/// Signing in with a device code (RFC 8628): what is shown, and how the server is asked about it.
extension RefreshCoordinator {
    /// Has the server give out a code for the person to type.
    func prepareDevice(_ running: RunningSignIn) {
        let request = DeviceAuthorizationRequest(
            client: requestingClient(of: running),
            scopes: running.request.scopes
        )
        Task { [client] in
            switch await client.authorizeDevice(request) {
            case .failure(let failure): self.tell(.preparationFailed(failure), toAttempt: running.id)
            case .success(let device): self.invite(running, device)
            }
        }
    }

    private func invite(_ running: RunningSignIn, _ device: DeviceAuthorization) {
        let host = Self.host(of: device.verificationURI)
        signIns[running.account.id]?.invitation = RunningSignIn.Invitation(
            url: device.verificationURI,
            host: host,
            device: device
        )
        tell(.deviceAuthorized(interval: device.interval, lifetime: device.expiresIn), toAttempt: running.id)
    }

    /// Asks once whether the person has approved.
    func poll(_ running: RunningSignIn) {
        guard let device = running.invitation?.device else { return }
        let sentAt = timebase.now()
        let request = DevicePoll(
            client: requestingClient(of: running),
            deviceCode: device.deviceCode,
            scopes: running.request.scopes
        )
        Task { [client] in
            let answer: DevicePollAnswer
            switch await client.pollDevice(request) {
            case .pending: answer = .pending
            case .slowDown: answer = .slowDown
            case .expired: answer = .expired
            case .denied(let failure):
                let refusal = ServerRefusal(
                    error: failure.detail.oauthError ?? "access_denied",
                    description: failure.detail.oauthErrorDescription
                )
                answer = .denied(refusal)
            case .failed(let failure): answer = .failed(failure)
            case .obtained(let outcome): return self.obtained(outcome, of: running, sentAt: sentAt)
            }
            self.tell(.pollEnded(answer), toAttempt: running.id)
        }
    }

    /// What a browser will show of `url` in its address bar; the whole of it if there is no host to be seen.
    private static func host(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return url }
        return String(parts[2].split(separator: "?").first ?? parts[2])
    }
}
