internal import AccountStorage
internal import Dispatch
internal import OAuthClient
internal import RedirectListener
internal import RefreshCore
internal import SignIn

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
        if outcome.serverDate != nil, let record = try? entry(of: account)?.record() {
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
