internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// What a token endpoint is asked.
enum TokenRequest: Sendable {
    case refresh(RefreshRequest)
    /// The client asks for itself; first the programs that set the account up are held against the lists of its sources.
    case obtain(ServiceTokenRequest, afterLookingAt: [ListedProgram])

    /// A request that is ready to be sent, or why there is none.
    enum Draft {
        case ready(TokenRequest)
        /// The token of this account is needed first.
        case awaited(AccountSnapshot)
        /// Nothing can be asked.
        case failed(RefreshFailure)
    }

    /// What a resource server wants the token to say; nil if nothing is asked for.
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

    /// Sends the request, and waits for its end.
    ///
    /// - Parameter onOverdue: called once, on any thread, if the time limit passes before the answer has come.
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
    /// The request that spends the refresh token of an account.
    ///
    /// - Parameters:
    ///   - target: what is asked for; nil for the account's default access token.
    ///   - stepUp: what is wanted beyond the grant; nil if nothing is.
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
        // If only a person can help, the refresh asks for the grant as it is.
        if let stepUp, !stepUp.needsPerson { claims = stepUp.claims }
        if asking.leavesScopeToServer { scopes = record.account.grantFacts.scope?.toName }
    }
}

extension RefreshToken {
    /// The refresh token of a lease, which is about to be spent.
    ///
    /// - Parameter stored: what the store has of it; nil if nothing.
    /// - Throws: why nothing can be spent.
    static func toSpend(_ stored: Result<RefreshToken?, StoreError>) throws(RefreshFailure) -> RefreshToken {
        do throws(StoreError) {
            if let token = try stored.get() { return token }
        } catch {
            throw RefreshFailure(readingToken: error)
        }
        throw RefreshFailure(.misconfigured, detail: FailureDetail(.noRefreshToken))
    }
}

extension RefreshFailure {
    /// Why nothing was sent: the refresh token could not be read from the store.
    init(readingToken error: StoreError) {
        let failureClass: FailureClass =
            switch error {
            // What is stored is damaged, and stays so until a person brings another grant.
            case .sealBroken, .damagedRow: .misconfigured
            // The disk or the whole file fails. The next attempt may succeed.
            default: .unreachable
            }
        self.init(failureClass, detail: FailureDetail(summary: error.description))
    }

    /// Whether the scope that a request named may be the cause: the server has judged what it was asked for.
    var mayMeanScope: Bool {
        failureClass == .misconfigured || failureClass.isAboutGrant
    }

    /// This failure as one that passes by itself, because the next request will be another one.
    var worthAnotherTry: RefreshFailure {
        var failure = self
        failure.failureClass = .unavailable
        return failure
    }
}

extension RequestingClient {
    /// Whether the account's own requests do not name a scope of their own, so that answers tell what the grant covers.
    var leavesScopeToServer: Bool {
        profile?.refreshParameters["scope"] == nil && registration.refreshParameters["scope"] == nil
    }
}

extension StoredTokens {
    /// Everything that an answer brought and that may be used.
    init(_ response: TokenResponse) {
        self.init(
            accessToken: response.issuance.isUnbound ? nil : response.accessToken,
            refreshToken: response.refreshToken,
            idToken: response.idToken,
            scopes: response.scopes
        )
    }
}
