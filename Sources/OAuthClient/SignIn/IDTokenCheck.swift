package import OAuthMessages
package import RefreshCore

/// Checks the ID token that comes with a grant (OpenID Connect Core §3.1.3.7). It knows what the ID token must contain,
/// and where the keys are.
struct IDTokenCheck: Sendable {
    /// The values of the request with which the ID token must agree.
    struct Binding: Sendable {
        var nonce: Secret?
        var code: Secret?
        var maxAge: Duration?
        var scopes: [String]
        /// Whether an ID token is required whatever the scopes are: because the caller has a nonce of its own, or
        /// because of the response type.
        var isDemanded = false
    }

    let client: RequestingClient
    let binding: Binding
    let cache: KeySetCache
    /// The validated ID token that came with the code; nil if only a code came.
    var frontChannel: CheckedIDToken?
    /// Where to fetch the server's keys; nil if that is not known.
    private let source: KeySetCache.Key?
    private let metadata: AuthorizationServerMetadata

    init(_ client: RequestingClient, _ binding: Binding, _ metadata: AuthorizationServerMetadata, cache: KeySetCache) {
        self.client = client
        self.binding = binding
        self.cache = cache
        self.metadata = metadata
        source = metadata.endpoints.keySet.map { KeySetCache.Key(endpoint: $0, caFile: client.profile?.caFile) }
    }

    private var algorithm: SigningAlgorithm? {
        client.registration.idTokenAlgorithm.flatMap(SigningAlgorithm.init)
    }

    /// Whether the client secret signs the token, so that the server's keys are not needed.
    private var isSignedBySecret: Bool { algorithm?.isSymmetric ?? false }

    private var demand: IDTokenDemand {
        guard !binding.isDemanded else { return .required }
        return client.profile?.signIn.idToken ?? (binding.scopes.contains("openid") ? .required : .optional)
    }

    /// Fetches the keys, if they will be needed. Call it before a code is spent, because a failure to fetch them must
    /// be known by then.
    func prepare() async throws(RefreshFailure) {
        switch demand {
        case .ignored, .optional:
            return
        case .required:
            guard !isSignedBySecret else { return }
            guard source != nil else {
                throw client.lacking(
                    "jwks_uri",
                    "the server does not say where its keys are, so its ID token cannot be checked: name jwks_uri in a"
                        + " provider profile, or set id_token there to ignored",
                    in: metadata
                )
            }
            _ = try await keys(KeySetCache.usualAge)
        }
    }

    /// The claims of the answer's ID token; nil if it has none, or if it has one that is not required and cannot be
    /// checked.
    ///
    /// - Throws: `misconfigured` for an invalid token.
    func claims(
        of tokens: TokenResponse,
        now: Timestamp,
        skew: Duration
    ) async throws(RefreshFailure) -> IDToken? {
        guard demand != .ignored else { return nil }
        guard let token = tokens.idToken else {
            let mayLack = demand == .optional || client.profile?.signIn.idToken == nil && !isOwed(with: tokens)
            guard frontChannel != nil || mayLack && !binding.isDemanded else {
                throw client.misconfigured("the answer lacks the ID token that was requested", finding: .badIDToken)
            }
            return nil
        }
        guard source != nil || isSignedBySecret else { return nil }
        let isWanted = demand == .required
        do throws(RefreshFailure) {
            return try await validated(token, by: validation(of: tokens), now: now, skew: skew)
        } catch {
            // The token is not required, and the keys cannot be fetched: it is ignored.
            guard error.failureClass.isMisconfiguration || isWanted else { return nil }
            throw error
        }
    }

    /// The claims of an ID token that came through the browser: with `code`, whose hash it must contain (OpenID Connect
    /// Core §3.3.2.11), or alone.
    ///
    /// - Throws: `misconfigured` for an invalid token.
    func claims(ofFrontChannel token: Secret, now: Timestamp) async throws(RefreshFailure) -> IDToken {
        var validation = validation
        validation.requiresCodeHash = binding.code != nil
        // No answer of the server has shown its clock yet. The difference is taken from the times in the token.
        return try await validated(token, by: validation, now: now, skew: .zero)
    }

    /// Whether a server that was asked for openid must answer with an ID token.
    private func isOwed(with tokens: TokenResponse) -> Bool {
        // OpenID Connect Core §3.1.3.3 requires one for a code. RFC 8628 does not mention any: django-oauth-toolkit 3.4
        // gives none to devices.
        guard binding.code != nil else { return false }
        // A server that states that it did not grant openid need not send an ID token.
        return tokens.scopes.map { $0.contains("openid") } ?? true
    }

    private func validated(
        _ token: Secret,
        by validation: IDTokenValidation,
        now: Timestamp,
        skew: Duration
    ) async throws(RefreshFailure) -> IDToken {
        let attempt = { (keys: JWKSet) -> Result<IDToken, JOSEError> in
            let result = Result { () throws(JOSEError) in
                try validation.validate(token, keys: keys, now: now, skew: skew)
            }
            // The date may come from a proxy whose clock is wrong, and this machine's clock may be right.
            guard case .failure = result, skew != .zero,
                let claims = try? validation.validate(token, keys: keys, now: now)
            else { return result }
            return .success(claims)
        }
        var outcome = attempt(try await keys(KeySetCache.usualAge))
        if case .failure(let error) = outcome, error.mayBeKeyRotation {
            outcome = attempt(try await keys(KeySetCache.renewalAge))
        }
        switch outcome {
        case .success(let claims):
            return claims
        case .failure(let error):
            throw client.misconfigured(
                "the server's ID token is invalid: \(error.summary)",
                detail: error.detail,
                finding: .badIDToken
            )
        }
    }

    /// The server's keys; empty if they are not needed, or if it is not known where they are.
    private func keys(_ age: Duration) async throws(RefreshFailure) -> JWKSet {
        guard let source, !isSignedBySecret else { return .empty }
        do throws(RefreshFailure) {
            return try await cache.keys(for: source, age: age)
        } catch {
            var failure = error
            failure.detail.correlationID = client.correlationID
            throw failure
        }
    }

    private func validation(of tokens: TokenResponse) -> IDTokenValidation {
        var validation = validation
        validation.accessToken = tokens.accessToken?.secret
        return validation
    }

    private var validation: IDTokenValidation {
        var validation = IDTokenValidation(client)
        validation.registeredAlgorithm = algorithm
        validation.clientSecret = client.registration.clientSecret
        validation.nonce = binding.nonce
        validation.code = binding.code
        validation.maxAge = binding.maxAge
        return validation
    }
}

/// A validated ID token and its claims.
package struct CheckedIDToken: Sendable {
    package let token: Secret
    package let claims: IDToken

    init(_ token: Secret, _ claims: IDToken) {
        (self.token, self.claims) = (token, claims)
    }

    /// The person who signed in.
    package var person: SignedInPerson { SignedInPerson(claims) }
}

/// The key sets of the servers in use, in memory. Each is fetched once for all callers that ask at the same time.
actor KeySetCache {
    struct Key: Hashable {
        let endpoint: Endpoint
        let caFile: String?
    }

    private struct Entry {
        let keys: JWKSet
        let fetchedAt: ContinuousClock.Instant
    }

    /// The greatest age of keys at a sign-in. Servers publish a key long before they sign with it, and withdraw a key
    /// at once only after a theft.
    static let usualAge = Duration.seconds(3600)
    /// The greatest age of keys that did not fit a token. It limits how often a server can make us fetch them.
    static let renewalAge = Duration.seconds(10)

    private let transport: HTTPTransport
    private let configuration: OAuthClientConfiguration
    private var entries: [Key: Entry] = [:]
    private var inFlight: [Key: Task<Result<JWKSet, RefreshFailure>, Never>] = [:]

    init(transport: HTTPTransport, configuration: OAuthClientConfiguration) {
        self.transport = transport
        self.configuration = configuration
    }

    /// The keys at `key`, fetched unless those in memory are younger than `age`. If the fetch fails, older ones are
    /// returned.
    ///
    /// - Throws: the failure, if there are no keys at all.
    func keys(for key: Key, age: Duration) async throws(RefreshFailure) -> JWKSet {
        let now = configuration.uptime()
        if let entry = entries[key], entry.fetchedAt.duration(to: now) < age { return entry.keys }
        switch await fetched(key) {
        case .success(let keys):
            return keys
        case .failure(let failure):
            guard let entry = entries[key] else { throw failure }
            return entry.keys
        }
    }

    private func fetched(_ key: Key) async -> Result<JWKSet, RefreshFailure> {
        if let task = inFlight[key] { return await task.value }
        let task = Task { [transport, configuration] in
            await Self.fetch(key, by: transport, configuration)
        }
        inFlight[key] = task
        let result = await task.value
        inFlight[key] = nil
        if case .success(let keys) = result {
            if entries[key] == nil, entries.count >= configuration.metadataLimit,
                let oldest = entries.min(by: { $0.value.fetchedAt < $1.value.fetchedAt })
            {
                entries[oldest.key] = nil
            }
            entries[key] = Entry(keys: keys, fetchedAt: configuration.uptime())
        }
        return result
    }

    private static func fetch(
        _ key: Key,
        by transport: HTTPTransport,
        _ configuration: OAuthClientConfiguration
    ) async -> Result<JWKSet, RefreshFailure> {
        // RFC 7517 §8.5.2 names the first type; many servers know only JSON.
        let headers: HeaderFields = [
            "accept": "application/jwk-set+json, application/json", "user-agent": configuration.userAgent,
        ]
        let request = HTTPTransport.Request(endpoint: key.endpoint, headers: headers, caFile: key.caFile)
        let deadline = configuration.uptime() + configuration.discoveryTimeout
        do throws(TransportFailure) {
            let answer = try await transport.send(request, before: deadline)
            guard answer.status == 200 else {
                let summary = "the keys that sign the server's ID token are unavailable now"
                return .failure(unusable(answer, summary, now: configuration.now()))
            }
            guard let keys = try? JWKSet(Array(answer.text)) else {
                let summary = "the answer of the server's jwks_uri is not a key set"
                return .failure(unusable(answer, summary, now: configuration.now()))
            }
            return .success(keys)
        } catch {
            let row = FailureTable.standard.row(for: FailureSignal(error, now: configuration.now()))
            return .failure(RefreshFailure(row.failureClass, detail: FailureDetail(summary: row.summary)))
        }
    }

    private static func unusable(_ answer: Answer, _ summary: String, now: Timestamp) -> RefreshFailure {
        RefreshFailure(
            .unavailable,
            detail: FailureDetail(summary: summary, httpStatus: answer.status),
            retryAfter: answer.retryAfter(now: now)
        )
    }
}

extension JOSEError {
    /// The claim, name or value with the fault; nil if there is none. May be text from the token.
    var detail: String? {
        switch self {
        case .duplicateMember(let text), .unknownAlgorithm(let text), .wrongType(let text), .wrongIssuer(let text),
            .wrongPolicy(let text):
            text
        case .algorithmNotAllowed(let algorithm), .keyDoesNotFit(let algorithm): algorithm.rawValue
        case .claimMissing(let claim), .claimMalformed(let claim), .changedOnRefresh(let claim): claim.rawValue
        case .unknownKey(let text), .wrongAuthenticationContext(let text): text
        case .tooLarge, .malformed, .encrypted, .unsigned, .criticalExtension, .signatureMismatch, .keyOfAnotherIssuer,
            .wrongAudience, .wrongAuthorizedParty, .expired, .notYetValid, .issuedInFuture, .issuedLongAgo,
            .nonceMismatch, .accessTokenMismatch, .codeMismatch, .authenticatedLongAgo, .keySetMalformed,
            .keySetTooLarge, .keyMalformed, .keyIsEncrypted, .signingFailed:
            nil
        }
    }
}
