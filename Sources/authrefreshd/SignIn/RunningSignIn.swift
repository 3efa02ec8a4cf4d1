internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthMessages
internal import OAuthClient
internal import RefreshCore
internal import TextEncodings

/// A sign-in that is under way. It is only in memory, because its secrets are worthless after a restart.
struct RunningSignIn {
    /// What a follower is told.
    enum Report: Sendable {
        case news(StartSignIn.Reply)
        /// The last report: the tokens are there, with the account's state.
        case completed(StartSignIn.Reply)
        /// The last report, without tokens.
        case ended(SignInEnd)

        /// This report for a follower that did not begin the sign-in.
        var toldToOneWhoJoins: Report {
            guard case .news(var reply) = self, reply.event == SignInNews.started.rawValue else { return self }
            reply.joined = true
            return .news(reply)
        }
    }

    typealias Follower = @Sendable (Report) -> Void

    /// The sign-in's ID on the wire: 128 random bits. It is not the `state`, so it may be shown.
    let id = RandomText.text(bits: 128)
    /// The account at the beginning. A relevant change of it ends the sign-in. A new account has a number below 0.
    private(set) var account: Account
    let request: SignInRequest
    /// The caller's request, without what a resource server requires.
    let asked: SignInRequest
    /// Where the server sends the browser back to; nil with a device code.
    private(set) var redirect: RedirectChoice?
    var attempt: SignInAttempt
    /// The secrets, new each time the person is sent to the server.
    var secrets = SignInSecrets()
    let correlationID = RandomText.correlationID()

    /// All news so far, for later followers: at most one of each kind.
    var news: [StartSignIn.Reply] = []
    /// The followers by number. They are told in the order in which they came.
    var followers: [Int: Follower] = [:]
    /// Browsers that wait for their page, at most as many as the listener has connections.
    var browsersAwaitingPage: [@Sendable (RedirectPage) -> Void] = []
    /// Browsers that will be sent on to the server when the address is known.
    var browsersAwaitingURL: [@Sendable (RedirectPage) -> Void] = []
    var listener: RedirectListener?
    /// `redirect` with the listener's port; nil until that is known.
    var redirectURI: String?
    var invitation: Invitation?
    /// The tokens until they are stored.
    var grant: QueuedEvent?
    /// Whether the previous sign-in brought no refresh token.
    var lacksRefreshToken = false
    /// Whether the server registers another client for the account, or has done so; nil if it does not.
    var clientReplacement: ClientReplacement?
    /// Whether the person has to register the redirect URI first, and has not been told yet.
    var awaitsRegistration = false
    /// The URI schemes that the provider's profile names.
    var profileSchemes: Set<String> = []
    /// Scopes in the request that only a resource server has demanded.
    private(set) var demandedScopes: [String] = []
    /// Fields of the authorization response that are stored with the account.
    private let callbackFields: [String]
    /// The policy for resetting the password; nil if it is unknown.
    private let passwordResetPolicy: String?
    /// The account, as people are told about it.
    let target: SignInTarget
    /// Another account in which the same person is signed in with the same client; nil if none is known, or if nobody
    /// checked.
    private(set) var samePersonAs: AccountName?
    /// What the sign-in has shown about the person, once the tokens have arrived.
    var proof: StepUp.Proof?
    /// The ID token, if only that was requested, once it has been validated.
    var idToken: CheckedIDToken?

    enum ClientReplacement {
        case underWay
        case done
    }

    /// What the person is shown.
    struct Invitation {
        let url: String
        let host: String
        /// The device code; nil with a browser.
        var device: DeviceAuthorization?
        /// Whether the person is asked for consent.
        var asksForConsent = false
        var givesNoRefreshToken = false
    }

    /// Prepares a sign-in.
    ///
    /// - Parameters:
    ///   - asked: if it names no flow, the profile decides.
    ///   - profile: how people sign in to `account`.
    ///   - policies: what the provider's profile says about policies.
    ///   - stepUp: what is required beyond the account's grant; nil for nothing.
    /// - Throws: `SignInFailure` if the client cannot be used for this.
    init(
        _ asked: SignInRequest,
        of account: Account,
        as target: SignInTarget,
        by profile: SignInProfile,
        policies: SignInPolicies,
        stepUp: StepUp?,
        at now: Moment
    ) throws(SignInFailure) {
        var request = asked
        // A sign-in with another policy brings no grant that could satisfy it.
        if let stepUp, request.policy == nil { demandedScopes = request.satisfy(stepUp) }
        let flow = request.flow ?? RedirectChoice.flow(for: profile)
        if flow == .device { try request.checkForDevice() }
        redirect = flow == .device ? nil : try RedirectChoice(for: flow, profile)
        self.account = account
        self.target = target
        self.request = request
        self.asked = asked
        callbackFields = profile.callbackFields
        passwordResetPolicy = policies.passwordReset
        let plan = SignInPlan(
            flow: flow,
            leg: request.policy == nil ? .grant : .otherPolicy,
            resetsPasswords: policies.passwordReset != nil,
            storedSubject: account.grantFacts.subject,
            storedName: account.grantFacts.person?.best,
            mailbox: Self.mailbox(of: account, asked: request, isNew: target.source != nil),
            replacesSubject: request.replacesSubject,
            startedAt: now
        )
        attempt = SignInAttempt(id: id, plan: plan)
    }

    /// The mail address that the account is for; nil if nothing names one. A new account's name is the person's own
    /// choice, and `--replace` cannot accept somebody else for it.
    private static func mailbox(of account: Account, asked request: SignInRequest, isNew: Bool) -> String? {
        ([request.loginHint] + (isNew ? [] : [account.delivery.username, account.name.text])).compactMap(\.self)
            .first(where: PersonNames.isAddress)
    }

    var flow: SignInFlow { attempt.plan.flow }

    /// Whether the account will be added later.
    var addsAccount: Bool { account.id < AccountID(0) }

    /// Records that the account was added.
    ///
    /// - Parameter other: another account in which the same person is signed in with the same client.
    mutating func added(as account: Account, samePersonAs other: AccountName?) {
        self.account = account
        samePersonAs = other
    }

    /// Continues with the client as the server has it.
    mutating func found(_ registration: ClientRegistration) { account.registration = registration }

    /// Continues with another client.
    ///
    /// - Throws: as `init`.
    mutating func replaceClient(in account: Account, by profile: SignInProfile) throws(SignInFailure) {
        self.account = account
        clientReplacement = .done
        redirect = flow == .device ? nil : try RedirectChoice(for: flow, profile)
    }

    /// Whether it should bring a grant for the account.
    var isForGrant: Bool { attempt.plan.leg == .grant && request.responseType.hasCode }

    /// The requested response type; a code in policies without a grant.
    private var responseType: ResponseType { attempt.leg == .grant ? request.responseType : .code }

    /// The policy instead of the account's own; nil for its own.
    var policy: String? {
        switch attempt.leg {
        case .grant: nil
        case .passwordReset: passwordResetPolicy
        case .otherPolicy: request.policy
        }
    }

    var followersInOrder: [Follower] { followers.sorted { $0.key < $1.key }.map(\.value) }

    /// The report of `news` at `now`.
    func reply(_ news: SignInNews, at now: Moment) -> StartSignIn.Reply {
        var reply = StartSignIn.Reply(
            event: news.rawValue,
            attempt: id,
            flow: flow.rawValue,
            atUSec: now.wall.microseconds,
            expiresAtUSec: attempt.expiresAt(at: now).microseconds
        )
        guard news.isInvitation else { return reply }
        reply.policy = policy
        reply.url = invitation?.url
        reply.host = invitation?.host
        reply.redirectUri = redirectURI
        reply.registeredUri = redirect?.registeredURI
        reply.awaitsRegistration = news == .started && awaitsRegistration ? true : nil
        reply.selfRegistered = account.registration.isSelfRegistered ? true : nil
        reply.clientReplaced = clientReplacement == .done ? true : nil
        // A browser of an earlier version may be a command.
        let browser = account.registration.loginBrowser
        reply.browser = browser.flatMap { LoginBrowser.isName($0) ? $0 : nil }
        reply.window = account.registration.loginWindow
        reply.browserRefused = browser != nil && reply.browser == nil ? true : nil
        let scheme = redirectURI?.prefix { $0 != ":" }.lowercased()
        reply.schemeFromProfile = flow == .scheme && scheme.map(profileSchemes.contains) ?? false ? true : nil
        reply.demandedScopes = demandedScopes.isEmpty || attempt.leg != .grant ? nil : demandedScopes
        reply.userCode = invitation?.device?.userCode
        reply.verificationUriComplete = invitation?.device?.verificationURIComplete
        return reply
    }

    /// The last report, after the tokens were stored.
    ///
    /// - Parameter snapshot: the account's state; nil if it cannot be read.
    func completion(_ snapshot: AccountSnapshot?, at now: Moment) -> StartSignIn.Reply {
        var reply = reply(.completed, at: now)
        guard let snapshot else { return reply }
        reply.status = snapshot.wireStatus
        reply.samePersonAs = samePersonAs?.text
        let isKept = grant?.tokens?.refreshToken == nil && snapshot.state.isRefreshable
        reply.refreshTokenKept = isKept ? true : nil
        return reply
    }
}

extension RunningSignIn {
    /// The last report for a success that does not change the account; nil if `end` is not one.
    ///
    /// - Parameter snapshot: the account's state; nil if it cannot be read.
    func completionWithoutGrant(
        _ end: SignInEnd,
        _ snapshot: AccountSnapshot?,
        at now: Moment
    ) -> StartSignIn.Reply? {
        guard end == .policyCompleted || end == .completed && idToken != nil else { return nil }
        var reply = reply(end == .completed ? .completed : .policyCompleted, at: now)
        reply.idToken = idToken.map { IdToken($0.token, $0.claims, clockSkew: nil) }
        reply.status = snapshot?.wireStatus
        return reply
    }
}

/// A sign-in's requests to the authorization server, and the use of its answers.
extension RunningSignIn {
    func authorizationRequest(_ redirectURI: String, as asking: RequestingClient) -> AuthorizationRequest {
        var authorization = AuthorizationRequest(
            client: asking,
            redirectURI: redirectURI,
            state: secrets.state,
            nonce: nonce(for: asking),
            codeVerifier: secrets.codeVerifier
        )
        authorization.scopes = request.scopes
        authorization.prompt = prompt
        authorization.needsNoConsent = account.grantFacts.consent == .unneeded
        // The new account is for another person than the one that the server would sign in automatically.
        authorization.choosesPerson = request.source != nil && request.loginHint == nil
        authorization.loginHint = request.loginHint
        authorization.acrValues = request.acrValues
        authorization.maxAge = request.maxAge
        authorization.claims = request.claims
        authorization.responseType = responseType
        authorization.isListening = redirect?.isListenedAt ?? false
        return authorization
    }

    /// The prompt that helped before: some servers issue a refresh token only with the person's consent.
    private var prompt: String? {
        guard account.grantFacts.consent == .needed else { return requestedPrompt }
        guard let asked = requestedPrompt else { return RequestingClient.consent }
        return asked == "none" || asksForConsent ? asked : asked + " " + RequestingClient.consent
    }

    /// A person who has just set a new password need not enter it, because the server's session is new enough.
    private var requestedPrompt: String? {
        guard attempt.hasResetPassword, attempt.leg != .passwordReset else { return request.prompt }
        return asksForConsent ? RequestingClient.consent : nil
    }

    private var asksForConsent: Bool {
        request.prompt?.split(separator: " ").contains { $0 == RequestingClient.consent } ?? false
    }

    /// `end`, with what helps if the server may not know `prompt=consent`, which the person did not ask for.
    func explained(_ end: SignInEnd) -> SignInEnd {
        guard case .failed(var failure) = end, failure.hint == nil, failure.detail?.oauthError == "invalid_request",
            invitation?.asksForConsent == true, !asksForConsent
        else { return end }
        let name = target.settled.text
        failure.hint =
            "if the server does not know prompt=consent: "
            + Hint(Command("account", "edit", name, "--provider-setting", "consent_prompt=never"))
        return .failed(failure)
    }

    /// The expected answer to `url`.
    func expectation(of url: AuthorizationURL, for asking: RequestingClient) -> AuthorizationExpectation {
        let profile = asking.profile?.signIn ?? SignInProfile()
        var expectation = AuthorizationExpectation(
            state: secrets.state,
            issuer: url.issuer,
            requiresIssuer: url.requiresIssuer || asking.registration.redirect.requiresIssuer,
            path: redirect?.issuerPath,
            // The server checks a code only when it is exchanged. If it will not be exchanged, only the state shows
            // whose it is.
            isCodeBound: url.checksCodeChallenge && attempt.leg == .grant,
            responseType: responseType,
            codeParameters: ["code"] + profile.codeParameters,
            keptParameters: profile.callbackFields
        )
        expectation.issuerAliases = asking.profile?.issuerAliases ?? []
        expectation.passwordResetCodes = asking.profile?.policies.passwordResetCodes ?? []
        expectation.cancellationCodes = asking.profile?.policies.cancellationCodes ?? []
        return expectation
    }

    func codeExchange(_ code: AuthorizationCode, as asking: RequestingClient) -> CodeExchange {
        var exchange = CodeExchange(
            client: asking,
            code: code.secret,
            redirectURI: redirectURI ?? "",
            codeVerifier: secrets.codeVerifier,
            nonce: nonce(for: asking),
            maxAge: request.maxAge,
            scopes: request.scopes
        )
        exchange.demandsIDToken = request.demandsIDToken
        exchange.frontIDToken = code.idToken
        return exchange
    }

    /// Fields that came with an earlier code and may not come again. For example, Apple sends the person's name only at
    /// the first sign-in.
    private var toldBefore: [String: String] {
        account.grantFacts.keptFields.filter { name, _ in callbackFields.contains(name) }
    }

    /// The tokens of `grant`, as an arrival for the account's machine.
    ///
    /// - Parameter kept: fields that came with the code. Fields that come with the tokens take precedence.
    func arrival(
        of grant: ObtainedGrant,
        keeping kept: [String: String],
        learnedEncoding: BasicCredentialEncoding?,
        sentAt: Moment
    ) -> QueuedEvent {
        let tokens = grant.tokens
        let before = request.replacesSubject ? GrantFacts() : account.grantFacts
        // With `replace`, it is the same person only if the server names the same one again.
        let isSamePerson =
            !request.replacesSubject || grant.subject.map { $0 == account.grantFacts.subject } ?? false
        let event: Event =
            tokens.refreshToken == nil && isSamePerson
            ? .grant(.accessTokenObtained(tokens.issuance, sentAt: sentAt))
            : .grant(.obtained(tokens.issuance, hasRefreshToken: tokens.refreshToken != nil, sentAt: sentAt))
        return QueuedEvent(
            account: account.id,
            event: event,
            tokens: StoredTokens(tokens),
            grantFacts: GrantFacts(
                subject: grant.subject ?? before.subject,
                person: grant.person.names ?? before.person,
                consent: consent(bringingRefreshToken: tokens.refreshToken != nil),
                keptFields: (isSamePerson ? toldBefore : [:])
                    .merging(kept) { _, new in new }.merging(grant.keptFields) { _, new in new },
                scope: tokens.scopes.flatMap { GrantedScope(granted: $0, asked: grant.askedScopes) }?
                    .after(account.grantFacts.scope)
            ),
            learnedEncoding: learnedEncoding,
            correlationID: correlationID
        )
    }

    /// What is known about asking for consent after this sign-in.
    private func consent(bringingRefreshToken isBrought: Bool) -> ConsentFinding? {
        let known = account.grantFacts.consent
        // A device code has no `prompt`.
        guard let invitation, invitation.device == nil else { return known }
        switch (invitation.asksForConsent, isBrought) {
        case (false, true): return .unneeded
        case (true, true) where lacksRefreshToken && asksForConsent: return .needed
        case (true, true): return known == .useless ? nil : known
        case (true, false): return .useless
        case (false, false): return invitation.givesNoRefreshToken ? .useless : known == .unneeded ? nil : known
        }
    }

    /// The nonce of the request; nil if there will be no ID token. The ID token repeats it (OpenID Connect Core
    /// §3.1.2.1), so it is sent if the scopes contain `openid`, or if the profile requires an ID token. Apple issues ID
    /// tokens without that scope.
    func nonce(for asking: RequestingClient) -> Secret? {
        guard !request.demandsIDToken else { return request.nonce ?? secrets.nonce }
        let scopes = asking.scopes(request.scopes)
        // Without scopes, all scopes that the server offers are requested, including "openid".
        let isOwed = asking.profile?.signIn.idToken == .required || scopes.contains("openid")
        return isOwed || scopes.isEmpty && asking.profile == nil ? secrets.nonce : nil
    }
}

extension RunningSignIn.Invitation {
    init(_ url: AuthorizationURL) {
        self.init(url: url.url, host: url.host)
        asksForConsent = url.asksForConsent
        givesNoRefreshToken = url.givesNoRefreshToken
    }

    init(_ device: DeviceAuthorization) {
        self.init(url: device.verificationURI, host: ShownHost.of(device.verificationURI), device: device)
    }
}

extension DevicePollOutcome {
    /// The event for the sign-in; nil if there are tokens, or would be if they could be trusted.
    var answer: DevicePollAnswer? {
        switch self {
        case .pending: return .pending
        case .slowDown: return .slowDown
        case .expired: return .expired
        case .denied(let failure):
            let refusal = ErrorResponse(
                error: failure.detail.oauthError ?? "access_denied",
                description: failure.detail.oauthErrorDescription
            )
            return .denied(refusal)
        case .failed(let failure): return .failed(failure)
        case .obtained: return nil
        }
    }
}

/// The values that bind the answer of a sign-in to its request, new for each request.
struct SignInSecrets: Sendable {
    /// `state` (RFC 6749 §4.1.1).
    let state = RandomText.secret(bits: 256)
    /// `nonce` of the ID token (OpenID Connect Core §3.1.2.1).
    let nonce = RandomText.secret(bits: 256)
    /// `code_verifier` (RFC 7636 §4.1).
    let codeVerifier = RandomText.secret(bits: 256)
}

/// Creates random text that nobody can guess. In base64url, 128 bits are 22 characters, and 256 are 43.
enum RandomText {
    static func secret(bits: Int) -> Secret {
        Secret(text(bits: bits))
    }

    static func text(bits: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<bits / 8).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// A new identifier of an attempt, for journals and for servers that accept one: 16 hexadecimal digits.
    static func correlationID() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
