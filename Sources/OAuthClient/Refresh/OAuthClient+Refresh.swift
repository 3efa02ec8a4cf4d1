import OAuthMessages
import RefreshCore

/// Refreshing (RFC 6749 §6).
extension OAuthClient {
    /// Sends the refresh token of `request` once and returns the outcome.
    ///
    /// It takes `totalTimeout` at most. If the server may replace the refresh token, it keeps reading for
    /// `answerTimeout`, because the answer may hold the only refresh token that the server still accepts. A refresh
    /// that is cancelled after it was sent counts as unanswered.
    ///
    /// - Parameter onOverdue: called once if the request was sent and `totalTimeout` passes before its answer.
    @concurrent package func refresh(
        _ request: RefreshRequest,
        onOverdue: @escaping @Sendable () -> Void = {}
    ) async -> RefreshOutcome {
        let deadline = servers.configuration.uptime() + servers.configuration.totalTimeout
        let client = request.client
        let metadata: AuthorizationServerMetadata
        do throws(RefreshFailure) {
            if let name = ReservedParameter.first(in: client.registration.refreshParameters) {
                throw client.reserved(name)
            }
            metadata = try await servers.metadata(for: client)
        } catch {
            return RefreshOutcome(result: .failure(error))
        }
        let probed = await servers.probedEncoding(of: request.client, at: metadata)
        var request = request
        request.client.basicCredentialEncoding = request.client.basicCredentialEncoding ?? probed
        let decoder = TokenResponseDecoder(
            sent: request.refreshToken,
            profile: request.client.profile,
            now: servers.configuration.now()
        )
        var post = post(to: metadata, for: request, before: deadline)
        if request.mayRotate {
            // If the server accepts a second use within a known time, half of that time must be left for it.
            let limit = request.rotationGrace.map { min($0 / 2, servers.configuration.answerTimeout) }
            post.patience = HTTPTransport.Patience(
                limit: limit ?? servers.configuration.answerTimeout,
                onOverdue: onOverdue
            )
        }
        let conclusion = await post.run(Self.fields(of: request)) {
            (200...299).contains($0.status) && decoder.takes($1.fields)
        }
        if case .forgetMetadata = conclusion.row?.consequence {
            servers.cache.expire(MetadataCache.Key(issuer: client.issuer, profile: client.profile))
        }
        var outcome = outcome(of: conclusion, for: request, probed)
        // A new refresh token must be stored at once. Until then, no usable refresh token is on disk.
        guard case .success(let tokens) = outcome.result, tokens.refreshToken == nil else { return outcome }
        outcome.result = .success(await introspection.completed(tokens, of: request.client, metadata))
        return outcome
    }

    /// The body of RFC 6749 §6. Only here is a refresh token revealed in order to be spent.
    private static func fields(of request: RefreshRequest) -> [(name: String, value: String)] {
        let registration = request.client.registration
        let parameters = (request.client.profile?.refreshParameters(for: registration) ?? [:])
            .merging(registration.refreshParameters) { _, own in own }
        let separator = request.client.profile?.scopeSeparator ?? " "
        let asked =
            (request.target?.fields(keeping: parameters["scope"], registration.scopes, separatedBy: separator) ?? [])
            + (request.scopes.map { [("scope", $0.joined(separator: separator))] } ?? [])
            + (request.claims.map { [("claims", $0)] } ?? [])
        let rest = parameters.filter { name, _ in !asked.contains { $0.name == name } }
        let form = request.client.profile?.refreshForm ?? RefreshForm()
        return [("grant_type", form.grantType), (form.parameter, request.refreshToken.secret.reveal())]
            + rest.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + asked
    }

    private func post(
        to metadata: AuthorizationServerMetadata,
        for request: RefreshRequest,
        before deadline: ContinuousClock.Instant
    ) -> AuthenticatedPost {
        let profile = request.client.profile
        var post = servers.post(from: request.client, to: profile?.refreshEndpoint ?? metadata.tokenEndpoint, metadata)
        post.workedBefore = request.hasWorkedBefore
        post.isRefresh = true
        post.deadline = deadline
        post.format = profile?.bodyFormat ?? .form
        post.method = profile?.refreshForm.method ?? .post
        return post
    }

    /// - Parameter probed: the form of Basic credentials, if a probe found it out.
    private func outcome(
        of conclusion: AuthenticatedPost.Conclusion,
        for request: RefreshRequest,
        _ probed: BasicCredentialEncoding?
    ) -> RefreshOutcome {
        let answer = try? conclusion.answer.get()
        let (now, serverDate) = (servers.configuration.now(), answer?.serverDate)
        let decoder = TokenResponseDecoder(
            sent: request.refreshToken,
            profile: request.client.profile,
            now: serverDate ?? now
        )
        var outcome: RefreshOutcome
        if conclusion.row == nil, var response = conclusion.body.flatMap({ decoder.decode($0.fields) }) {
            let (person, fault) = request.compareIDToken(of: &response)
            outcome = RefreshOutcome(result: .success(request.client.judged(response)))
            (outcome.person, outcome.idTokenFault) = (person, fault)
        } else {
            let failure = request.client.failure(conclusion, hiding: [request.refreshToken.secret], now: now)
            outcome = RefreshOutcome(result: .failure(failure))
        }
        if conclusion.row != nil {
            outcome.demandedClaims = ErrorReading(conclusion.body?.fields ?? [:]).demandedClaims
        }
        outcome.serverDate = serverDate
        outcome.basicCredentialEncoding = conclusion.foundEncoding ?? probed
        return outcome
    }
}

extension TokenTarget {
    /// The fields that the target adds to a refresh request: `scope` (RFC 6749 §6), `resource` once for each (RFC 8707
    /// §2.2), `audience`, `claims` (OpenID Connect Core §5.5). For what the target does not name, the account's
    /// settings apply.
    ///
    /// - Parameters:
    ///   - usual: the scope in the account's own requests; nil if they name none.
    ///   - granted: the scope of the account's grant.
    ///   - separator: the separator of two scopes: a space (RFC 6749 §3.3), or the provider's.
    fileprivate func fields(
        keeping usual: String?,
        _ granted: [String],
        separatedBy separator: String
    ) -> [(name: String, value: String)] {
        var scopes = scopes
        // Without `offline_access`, some servers end the grant or answer without its next refresh token. MSAL sends it
        // each time, too.
        let holdsOffline =
            granted.contains(Self.offlineAccess)
            || usual?.split(separator: separator).contains { $0 == Self.offlineAccess } == true
        if !scopes.isEmpty, holdsOffline, !scopes.contains(Self.offlineAccess) { scopes.append(Self.offlineAccess) }
        return (scopes.isEmpty ? [] : [("scope", scopes.joined(separator: separator))])
            + resources.map { ("resource", $0) }
            + (audience.map { [("audience", $0)] } ?? [])
            + (claims.map { [("claims", $0)] } ?? [])
    }
}
