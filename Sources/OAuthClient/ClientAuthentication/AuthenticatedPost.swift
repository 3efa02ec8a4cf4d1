import OAuthMessages
import RefreshCore

/// Posts fields to an endpoint as an authenticated client, and finds out in which form the server accepts the
/// credentials.
///
/// Another form is tried only after the server refused the client. Servers authenticate the client before they look at
/// the grant (RFC 6749 §3.2.1), so the refused request did not spend the token in it.
struct AuthenticatedPost: Sendable {
    let servers: ServerAccess
    let endpoint: Endpoint
    /// What the endpoint is for.
    var role = EndpointRole.token
    let profile: ProviderProfile?
    var registration: ClientRegistration
    /// `token_endpoint_auth_methods_supported` or its counterpart for revocation; nil if the server does not say.
    var offeredMethods: [String]?
    /// The form that an earlier exchange found out; nil if none did.
    var knownEncoding: BasicCredentialEncoding?
    let correlationID: String
    /// Whether the server has answered this grant with tokens before.
    var workedBefore = false
    /// Whether it sends a refresh token in order to spend it.
    var isRefresh = false
    var deadline: ContinuousClock.Instant
    /// When to stop reading an answer that comes late; nil stops at the deadline.
    var patience: HTTPTransport.Patience?
    var format = BodyFormat.form
    /// GET sends the fields in its query, the others in their body.
    var method = RequestMethod.post
    /// Whether the fields may be sent only once, because they contain a code or token that can be used only once. Then
    /// no other credentials are tried.
    var isSentOnce = false
    /// Whether the fields already say who the client is. A client without credentials is then not named a second time
    /// (RFC 7521 §4.1).
    var namesClient = false
    /// The server's metadata. Methods that sign assertions or show a certificate need it; nil for a probe of the other
    /// methods.
    var metadata: AuthorizationServerMetadata?

    /// The result of an exchange.
    struct Conclusion: Sendable {
        /// The last answer, or why there was none.
        let answer: Result<Answer, TransportFailure>
        let body: AnswerBody?
        /// The row of the failure table; nil for an answer that `isSuccess` accepts.
        let row: FailureRow?
        /// The form in which the server accepted the secret; nil if this exchange did not show it.
        let foundEncoding: BasicCredentialEncoding?
        /// The client assertion that was read from a file; nil if none was. Server's texts must not show it.
        var assertion: Secret?
    }

    /// Posts `fields`. `isSuccess` says which answers are successes.
    func run(
        _ fields: [(name: String, value: String)],
        isSuccess: @Sendable (Answer, AnswerBody) -> Bool
    ) async -> Conclusion {
        // Claims are for tokens only.
        let isForTokens = fields.contains { $0.name == "grant_type" }
        let fields = isForTokens ? registration.claimingCapabilities(in: fields) : fields
        let client = MetadataCache.ClientAt(endpoint: endpoint, clientID: registration.clientID)
        let learned = servers.cache.learnedForm(of: client)
        var credentials = firstGuess(learned)
        var alternatives = alternatives(to: credentials, isLearned: learned != nil)
        var first: Conclusion?
        while true {
            let conclusion = await post(fields, credentials, isSuccess)
            let isRefusal = conclusion.row.map(Self.refusesClient) ?? false
            if !isRefusal {
                if first != nil, Self.isAuthenticated(conclusion.row) {
                    let form = MetadataCache.LearnedForm(
                        method: credentials.method,
                        repeatsClientID: credentials.repeatsClientID,
                        audience: credentials.audience
                    )
                    servers.cache.learn(form, of: client)
                }
                return conclusion
            }
            // If the refusal may also be about the grant, only two more forms are tried: the raw secret and the other
            // audience.
            let isPlain = conclusion.row?.consequence == .tryOtherCredentials
            // The refusal of another form says nothing about the learned one.
            if isPlain, first == nil, learned != nil { servers.cache.forgetForm(of: client) }
            // All forms were refused: report the answer to the first form.
            let shown = first ?? conclusion
            first = shown
            let (method, audience) = (credentials.method, credentials.audience)
            let isWorthTrying = { (next: ClientCredentials) -> Bool in
                let isRaw = knownEncoding == nil && next.encoding == .raw && next.method == method
                return isPlain || isRaw || next.audience != audience
            }
            guard let next = alternatives.firstIndex(where: isWorthTrying) else { return shown }
            credentials = alternatives.remove(at: next)
        }
    }

    /// The credentials to try first: what was learned about this client, or else what registration, profile and
    /// metadata say.
    private func firstGuess(_ learned: MetadataCache.LearnedForm?) -> ClientCredentials {
        let guess = ClientCredentials.method(registration, profile: profile, offered: offeredMethods)
        return ClientCredentials(
            registration: registration,
            // A method that somebody configured is never replaced by a method that was only found to work.
            method: isMethodChosen ? guess : learned?.method ?? guess,
            encoding: knownEncoding ?? .formEncoded,
            repeatsClientID: learned?.repeatsClientID ?? false,
            scheme: profile?.clientSecretScheme ?? .basic,
            audience: profile?.assertionAudience ?? learned?.audience ?? .issuer
        )
    }

    private var isMethodChosen: Bool {
        registration.authentication != nil || registration.clientAssertionFile != nil
            || profile?.authentication != nil || profile?.clientSecretScheme == .bearer
    }

    /// The other forms, in the order in which to try them: the other encoding of the secret, `client_id` also in the
    /// body, the secret in the body.
    ///
    /// - Parameter isLearned: whether `credentials` were learned. The client may have been registered again since, so
    ///   the forms of a client about which nothing was learned come first.
    private func alternatives(to credentials: ClientCredentials, isLearned: Bool) -> [ClientCredentials] {
        guard !isSentOnce else { return [] }
        // We do not choose the audience of another issuer's assertion.
        guard registration.clientAssertionFile == nil else { return [] }
        if isLearned {
            let first = firstGuess(nil)
            return ([first] + alternatives(to: first, isLearned: false)).filter { !$0.hasForm(of: credentials) }
        }
        if [.clientSecretJWT, .privateKeyJWT].contains(credentials.method), profile?.assertionAudience == nil {
            var other = credentials
            // RFC 9126 §2 lets a server require the URL of this endpoint as the audience; other servers expect the
            // token endpoint's.
            let isPushed = endpoint == metadata?.endpoints.pushedAuthorizationRequest
            other.audience = credentials.audience != .issuer ? .issuer : isPushed ? .endpoint : .tokenEndpoint
            return [other]
        }
        // A configured scheme has only one form. Any other form would send the secret in a way that the owner did not
        // choose.
        guard credentials.method == .clientSecretBasic, credentials.scheme == .basic else { return [] }
        var alternatives: [ClientCredentials] = []
        if credentials.differsByEncoding {
            var other = credentials
            other.encoding = credentials.encoding == .raw ? .formEncoded : .raw
            alternatives.append(other)
        }
        if !credentials.repeatsClientID {
            var repeating = credentials
            repeating.repeatsClientID = true
            alternatives.append(repeating)
        }
        // A server may offer both methods and still have registered this client for the second.
        if !isMethodChosen, offeredMethods?.contains(ClientAuthentication.clientSecretPost.rawValue) ?? true {
            var post = credentials
            post.method = .clientSecretPost
            alternatives.append(post)
        }
        return alternatives
    }

    /// Whether the server judged the grant, which means that it accepted the credentials.
    private static func isAuthenticated(_ row: FailureRow?) -> Bool {
        row.map { $0.failureClass == .grantEnded || $0.failureClass == .userRequired } ?? true
    }

    private static func refusesClient(_ row: FailureRow) -> Bool {
        row.consequence == .tryOtherCredentials || row.consequence == .tryOtherSecretForm
    }

    private func post(
        _ fields: [(name: String, value: String)],
        _ credentials: ClientCredentials,
        _ isSuccess: (Answer, AnswerBody) -> Bool
    ) async -> Conclusion {
        var foreign: Secret?
        do throws(TransportFailure) {
            if credentials.method == .privateKeyJWT, let path = registration.clientAssertionFile {
                foreign = try await servers.assertionFiles.assertion(in: path, at: servers.configuration.now())
            }
            let answer = try await answer(to: fields, credentials, foreign)
            let body = AnswerBody(answer)
            var row: FailureRow?
            if !isSuccess(answer, body) {
                var signal = FailureSignal(
                    answer,
                    body,
                    from: endpoint,
                    profile: profile,
                    workedBefore: workedBefore,
                    isRefresh: isRefresh
                )
                if isBound { signal.signs.insert(.showedProof) }
                if isBound, signal.error == nil, Self.wantsNonce(answer) { signal.error = "use_dpop_nonce" }
                row = FailureTable.standard.row(for: signal).told(of: role)
            }
            let isFound =
                Self.isAuthenticated(row) && credentials.encoding != knownEncoding && credentials.differsByEncoding
            return Conclusion(
                answer: .success(answer),
                body: body,
                row: row,
                foundEncoding: isFound ? credentials.encoding : nil,
                assertion: foreign
            )
        } catch {
            let signal = FailureSignal(error, now: servers.configuration.now())
            let row = FailureTable.standard.row(for: signal)
            return Conclusion(answer: .failure(error), body: nil, row: row, foundEncoding: nil)
        }
    }

    /// Sends one request and reads its answer. Sends a second request if the server refused only the proof in the first:
    /// it asked for its DPoP nonce, or the refusal shows that its clock differs from the one by which the proof was made.
    ///
    /// - Parameter foreign: another issuer's assertion about the client; nil if the client makes its own.
    private func answer(
        to fields: [(name: String, value: String)],
        _ credentials: ClientCredentials,
        _ foreign: Secret?
    ) async throws(TransportFailure) -> Answer {
        let identity = credentials.method.means == .certificate ? registration.clientKey : nil
        let alias = identity.flatMap { _ in metadata?.mutualTLSAlias(of: endpoint) }
        let place = alias ?? endpoint
        var (nonce, skew) = (servers.origins.nonce(for: place), servers.origins.skew(of: place))
        var isRepeated = false
        while true {
            let now = servers.configuration.now() + skew
            // An assertion is made for each request, because its `jti` can be used only once.
            let isNamed = namesClient && credentials.method == .none
            let signed = try isNamed || foreign != nil ? nil : assertion(of: credentials, at: now)
            let own = isNamed ? [] : credentials.fields(foreign ?? signed)
            // Some requests name the client in their own fields, whatever the method.
            let all = fields + own.filter { own in !fields.contains { $0.name == own.name } }
            let request = HTTPTransport.Request(
                endpoint: method == .get ? place.adding(all) : place,
                method: method,
                headers: try headers(credentials, to: place, nonce: nonce, at: now),
                body: method == .get ? nil : format.body(all),
                isSpending: true,
                patience: patience,
                caFile: profile?.caFile,
                identity: identity
            )
            let answer = try await servers.transport.send(request, before: deadline)
            // Compare with what was sent, not with what was remembered: an answer to another account may have brought the
            // new nonce already. The server did nothing with this request (RFC 6749 §3.2.1, RFC 9449 §8), so it can be
            // repeated.
            let (next, clock) = (servers.origins.nonce(for: place), servers.origins.skew(of: place))
            let isNonceNew = isBound && Self.wantsNonce(answer) && next != nil && next != nonce
            let isClockNew =
                (isBound || signed != nil) && Self.refusesProof(answer)
                && !OriginMemory.tolerance.contains(clock - skew)
            guard !isRepeated, isNonceNew || isClockNew else { return answer }
            (nonce, skew, isRepeated) = (next, clock, true)
        }
    }

    /// Whether the server did not accept the client's assertion, or the DPoP proof (RFC 9449 §5).
    private static func refusesProof(_ answer: Answer) -> Bool {
        guard (400...401).contains(answer.status) else { return false }
        let error = ErrorReading(AnswerBody(answer).fields).error?.lowercased()
        return error == "invalid_client" || error == "invalid_dpop_proof" || error == nil && answer.status == 401
    }

    /// Whether the tokens of this endpoint are bound to a key. Only the token endpoint reads proofs (RFC 9449 §5).
    private var isBound: Bool {
        registration.dpopKey != nil && (endpoint == metadata?.tokenEndpoint || endpoint == profile?.refreshEndpoint)
    }

    private static func wantsNonce(_ answer: Answer) -> Bool {
        guard (400...401).contains(answer.status) else { return false }
        // RFC 9449 §8: in the body; some servers use the header of resource servers (§9).
        let stated = [ErrorReading(AnswerBody(answer).fields).error] + answer.challenges.map { $0.parameters["error"] }
        return stated.contains("use_dpop_nonce")
    }

    private func assertion(of credentials: ClientCredentials, at now: Timestamp) throws(TransportFailure) -> Secret? {
        guard let metadata else { return nil }
        do throws(JOSEError) {
            return try credentials.assertion(for: metadata, at: endpoint, now: now)
        } catch {
            throw TransportFailure(cause: .clientKey, wasSent: false)
        }
    }

    private func headers(
        _ credentials: ClientCredentials,
        to endpoint: Endpoint,
        nonce: String?,
        at now: Timestamp
    ) throws(TransportFailure) -> HeaderFields {
        var headers: HeaderFields = [
            "accept": "application/json",
            "content-type": format.contentType,
            "user-agent": servers.configuration.userAgent,
        ]
        for (name, value) in profile?.headers ?? [:] { headers.replaceOrAdd(name: name, value: value) }
        if let name = profile?.correlationHeader { headers.replaceOrAdd(name: name, value: correlationID) }
        if let authorization = credentials.authorization { headers.add(name: "authorization", value: authorization) }
        if isBound, let secret = registration.dpopKey {
            do throws(JOSEError) {
                let key = try DPoPKey(stored: secret)
                let proof = try key.proof(method: method.word, url: endpoint.url, nonce: nonce, now: now)
                headers.add(name: "dpop", value: proof)
            } catch {
                throw TransportFailure(cause: .clientKey, wasSent: false)
            }
        }
        return headers
    }
}

extension ClientCredentials {
    /// Whether these credentials are sent in the same form as `other`.
    fileprivate func hasForm(of other: ClientCredentials) -> Bool {
        method == other.method && encoding == other.encoding && repeatsClientID == other.repeatsClientID
            && audience == other.audience
    }
}
