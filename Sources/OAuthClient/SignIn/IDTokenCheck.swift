internal import JOSE
internal import RefreshCore

/// The check of the id_token that comes with a grant (OpenID Connect Core §3.1.3.7): what is wanted, and the keys for it.
struct IDTokenCheck: Sendable {
    /// How the answer's id_token is tied to the request.
    struct Binding: Sendable {
        var nonce: Secret?
        var code: Secret?
        var maxAge: Duration?
        var scopes: [String]
    }

    let client: RequestingClient
    let binding: Binding
    let cache: KeySetCache
    /// Where the server's keys are; nil if that is not known.
    private let source: KeySetCache.Key?

    init(_ client: RequestingClient, _ binding: Binding, _ metadata: AuthorizationServerMetadata, cache: KeySetCache) {
        self.client = client
        self.binding = binding
        self.cache = cache
        source = metadata.endpoints.keySet.map { KeySetCache.Key(endpoint: $0, caFile: client.profile?.caFile) }
    }

    private var demand: IDTokenDemand {
        client.profile?.signIn.idToken ?? (binding.scopes.contains("openid") ? .required : .optional)
    }

    /// Has the keys at hand where they will be needed: what cannot be checked later must be known before a code is spent.
    func prepare() async throws(RefreshFailure) {
        switch demand {
        case .ignored, .optional:
            return
        case .required:
            guard let source else {
                throw client.misconfigured(
                    "the server says not where its keys are, so that nobody can check its id_token: name jwks_uri in a "
                        + "provider profile, or set id_token there to ignored"
                )
            }
            _ = try await keys(source, age: KeySetCache.usualAge)
        }
    }

    /// The claims of the answer's id_token; nil if it has none, or one that is not asked for and cannot be checked.
    ///
    /// - Throws: `misconfigured` for a token that must not be believed.
    func claims(
        of tokens: TokenResponse,
        now: Timestamp,
        skew: Duration
    ) async throws(RefreshFailure) -> IDToken? {
        guard demand != .ignored else { return nil }
        guard let token = tokens.idToken else {
            guard demand == .optional || client.profile?.signIn.idToken == nil && !isOwed(with: tokens) else {
                throw client.misconfigured("the answer has no id_token, which was asked for")
            }
            return nil
        }
        guard let source else { return nil }
        let isWanted = demand == .required
        do throws(RefreshFailure) {
            return try await validated(token, of: tokens, by: source, now: now, skew: skew)
        } catch {
            // Nobody asked for it and the keys are out of reach: it says nothing.
            guard error.failureClass.isMisconfiguration || isWanted else { return nil }
            throw error
        }
    }

    /// Whether a server that was asked for openid has to answer with an id_token.
    private func isOwed(with tokens: TokenResponse) -> Bool {
        // OpenID Connect Core §3.1.3.3 promises one for a code. RFC 8628 knows none: django-oauth-toolkit 3.4 gives devices none.
        guard binding.code != nil else { return false }
        // A server that says that it did not grant openid owes none.
        return tokens.scopes.map { $0.contains("openid") } ?? true
    }

    private func validated(
        _ token: Secret,
        of tokens: TokenResponse,
        by source: KeySetCache.Key,
        now: Timestamp,
        skew: Duration
    ) async throws(RefreshFailure) -> IDToken {
        let validation = validation(of: tokens)
        let attempt = { (keys: JWKSet) -> Result<IDToken, JOSEError> in
            Result { () throws(JOSEError) in try validation.validate(token, keys: keys, now: now, skew: skew) }
        }
        var outcome = attempt(try await keys(source, age: KeySetCache.usualAge))
        if case .failure(let error) = outcome, error.mayBeKeyRotation {
            outcome = attempt(try await keys(source, age: KeySetCache.renewalAge))
        }
        switch outcome {
        case .success(let claims):
            return claims
        case .failure(let error):
            throw client.misconfigured(
                "the server's id_token cannot be believed: " + error.summary,
                detail: error.detail
            )
        }
    }

    private func keys(_ source: KeySetCache.Key, age: Duration) async throws(RefreshFailure) -> JWKSet {
        do throws(RefreshFailure) {
            return try await cache.keys(for: source, age: age)
        } catch {
            var failure = error
            failure.detail.correlationID = client.correlationID
            throw failure
        }
    }

    private func validation(of tokens: TokenResponse) -> IDTokenValidation {
        var validation = IDTokenValidation(issuer: client.issuer, clientID: client.registration.clientID)
        validation.issuerTemplate = client.profile?.issuerTemplate
        validation.issuerAliases = client.profile?.issuerAliases ?? []
        validation.clientSecret = client.registration.clientSecret
        validation.nonce = binding.nonce
        validation.accessToken = tokens.accessToken.secret
        validation.code = binding.code
        validation.maxAge = binding.maxAge
        return validation
    }
}
