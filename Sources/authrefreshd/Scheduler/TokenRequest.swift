internal import AccountStorage
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// A request to a token endpoint.
enum TokenRequest: Sendable {
    case refresh(RefreshRequest)
    /// The client asks in its own name. Before that, the programs that set the account up are checked against the lists
    /// of its sources.
    case obtain(ServiceTokenRequest, afterLookingAt: [ListedProgram])

    /// A request that is ready, or why there is none.
    enum Draft {
        case ready(TokenRequest)
        /// This account's token is needed first.
        case awaited(AccountSnapshot)
        /// There is nothing to send.
        case failed(RefreshFailure)
    }

    /// The requested claims; nil for none.
    var claims: String? {
        switch self {
        case .refresh(let request): request.claims
        case .obtain: nil
        }
    }

    /// The scope of the grant, if the request names it.
    var scopes: [String]? {
        switch self {
        case .refresh(let request): request.scopes
        case .obtain: nil
        }
    }

    /// Sends the request and waits for its end.
    ///
    /// - Parameter onOverdue: called once, on any thread, if the time limit passes before the answer.
    func run(by client: OAuthClient, onOverdue: @escaping @Sendable () -> Void) async -> RefreshOutcome {
        switch self {
        case .refresh(let request): return await client.refresh(request, onOverdue: onOverdue)
        case .obtain(let request, let programs):
            for program in programs {
                if let refusal = await program.refusal() { return RefreshOutcome(result: .failure(refusal)) }
            }
            return await client.grants.obtain(request)
        }
    }
}

extension RefreshRequest {
    /// The request that spends an account's refresh token.
    ///
    /// - Parameters:
    ///   - target: what is requested; nil for the account's default access token.
    ///   - stepUp: what a resource server requires beyond the grant; nil for nothing.
    init(
        spending token: RefreshToken,
        for target: TokenTarget?,
        of record: Record,
        as asking: RequestingClient,
        rotationGrace: Duration?,
        stepUp: StepUp?
    ) {
        self.init(
            client: asking,
            refreshToken: token,
            target: target,
            hasWorkedBefore: target == nil && record.state.hasWorked,
            subject: record.account.grantFacts.subject,
            mayRotate: record.state.isRotating != false,
            rotationGrace: rotationGrace
        )
        guard target == nil else { return }
        // If only a person can help, the refresh asks for the plain grant.
        if let stepUp, !stepUp.needsPerson { claims = stepUp.claims }
        if asking.leavesScopeToServer { scopes = record.account.grantFacts.scope?.toName }
    }
}

extension RefreshToken {
    /// The refresh token of a lease, to be sent now.
    ///
    /// - Parameter stored: the stored token; nil if there is none.
    /// - Throws: why nothing can be sent.
    static func toSpend(_ stored: Result<RefreshToken?, StoreError>) throws(RefreshFailure) -> RefreshToken {
        do throws(StoreError) {
            if let token = try stored.get() { return token }
        } catch {
            throw RefreshFailure(readingToken: error)
        }
        let detail = FailureDetail(summary: "the store has no refresh token for this account")
        throw RefreshFailure(.misconfigured, detail: detail)
    }
}

extension RefreshFailure {
    /// The failure if the refresh token could not be read from the store.
    init(readingToken error: StoreError) {
        let failureClass: FailureClass =
            switch error {
            // The stored token is damaged, and stays so until a person provides a new grant.
            case .sealBroken, .damagedRow: .misconfigured
            // The disk or the whole file fails. The next attempt may succeed.
            default: .unreachable
            }
        self.init(failureClass, detail: FailureDetail(summary: error.description))
    }

    /// Whether the scope in a request may be the cause: the server has judged the request.
    var mayMeanScope: Bool {
        failureClass == .misconfigured || failureClass.isAboutGrant
    }
}

extension RequestingClient {
    /// Whether the account's own requests name no scope, so that answers show the scope of the grant.
    var leavesScopeToServer: Bool {
        profile?.refreshParameters["scope"] == nil && registration.refreshParameters["scope"] == nil
    }
}

extension StoredTokens {
    /// Everything usable in an answer.
    init(_ response: TokenResponse) {
        let isOthers = if case .other = response.issuance.person { true } else { false }
        let isUsed = response.issuance.flaw == nil && !isOthers
        self.init(
            accessToken: isUsed ? response.accessToken : nil,
            refreshToken: response.refreshToken,
            idToken: response.idToken,
            scopes: response.scopes
        )
    }
}
