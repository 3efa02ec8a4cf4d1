import NIOHTTP1
import RefreshCore

/// Posts fields to an endpoint of the authorization server as an authenticated client, and finds out how the server
/// wants the credentials written.
///
/// Another form is tried only after the server refused the client: authentication comes before the grant (RFC 6749
/// §3.2.1), so the token in the refused request was not spent.
struct AuthenticatedPost: Sendable {
    let exchange: HTTPExchange
    let cache: MetadataCache
    let configuration: OAuthClientConfiguration
    let endpoint: Endpoint
    let profile: ProviderProfile?
    let registration: ClientRegistration
    /// `token_endpoint_auth_methods_supported` or its counterpart for revocation; nil if the server does not say.
    let offeredMethods: [String]?
    /// What was found out earlier; nil if nothing was.
    let knownEncoding: BasicCredentialEncoding?
    let correlationID: String
    let workedBefore: Bool
    let deadline: ContinuousClock.Instant
    var format = BodyFormat.form
    /// Nothing is tried again, not even with other credentials: what is sent is good for one use.
    var isSentOnce = false

    /// What came of it.
    struct Conclusion: Sendable {
        /// The last answer, or why there was none.
        let answer: Result<Answer, TransportFailure>
        let body: AnswerBody?
        /// The table's row; nil for an answer that `isSuccess` takes.
        let row: FailureRow?
        /// How the secret had to be written, if this exchange told.
        let foundEncoding: BasicCredentialEncoding?
    }

    /// Posts `fields`; `isSuccess` says which answers are no failures.
    func run(
        _ fields: [(name: String, value: String)],
        isSuccess: @Sendable (Answer, AnswerBody) -> Bool
    ) async -> Conclusion {
        let client = MetadataCache.ClientAt(endpoint: endpoint, clientID: registration.clientID)
        var credentials = firstGuess(await cache.learnedForm(of: client))
        var alternatives = alternatives(to: credentials)
        var first: Conclusion?
        while true {
            let conclusion = await post(fields, credentials, isSuccess)
            let isRefusal = conclusion.row.map(Self.refusesClient) ?? false
            if !isRefusal {
                if first != nil, Self.isAuthenticated(conclusion.row) {
                    let form = MetadataCache.LearnedForm(
                        method: credentials.method,
                        repeatsClientID: credentials.repeatsClientID
                    )
                    await cache.learn(form, of: client)
                }
                return conclusion
            }
            // All forms refused: the standard one's answer is the one to show.
            let shown = first ?? conclusion
            first = shown
            // A refusal that may mean the grant is a reason to try the raw secret only.
            let isPlain = conclusion.row?.consequence == .tryOtherCredentials
            let isWorthTrying = { (next: ClientCredentials) in isPlain || next.encoding != knownEncoding ?? .formEncoded
            }
            guard let next = alternatives.firstIndex(where: isWorthTrying) else { return shown }
            credentials = alternatives.remove(at: next)
        }
    }

    /// What was learned of this client, else what registration, profile and metadata say.
    private func firstGuess(_ learned: MetadataCache.LearnedForm?) -> ClientCredentials {
        let guess = ClientCredentials.method(registration, profile: profile, offered: offeredMethods)
        return ClientCredentials(
            registration: registration,
            // A method that somebody chose is never replaced by one that was only found to work.
            method: isMethodChosen ? guess : learned?.method ?? guess,
            encoding: knownEncoding ?? .formEncoded,
            repeatsClientID: learned?.repeatsClientID ?? false
        )
    }

    private var isMethodChosen: Bool {
        registration.authentication != nil || profile?.authentication != nil
    }

    /// In the order in which they are tried: the raw secret, `client_id` in the body too, the secret in the body.
    private func alternatives(to credentials: ClientCredentials) -> [ClientCredentials] {
        guard credentials.method == .clientSecretBasic, !isSentOnce else { return [] }
        var alternatives: [ClientCredentials] = []
        if knownEncoding == nil, credentials.differsByEncoding {
            var raw = credentials
            raw.encoding = .raw
            alternatives.append(raw)
        }
        if !credentials.repeatsClientID {
            var repeating = credentials
            repeating.repeatsClientID = true
            alternatives.append(repeating)
        }
        // A server may offer both methods and have this client down for the second.
        if !isMethodChosen, offeredMethods?.contains(ClientAuthentication.clientSecretPost.rawValue) ?? true {
            var post = credentials
            post.method = .clientSecretPost
            alternatives.append(post)
        }
        return alternatives
    }

    /// Whether the server got as far as judging the grant, and so took the credentials.
    private static func isAuthenticated(_ row: FailureRow?) -> Bool {
        row.map { $0.failureClass == .grantEnded || $0.failureClass == .userRequired } ?? true
    }

    private static func refusesClient(_ row: FailureRow) -> Bool {
        switch row.consequence {
        case .tryOtherCredentials, .tryOtherSecretForm: true
        case .forgetMetadata, nil: false
        }
    }

    private func post(
        _ fields: [(name: String, value: String)],
        _ credentials: ClientCredentials,
        _ isSuccess: (Answer, AnswerBody) -> Bool
    ) async -> Conclusion {
        let request = HTTPExchange.Request(
            endpoint: endpoint,
            headers: headers(credentials),
            // Some requests name the client themselves, whatever the method.
            body: format.body(fields + credentials.fields.filter { own in !fields.contains { $0.name == own.name } }),
            caFile: profile?.caFile
        )
        do throws(TransportFailure) {
            let answer = try await exchange.send(request, before: deadline)
            let body = AnswerBody(answer)
            var row: FailureRow?
            if !isSuccess(answer, body) {
                let signal = FailureSignal(answer, body, from: endpoint, workedBefore: workedBefore)
                row = FailureTable.standard.row(for: signal)
            }
            let isFound = Self.isAuthenticated(row) && knownEncoding == nil && credentials.differsByEncoding
            return Conclusion(
                answer: .success(answer),
                body: body,
                row: row,
                foundEncoding: isFound ? credentials.encoding : nil
            )
        } catch {
            let signal = FailureSignal(error, now: configuration.now())
            let row = FailureTable.standard.row(for: signal)
            return Conclusion(answer: .failure(error), body: nil, row: row, foundEncoding: nil)
        }
    }

    private func headers(_ credentials: ClientCredentials) -> HTTPHeaders {
        var headers: HTTPHeaders = [
            "accept": "application/json",
            "content-type": format.contentType,
            "user-agent": configuration.userAgent,
        ]
        for (name, value) in profile?.headers ?? [:] { headers.replaceOrAdd(name: name, value: value) }
        if let name = profile?.correlationHeader { headers.replaceOrAdd(name: name, value: correlationID) }
        if let authorization = credentials.authorization { headers.add(name: "authorization", value: authorization) }
        return headers
    }
}
