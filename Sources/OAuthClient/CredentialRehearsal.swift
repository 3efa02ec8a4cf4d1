internal import RefreshCore

/// Finds out how a server wants a Basic secret written before a refresh token is at stake.
///
/// `AuthenticatedPost` tries the raw form once the standard one was refused, because authentication comes before the grant
/// (RFC 6749 §3.2.1). glewlwyd 2.7.5 takes only the raw form and spends the refresh token *before* it looks at the client:
/// there that try ends the grant (seen). A made-up token at the revocation endpoint costs nothing, for a server that accepts
/// the client answers 200 to a token it does not know (RFC 7009 §2.2).
struct CredentialRehearsal: Sendable {
    let exchange: HTTPExchange
    let cache: MetadataCache
    let configuration: OAuthClientConfiguration

    /// `raw` if the server refused the standard form and took the raw one; nil if that is not known.
    ///
    /// That the standard form is taken proves nothing: some servers do not authenticate clients at this endpoint at all.
    func run(
        _ request: RefreshRequest,
        at metadata: AuthorizationServerMetadata
    ) async -> BasicCredentialEncoding? {
        guard request.basicCredentialEncoding == nil, let endpoint = metadata.revocationEndpoint,
            isWorthwhile(request, offered: metadata.tokenEndpointAuthenticationMethods)
        else { return nil }
        var registration = request.registration
        registration.authentication = .clientSecretBasic
        let post = AuthenticatedPost(
            exchange: exchange,
            cache: cache,
            configuration: configuration,
            endpoint: endpoint,
            profile: request.profile,
            registration: registration,
            offeredMethods: nil,
            knownEncoding: nil,
            correlationID: request.correlationID,
            workedBefore: false,
            // An endpoint that hangs must leave the refresh itself its time.
            deadline: ContinuousClock.now + configuration.totalTimeout / 4
        )
        let fields = [("token", "rehearsal-" + request.correlationID), ("token_type_hint", "refresh_token")]
        let conclusion = await post.run(fields) { answer, body in
            (200...299).contains(answer.status) && ErrorReading(body.fields).error == nil
        }
        return conclusion.foundEncoding == .raw ? .raw : nil
    }

    /// Whether the first refresh would have to guess between two forms.
    private func isWorthwhile(_ request: RefreshRequest, offered: [String]?) -> Bool {
        ClientCredentials(
            registration: request.registration,
            method: ClientCredentials.method(request.registration, profile: request.profile, offered: offered),
            encoding: .formEncoded,
            repeatsClientID: false
        ).differsByEncoding
    }
}
