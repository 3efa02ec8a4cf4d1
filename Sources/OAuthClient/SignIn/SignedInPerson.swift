internal import OAuthMessages
package import RefreshCore

/// Who signed in, and how, as far as the server says.
package struct SignedInPerson: Hashable, Sendable {
    /// The `sub` of the person, or the provider's own identifier; nil if the server named nobody.
    package var subject: String?
    /// The person's names; nil if the server told none.
    package var names: PersonNames?
    /// The `acr` of the ID token: how strongly the person was authenticated; nil if the server did not say.
    package var authenticationContext: String?
    /// The `auth_time` of the ID token; nil if the server did not say.
    package var authenticatedAt: Timestamp?
    /// Whether there was a validated ID token.
    package var hasIDToken = false
    /// Why the server could not be asked; nil if it was asked, or if there is no endpoint to ask. If set, `subject` is
    /// nil.
    package var unavailable: RefreshFailure?
}

extension SignedInPerson {
    init(_ claims: IDToken) {
        subject = claims.subject
        names =
            PersonNames(
                username: FailureText.clean(claims.preferredUsername),
                email: FailureText.clean(claims.email),
                fullName: FailureText.clean(claims.name),
                tenant: FailureText.clean(claims.tenant)
            ).ifAny
        authenticationContext = claims.authenticationContext
        authenticatedAt = claims.authenticatedAt
        hasIDToken = true
    }
}

extension PersonNames {
    /// These names; nil if all are empty.
    var ifAny: PersonNames? { self == PersonNames() ? nil : self }
}

/// Asks servers which person gave a grant.
struct PersonLookup: Sendable {
    let servers: ServerAccess
    let introspection: TokenIntrospection

    /// How long a sign-in waits for the answer. Its tokens are not on disk yet.
    private static let personTimeout = Duration.seconds(5)

    /// `grant` with the person who gave it.
    ///
    /// The ID token says who that is. Without one, the UserInfo endpoint (OpenID Connect Core §5.3) or the provider's
    /// own is asked, or else introspection (RFC 7662 §2.2). If the ID token has no name, UserInfo is asked for the
    /// name.
    func identified(
        _ grant: ObtainedGrant,
        of client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> ObtainedGrant {
        var grant = grant
        let known = grant.person
        guard known.subject == nil || known.names?.best == nil, let token = grant.tokens.accessToken else {
            return grant
        }
        if let endpoint = metadata.endpoints.userInfo {
            let asked = await userInfo(at: endpoint, with: token, as: client, metadata)
            if known.subject == nil {
                grant.person = asked
            } else if asked.subject == known.subject {
                // OpenID Connect Core §5.3.2: the names must not be used if they are those of another person.
                grant.person.names = asked.names
            }
        } else if known.subject == nil, let asked = await introspectedPerson(of: token, as: client, metadata) {
            grant.person = asked
        }
        return grant
    }

    private func userInfo(
        at endpoint: Endpoint,
        with token: AccessToken,
        as client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> SignedInPerson {
        let deadline = servers.configuration.uptime() + min(Self.personTimeout, servers.configuration.totalTimeout)
        do throws(TransportFailure) {
            let answer = try await userInfoAnswer(at: endpoint, with: token, as: client, before: deadline)
            guard answer.status == 200, let fields = await fields(of: answer, as: client, metadata) else {
                // If the server refuses to answer this client (401, 403), it names nobody. If the server has failed, it
                // may name somebody later.
                return (500...599).contains(answer.status) || answer.status == 429
                    ? .unavailable(client, httpStatus: answer.status) : SignedInPerson()
            }
            return SignedInPerson(userInfo: fields, by: client.profile?.signIn ?? SignInProfile(), hiding: token.secret)
        } catch {
            return .unavailable(client, httpStatus: nil)
        }
    }

    /// The fields of an answer: plain JSON, or a JWT that the server has signed (OpenID Connect Core §5.3.2). Nil if it is
    /// neither, or if the signature cannot be checked.
    private func fields(
        of answer: Answer,
        as client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> [String: JSONTree]? {
        let kind = answer.headers.first(name: "content-type")?.prefix { $0 != ";" } ?? ""
        guard kind.lowercased().filter({ $0 != " " }) == "application/jwt" else {
            return JSONTree.object(inAnswer: Array(answer.text))
        }
        guard let endpoint = metadata.endpoints.keySet else { return nil }
        let token = Secret(answer.text)
        let source = KeySetCache.Key(endpoint: endpoint, caFile: client.profile?.caFile)
        let validation = IDTokenValidation(client)
        for age in [KeySetCache.usualAge, KeySetCache.renewalAge] {
            guard let keys = try? await servers.keySets.keys(for: source, age: age) else { return nil }
            do throws(JOSEError) {
                return JSONTree.object(inAnswer: try validation.userInfo(token, keys: keys))
            } catch {
                guard error.mayBeKeyRotation else { return nil }
            }
        }
        return nil
    }

    /// Sends one request and reads its answer. Sends a second request if the server only asked for its DPoP nonce.
    private func userInfoAnswer(
        at endpoint: Endpoint,
        with token: AccessToken,
        as client: RequestingClient,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportFailure) -> Answer {
        let key = token.type.lowercased() == "dpop" ? client.registration.dpopKey : nil
        var nonce = key == nil ? nil : servers.origins.nonce(for: endpoint)
        var isRepeated = false
        while true {
            var headers: HeaderFields = [
                "accept": "application/json, application/jwt", "user-agent": servers.configuration.userAgent,
            ]
            if let key {
                let now = servers.configuration.now() + servers.origins.skew(of: endpoint)
                let proof = try? key.dpopProof(
                    method: "GET",
                    url: endpoint,
                    nonce: nonce,
                    accessToken: token.secret,
                    now: now
                )
                headers.add(name: "dpop", value: proof ?? "")
            }
            let scheme = key == nil ? "Bearer" : "DPoP"
            headers.add(name: "authorization", value: "\(scheme) \(token.secret.reveal())")
            let request = HTTPTransport.Request(endpoint: endpoint, headers: headers, caFile: client.profile?.caFile)
            let answer = try await servers.transport.send(request, before: deadline)
            // RFC 9449 §9: a resource server asks for its nonce with 401, in WWW-Authenticate.
            guard key != nil, !isRepeated, answer.status == 401, let next = servers.origins.nonce(for: endpoint),
                next != nonce
            else { return answer }
            (nonce, isRepeated) = (next, true)
        }
    }

    /// The person according to introspection; nil if there is no endpoint to ask.
    private func introspectedPerson(
        of token: AccessToken,
        as client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> SignedInPerson? {
        guard let endpoint = client.profile?.introspectionEndpoint ?? metadata.introspectionEndpoint,
            let (fields, _) = await introspection.answer(about: token, at: endpoint, as: client, metadata)
        else { return nil }
        return SignedInPerson(userInfo: fields, by: SignInProfile(), hiding: token.secret)
    }
}

extension SignedInPerson {
    /// The result if the server cannot be asked now.
    fileprivate static func unavailable(_ client: RequestingClient, httpStatus: Int?) -> SignedInPerson {
        var person = SignedInPerson()
        let summary = "the server did not say who signed in"
        person.unavailable = RefreshFailure(
            .unavailable,
            detail: FailureDetail(summary: summary, httpStatus: httpStatus, correlationID: client.correlationID)
        )
        return person
    }

    /// The person according to the UserInfo endpoint or introspection. `username` is the name of the field in RFC 7662.
    fileprivate init(userInfo fields: [String: JSONTree], by profile: SignInProfile, hiding secret: Secret) {
        let text = { (name: String) in FailureText.clean(fields[name]?.word, hiding: [secret]) }
        // Subjects are compared byte for byte, so this one must not be cut.
        let stated = fields[profile.userSubject ?? "sub"]?.word
        subject = stated.flatMap { IDToken.isSubject($0) ? $0 : nil }
        names =
            PersonNames(
                username: profile.userName.flatMap(text) ?? text("preferred_username") ?? text("username"),
                email: text("email"),
                fullName: text("name"),
                tenant: text("tid")
            ).ifAny
    }
}
