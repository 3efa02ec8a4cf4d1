internal import AccountStorage
internal import AuthRefreshInterface
internal import JOSE
internal import OAuthClient
internal import RedirectListener
internal import RefreshCore
internal import SignIn
internal import TextEncodings

/// A sign-in that is under way. It is kept in memory only: its secrets are worth nothing after a restart.
struct RunningSignIn {
    /// What somebody who follows is told.
    enum Report: Sendable {
        case news(StartSignIn.Reply)
        /// The last, with where the account stands.
        case completed(StartSignIn.Reply)
        /// The last, if there are no tokens.
        case ended(SignInEnd)

        /// The same for a follower that has not begun the sign-in.
        var toldToOneWhoJoins: Report {
            guard case .news(var reply) = self, reply.event == SignInNews.started.rawValue else { return self }
            reply.joined = true
            return .news(reply)
        }
    }

    typealias Follower = @Sendable (Report) -> Void

    /// Names it on the wire: 128 random bits, and not the `state`, so that it may be seen.
    let id = RandomText.text(bits: 128)
    /// As it was at the beginning; a change of what matters ends the sign-in. One that is yet to be added has a number below 0.
    private(set) var account: Account
    let request: SignInRequest
    /// The same as the caller said it, without what is wanted by others.
    let asked: SignInRequest
    /// Where the server is to send the browser back to; nil with a device.
    let redirect: RedirectChoice?
    var attempt: SignInAttempt
    /// Drawn anew each time that the person is sent to the server.
    var secrets = SignInSecrets()
    let correlationID = CorrelationID.new()

    /// Everything that was told, for those who come later: at most one of each kind.
    var news: [StartSignIn.Reply] = []
    /// By their numbers: they are told in the order in which they came.
    var followers: [Int: Follower] = [:]
    /// Browsers that wait for their page; no more than the listener has connections.
    var pages: [@Sendable (RedirectPage) -> Void] = []
    /// Browsers that are led on to the server as soon as it is known where to.
    var travellers: [@Sendable (RedirectPage) -> Void] = []
    var listener: RedirectListener?
    /// The same as `redirect`, with the listener's port; nil until that is known.
    var redirectURI: String?
    var invitation: Invitation?
    /// The tokens, until they are stored.
    var grant: Arrival?
    /// Whether the sign-in before brought no refresh token.
    var lacksRefreshToken = false
    /// The browser that the account or the configuration names; nil if neither does.
    var browser: String?
    /// Fields of the authorization response that are kept with the account.
    private let callbackFields: [String]
    /// The policy in which people reset their password; nil if nobody has said which.
    private let passwordResetPolicy: String?
    /// What people are told about.
    let target: SignInTarget
    /// Another account in which the same person is signed in at the same client; nil: none is known, or nobody looked.
    private(set) var samePersonAs: AccountName?
    /// What the sign-in has shown of the person, once the tokens are there.
    var proof: StepUp.Proof?
    /// The ID token that was all that was asked for, once it is checked.
    var idToken: CheckedIDToken?

    /// What the person is shown.
    struct Invitation {
        let url: String
        let host: String
        /// Nil with a browser.
        var device: DeviceAuthorization?
    }

    /// - Parameters:
    ///   - request: where it names no flow, the sign-in goes the profile's way.
    ///   - profile: how people sign in to `account`.
    ///   - policies: what its provider's profile says about policies.
    ///   - source: the account that a new one is made like; nil: the account is there.
    /// - Throws: `SignInFailure` for what this client cannot be used for.
    init(
        _ request: SignInRequest,
        asked: SignInRequest,
        of account: Account,
        by profile: SignInProfile,
        policies: SignInPolicies = SignInPolicies(),
        likeThatOf source: AccountName? = nil,
        at now: Moment
    ) throws(SignInFailure) {
        let flow = request.flow ?? RedirectChoice.flow(for: profile)
        if flow == .device, let obstacle = request.obstacleOnDevice { throw obstacle.failure(.misconfigured) }
        redirect = flow == .device ? nil : try RedirectChoice(for: flow, profile)
        self.account = account
        target = SignInTarget(account: account.name, source: source)
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
            replacesSubject: request.replacesSubject,
            startedAt: now
        )
        attempt = SignInAttempt(plan: plan)
    }

    var flow: SignInFlow { attempt.plan.flow }

    /// Whether the account is yet to be added.
    var addsAccount: Bool { account.id < AccountID(0) }

    /// Takes note that the account has been added.
    ///
    /// - Parameter other: another one in which the same person is signed in at the same client.
    mutating func added(as account: Account, samePersonAs other: AccountName?) {
        self.account = account
        samePersonAs = other
    }

    /// Whether it is to bring the account a grant.
    var isForGrant: Bool { attempt.plan.leg == .grant && request.responseType.hasCode }

    /// What the server is asked for now; a code in the policies that bring no grant.
    private var responseType: ResponseType { attempt.leg == .grant ? request.responseType : .code }

    /// The policy that the person goes through in place of the account's own; nil: that one.
    var policy: String? {
        switch attempt.leg {
        case .grant: nil
        case .passwordReset: passwordResetPolicy
        case .otherPolicy: request.policy
        }
    }

    var followersInOrder: [Follower] { followers.sorted { $0.key < $1.key }.map(\.value) }

    /// What is told of `news` at `now`.
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
        reply.browser = browser
        reply.userCode = invitation?.device?.userCode
        reply.verificationUriComplete = invitation?.device?.verificationURIComplete
        return reply
    }

    /// What is told last, once the tokens are stored.
    ///
    /// - Parameter snapshot: where the account stands now; nil if it cannot be read.
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
    /// What is told last if `end` is a success that leaves the account as it was; nil if it is none.
    func completionWithoutGrant(_ end: SignInEnd, at now: Moment) -> StartSignIn.Reply? {
        if end == .policyCompleted { return reply(.policyCompleted, at: now) }
        guard end == .completed, let idToken else { return nil }
        var reply = reply(.completed, at: now)
        reply.idToken = AcquireToken.IDToken(idToken.token, idToken.claims, clockSkew: nil)
        return reply
    }
}

/// What a sign-in asks of the authorization server, and makes of its answers.
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
        // A new account is for another person than the one whom the server would sign in by itself.
        authorization.choosesPerson = request.source != nil && request.loginHint == nil
        authorization.loginHint = request.loginHint
        authorization.acrValues = request.acrValues
        authorization.maxAge = request.maxAge
        authorization.claims = request.claims
        authorization.responseType = responseType
        authorization.isListening = redirect?.isListenedAt ?? false
        return authorization
    }

    /// What helped before goes on helping: some servers give a refresh token only with the person's consent.
    private var prompt: String? {
        guard account.grantFacts.needsConsent else { return requestedPrompt }
        guard let asked = requestedPrompt else { return Self.consent }
        return asked == "none" || asksForConsent ? asked : asked + " " + Self.consent
    }

    private static let consent = "consent"

    /// Whoever has just chosen a new password is not asked for it: the server's session is new enough.
    private var requestedPrompt: String? {
        guard attempt.hasResetPassword, attempt.leg != .passwordReset else { return request.prompt }
        return asksForConsent ? Self.consent : nil
    }

    private var asksForConsent: Bool {
        request.prompt?.split(separator: " ").contains { $0 == Self.consent } ?? false
    }

    /// What the answer to `url` has to look like.
    func expectation(of url: AuthorizationURL, for asking: RequestingClient) -> AuthorizationExpectation {
        let profile = asking.profile?.signIn ?? SignInProfile()
        var expectation = AuthorizationExpectation(
            state: secrets.state,
            issuer: url.issuer,
            requiresIssuer: url.requiresIssuer || asking.registration.redirect.requiresIssuer,
            path: redirect?.issuerPath,
            // A code that is not exchanged is looked at by nobody: only the state tells whose it is.
            isCodeBound: url.checksCodeChallenge && attempt.leg == .grant,
            responseType: responseType,
            codeParameters: ["code"] + profile.codeParameters,
            keptParameters: profile.callbackFields
        )
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

    func identityCheck(of idToken: Secret, as asking: RequestingClient) -> IdentityCheck {
        IdentityCheck(client: asking, idToken: idToken, nonce: nonce(for: asking), maxAge: request.maxAge)
    }

    /// What came beside a code before, and may not come again: Apple tells the person's name at the first sign-in only.
    private var toldBefore: [String: String] {
        account.grantFacts.keptFields.filter { name, _ in callbackFields.contains(name) }
    }

    /// The tokens of `grant`, as they are put before the account's machine.
    ///
    /// - Parameter kept: what came with the code; what comes with the tokens goes before it.
    func arrival(
        of grant: ObtainedGrant,
        keeping kept: [String: String],
        learnedEncoding: BasicCredentialEncoding?,
        sentAt: Moment
    ) -> Arrival {
        let tokens = grant.tokens
        // A server that names nobody leaves it to us to remember whom it named before.
        let before = request.replacesSubject ? GrantFacts() : account.grantFacts
        // With `replace`, only a server that names the same person again says that it is the same.
        let isSamePerson =
            !request.replacesSubject || grant.subject.map { $0 == account.grantFacts.subject } ?? false
        let event: Event =
            tokens.refreshToken == nil && isSamePerson
            ? .accessTokenObtained(tokens.issuance, sentAt: sentAt)
            : .grantObtained(tokens.issuance, hasRefreshToken: tokens.refreshToken != nil, sentAt: sentAt)
        return Arrival(
            account: account.id,
            event: event,
            tokens: StoredTokens(tokens),
            grantFacts: GrantFacts(
                subject: grant.subject ?? before.subject,
                person: grant.person.names ?? before.person,
                needsConsent: account.grantFacts.needsConsent
                    || lacksRefreshToken && asksForConsent && tokens.refreshToken != nil,
                keptFields: (isSamePerson ? toldBefore : [:])
                    .merging(kept) { _, new in new }.merging(grant.keptFields) { _, new in new },
                scope: tokens.scopes.flatMap { GrantedScope(granted: $0, asked: grant.askedScopes) }
            ),
            learnedEncoding: learnedEncoding,
            correlationID: correlationID
        )
    }

    /// The nonce comes back in the ID token (OpenID Connect Core §3.1.2.1), so it is sent where there will be one: if the scopes contain
    /// `openid`, or if the profile demands one. Apple issues ID tokens without that scope.
    private func nonce(for asking: RequestingClient) -> Secret? {
        guard !request.demandsIDToken else { return request.nonce ?? secrets.nonce }
        let scopes = asking.scopes(request.scopes)
        // Where no scopes are named, those that the server offers are asked for, "openid" among them.
        let isOwed = asking.profile?.signIn.idToken == .required || scopes.contains("openid")
        return isOwed || scopes.isEmpty && asking.profile == nil ? secrets.nonce : nil
    }
}

extension RunningSignIn.Invitation {
    init(_ url: AuthorizationURL) {
        self.init(url: url.url, host: url.host)
    }

    init(_ device: DeviceAuthorization) {
        self.init(url: device.verificationURI, host: ShownHost.of(device.verificationURI), device: device)
    }
}

extension DevicePollOutcome {
    /// What the sign-in is told; nil if there are tokens, or would be if they could be believed.
    var answer: DevicePollAnswer? {
        switch self {
        case .pending: return .pending
        case .slowDown: return .slowDown
        case .expired: return .expired
        case .denied(let failure):
            let refusal = ServerRefusal(
                error: failure.detail.oauthError ?? "access_denied",
                description: failure.detail.oauthErrorDescription
            )
            return .denied(refusal)
        case .failed(let failure): return .failed(failure)
        case .obtained: return nil
        }
    }
}

/// What binds the answer of a sign-in to its request; drawn anew for each.
struct SignInSecrets: Sendable {
    /// `state` (RFC 6749 §4.1.1).
    let state = RandomText.secret(bits: 256)
    /// `nonce` of the ID token (OpenID Connect Core §3.1.2.1).
    let nonce = RandomText.secret(bits: 256)
    /// `code_verifier` (RFC 7636 §4.1).
    let codeVerifier = RandomText.secret(bits: 256)
}

/// Text that nobody can guess, in base64url: 22 characters of 128 bits, 43 of 256.
enum RandomText {
    static func secret(bits: Int) -> Secret {
        Secret(text(bits: bits))
    }

    static func text(bits: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<bits / 8).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
