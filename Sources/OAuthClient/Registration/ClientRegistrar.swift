package import OAuthMessages
package import RefreshCore

/// Registers clients at servers that accept new ones, and manages their registrations (RFC 7591, RFC 7592).
package struct ClientRegistrar: Sendable {
    let servers: ServerAccess

    /// Registers a client (RFC 7591 §3).
    ///
    /// A request that the server refuses is repeated without what it may not know. If an answer comes too late, the
    /// server has a client that nobody uses, which does no harm.
    ///
    /// - Returns: the registration. If the server allows changing and deleting it, it has the address and token for that.
    @concurrent package func register(
        _ request: RegistrationRequest
    ) async -> Result<ClientRegistration, RefreshFailure> {
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: request.client)
            guard let endpoint = metadata.endpoints.registration else {
                throw request.client.lacking(
                    "registration_endpoint",
                    "the server does not register clients by itself: ask its administrator for a client id",
                    in: metadata
                )
            }
            var request = request
            // RFC 6749 §4.4: a client that acts for itself must have credentials.
            let isPublic = request.grantTypes.contains("authorization_code")
            if request.authentication == nil, isPublic,
                metadata.tokenEndpointAuthenticationMethods?.contains("none") == true
            {
                request.authentication = ClientAuthentication.none
            }
            request.addGrantTypes(offeredBy: metadata)
            while true {
                do throws(RefreshFailure) {
                    return .success(try await register(request, at: endpoint))
                } catch {
                    guard let simpler = request.simplified(after: error) else { throw error }
                    request = simpler
                }
            }
        } catch {
            return .failure(error)
        }
    }

    private func register(
        _ request: RegistrationRequest,
        at endpoint: Endpoint
    ) async throws(RefreshFailure) -> ClientRegistration {
        let message = HTTPTransport.Request(
            endpoint: endpoint,
            headers: headers(request.initialAccessToken, request.client.profile),
            body: request.document.bytes,
            caFile: request.client.profile?.caFile
        )
        var isPage = false
        let reply: AnswerBody
        do throws(RefreshFailure) {
            reply = try await self.reply(to: message, of: request.client, hiding: request.initialAccessToken) {
                isPage = Self.isPage($0, $1)
                // §3.2.1 requires 201; some servers answer 200.
                return (200...299).contains($0.status) && $1.holdsAnswer
            }
        } catch {
            guard isPage else { throw error }
            throw request.client.misconfigured(
                "the server's registration endpoint is a page for people",
                detail: endpoint.url,
                finding: .registrationPage
            )
        }
        guard reply.fields["client_id"]?.text?.isEmpty == false else {
            throw request.client.unusable("client_id", inAnswerOf: .registration)
        }
        return registered(reply.fields, for: request)
    }

    /// Whether the endpoint answers as a page for people does, which shows a form or leads to its own sign-in. Some
    /// servers publish such a page as their registration endpoint.
    private static func isPage(_ answer: Answer, _ body: AnswerBody) -> Bool {
        switch answer.status {
        case 300...399: true
        // There is no such page, or the server is overloaded or broken.
        case 404, 410, 429, 500...: false
        case _: body.kind == .html
        }
    }

    /// Reads a client's own registration (RFC 7592 §2.1), and returns it as the server has it now. Store it: the server
    /// may accept only its new secret or access token from then on.
    @concurrent package func read(
        _ management: RegistrationManagement,
        of client: RequestingClient
    ) async -> Result<ClientRegistration, RefreshFailure> {
        do throws(RefreshFailure) {
            var registration = client.registration
            let limit = servers.configuration.totalTimeout / 4
            let known = try await answer(to: nil, management, of: client, within: limit)
            registration.renewed(by: known, at: client.issuer)
            return .success(registration)
        } catch {
            return .failure(error)
        }
    }

    /// Deletes a client's own registration (RFC 7592 §2.3). Succeeds also if the registration no longer exists.
    @concurrent package func deregister(
        _ management: RegistrationManagement,
        of client: RequestingClient
    ) async -> Result<Void, RefreshFailure> {
        guard let endpoint = Endpoint(management.uri) else {
            return .failure(client.insecureRegistration)
        }
        let message = HTTPTransport.Request(
            endpoint: endpoint,
            method: .delete,
            headers: headers(management.accessToken, client.profile),
            caFile: client.profile?.caFile
        )
        do throws(RefreshFailure) {
            _ = try await reply(to: message, of: client, hiding: management.accessToken) { answer, body in
                // §2.3: 204. If the registration does not exist, the answer is 401 (§2.1), or 404 at some servers.
                (200...299).contains(answer.status) && body.kind != .html || [401, 404, 410].contains(answer.status)
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Renews a client's secret before it expires. Reads the registration and sends it back (RFC 7592 §2.1, §2.2);
    /// servers renew secrets at that moment.
    ///
    /// - Parameter keep: stores the registration after it was read, before its new secret or token is used. If it
    ///   returns false, the renewal stops.
    /// - Returns: nil if `keep` stopped the renewal. Everything is stored then.
    @concurrent package func renew(
        _ management: RegistrationManagement,
        of client: RequestingClient,
        keep: @Sendable (ClientRegistration) async -> Bool
    ) async -> RegistrationRenewal? {
        var registration = client.registration
        guard let end = registration.clientSecretExpiresAt else {
            return RegistrationRenewal(registration: registration, failure: nil)
        }
        let before = registration.clientSecret
        let isRenewed = { (new: ClientRegistration) in
            new.clientSecretExpiresAt.map { $0 > end || $0 == end && new.clientSecret != before } ?? true
        }
        do throws(RefreshFailure) {
            let known = try await answer(
                to: nil,
                management,
                of: client,
                within: servers.configuration.totalTimeout / 4
            )
            registration.renewed(by: known, at: client.issuer)
            if isRenewed(registration) { return RegistrationRenewal(registration: registration, failure: nil) }
            guard await keep(registration) else { return nil }
            var document = known.fields.filter { !Self.serversOwn.contains($0.key) }
            document["client_id"] = .string(registration.clientID)
            let renewed = try await answer(
                to: document,
                registration.management ?? management,
                of: client,
                within: servers.configuration.totalTimeout * 3 / 4
            )
            registration.renewed(by: renewed, at: client.issuer)
            guard isRenewed(registration) else {
                throw client.misconfigured("the server did not renew the client secret, which expires as before")
            }
            return RegistrationRenewal(registration: registration, failure: nil)
        } catch {
            return RegistrationRenewal(registration: registration, failure: error)
        }
    }

    /// The fields that an update must not contain (RFC 7592 §2.2). We cannot choose the secret either.
    private static let serversOwn: Set = [
        "registration_access_token", "registration_client_uri", "client_secret", "client_secret_expires_at",
        "client_id_issued_at",
    ]

    /// - Parameters:
    ///   - document: the new content of the registration; nil only reads it.
    ///   - limit: the time limit for reading and updating together. It is that of a single request, and less than the
    ///     daemon has for its end (`TimeoutStopSec=`): what a killed daemon received is lost.
    private func answer(
        to document: [String: JSONTree]?,
        _ management: RegistrationManagement,
        of client: RequestingClient,
        within limit: Duration
    ) async throws(RefreshFailure) -> AnswerBody {
        guard let endpoint = Endpoint(management.uri) else {
            throw client.insecureRegistration
        }
        let message = HTTPTransport.Request(
            endpoint: endpoint,
            method: document == nil ? .get : .put,
            headers: headers(management.accessToken, client.profile),
            body: document.map { JSONTree.object($0).bytes },
            caFile: client.profile?.caFile
        )
        return try await reply(to: message, of: client, hiding: management.accessToken, within: limit) {
            (200...299).contains($0.status) && $1.fields["client_id"]?.text == client.registration.clientID
        }
    }

    /// Whether a client of `issuer` may send its registration's token to `uri`. A service on this machine must not get
    /// the token of a remote server.
    package static func isManagementURI(_ uri: String, of issuer: Issuer) -> Bool {
        Endpoint(uri).map { !$0.isLoopback || issuer.isLoopback } ?? false
    }

    private func headers(_ token: Secret?, _ profile: ProviderProfile?) -> HeaderFields {
        var headers: HeaderFields = [
            "accept": "application/json", "content-type": "application/json",
            "user-agent": servers.configuration.userAgent,
        ]
        for (name, value) in profile?.headers ?? [:] { headers.replaceOrAdd(name: name, value: value) }
        if let token { headers.add(name: "authorization", value: "Bearer " + token.reveal()) }
        return headers
    }

    /// The body of an answer that `isSuccess` accepts.
    ///
    /// - Parameter limit: the time limit; nil means that of any request.
    private func reply(
        to message: HTTPTransport.Request,
        of client: RequestingClient,
        hiding secret: Secret?,
        within limit: Duration? = nil,
        isSuccess: (Answer, AnswerBody) -> Bool
    ) async throws(RefreshFailure) -> AnswerBody {
        let conclusion: AuthenticatedPost.Conclusion
        do throws(TransportFailure) {
            let limit = limit ?? servers.configuration.totalTimeout
            let answer = try await servers.transport.send(message, before: servers.configuration.uptime() + limit)
            let body = AnswerBody(answer)
            if isSuccess(answer, body) { return body }
            let signal = FailureSignal(answer, body, from: message.endpoint, workedBefore: false)
            conclusion = AuthenticatedPost.Conclusion(
                answer: .success(answer),
                body: body,
                row: FailureTable.standard.row(for: signal).told(of: .registration),
                foundEncoding: nil
            )
        } catch {
            conclusion = AuthenticatedPost.Conclusion(
                answer: .failure(error),
                body: nil,
                row: FailureTable.standard.row(for: FailureSignal(error, now: servers.configuration.now())),
                foundEncoding: nil
            )
        }
        throw client.failure(conclusion, hiding: secret.map { [$0] } ?? [], now: servers.configuration.now())
    }

    private func registered(_ fields: [String: JSONTree], for request: RegistrationRequest) -> ClientRegistration {
        let said = RegistrationAnswer(fields, from: request.client.issuer)
        let method = fields["token_endpoint_auth_method"]?.text.flatMap(ClientAuthentication.init)
        // An algorithm that signs with the secret cannot be used without a secret.
        let algorithm = fields["id_token_signed_response_alg"]?.text.flatMap(SigningAlgorithm.init)
            .flatMap { said.secret != nil || !$0.isSymmetric ? $0.rawValue : nil }
        var registration = ClientRegistration(clientID: fields["client_id"]?.text ?? "")
        // §3.2.1: the server may have registered other values than those that were sent.
        registration.authentication = method ?? request.authentication
        registration.clientSecret = said.secret
        registration.clientSecretExpiresAt = said.secretExpiresAt
        registration.idTokenAlgorithm = algorithm ?? request.idTokenAlgorithm
        registration.scopes = fields["scope"]?.text?.split(separator: " ").map(String.init) ?? request.scopes
        registration.management = said.management(besides: nil)
        return registration
    }
}

/// The secrets in an answer about a client's registration (RFC 7591 §3.2.1, RFC 7592 §3).
struct RegistrationAnswer {
    /// The client secret; nil if the answer has none.
    let secret: Secret?
    /// When the secret expires; nil if it does not, or if there is none.
    let secretExpiresAt: Timestamp?
    /// Whether the answer has a secret, or says when it expires. A secret without a time does not expire.
    let concernsSecret: Bool
    private let managementURI: String?
    private let managementToken: Secret?

    init(_ fields: [String: JSONTree], from issuer: Issuer) {
        let secret = { (name: String) in fields[name]?.text.flatMap { $0.isEmpty ? nil : Secret($0) } }
        self.secret = secret("client_secret")
        concernsSecret = self.secret != nil || fields["client_secret_expires_at"] != nil
        managementToken = secret("registration_access_token")
        managementURI = fields["registration_client_uri"]?.text.flatMap {
            ClientRegistrar.isManagementURI($0, of: issuer) ? $0 : nil
        }
        // 0 means that the secret does not expire.
        secretExpiresAt = fields["client_secret_expires_at"]?.seconds.flatMap {
            $0 > 0 && $0 < 1e11 ? Timestamp(microseconds: Int64($0) * 1_000_000) : nil
        }
    }

    /// How the registration is managed from now on; nil if it cannot be.
    ///
    /// - Parameter known: how it was managed until now. An answer may leave out values that have not changed.
    func management(besides known: RegistrationManagement?) -> RegistrationManagement? {
        guard let uri = managementURI ?? known?.uri, let token = managementToken ?? known?.accessToken else {
            return nil
        }
        return RegistrationManagement(uri: uri, accessToken: token)
    }
}

/// The metadata with which a client registers (RFC 7591 §2).
package struct RegistrationRequest: Sendable {
    /// The client to register, and its server. It has no client id yet.
    package var client: RequestingClient
    /// The client's name, which the server shows to the person.
    package var clientName: String
    package var redirectURIs: [String]
    package var grantTypes: [String] = ["authorization_code", "refresh_token"]
    /// How the client authenticates. Nil prefers no authentication, which suits a native client (RFC 8252 §8.4), and
    /// leaves the choice to a server that does not offer that.
    package var authentication: ClientAuthentication?
    package var scopes: [String] = []
    /// The algorithm that signs ID tokens; nil leaves it to the server.
    package var idTokenAlgorithm: String?
    package var postLogoutRedirectURIs: [String] = []
    /// The client's public keys as a key set in JSON, for `private_key_jwt`; nil if it has none.
    package var keySet: String?
    /// The identifier of this program, the same in all installations (RFC 7591 §2).
    package var softwareID: String?
    package var softwareVersion: String?
    /// The token for a server that registers only clients with a token (RFC 7591 §3); nil if none is needed.
    package var initialAccessToken: Secret?

    package init(client: RequestingClient, clientName: String, redirectURIs: [String]) {
        self.client = client
        self.clientName = clientName
        self.redirectURIs = redirectURIs
    }

    private static let code = "authorization_code"
    private static let deviceCode = "urn:ietf:params:oauth:grant-type:device_code"

    /// Asks for all grants that the server offers and sign-ins use. A server may allow a client only those.
    fileprivate mutating func addGrantTypes(offeredBy metadata: AuthorizationServerMetadata) {
        // A client that acts for itself has one grant, and nobody signs in.
        guard grantTypes.contains(Self.code), metadata.endpoints.deviceAuthorization != nil else { return }
        if metadata.grantTypes?.contains(Self.deviceCode) ?? true { grantTypes.append(Self.deviceCode) }
        if metadata.endpoints.authorization == nil { grantTypes.removeAll { $0 == Self.code } }
    }

    /// A request without what the server may have refused, because many servers refuse all metadata for one value that
    /// they do not know (§3.2.2); nil if there is nothing to leave out.
    fileprivate func simplified(after failure: RefreshFailure) -> RegistrationRequest? {
        let code = failure.detail.oauthError?.lowercased()
        guard [400, 422].contains(failure.detail.httpStatus) else { return nil }
        var simpler = self
        if code != "invalid_redirect_uri", grantTypes.contains(Self.code), grantTypes.contains(Self.deviceCode) {
            simpler.grantTypes.removeAll { $0 == Self.deviceCode }
        } else if redirectURIs.count > 1 {
            simpler.redirectURIs.removeAll { $0.hasPrefix("http://[::1]") }
        }
        let isSimpler = simpler.grantTypes != grantTypes || simpler.redirectURIs != redirectURIs
        return isSimpler ? simpler : nil
    }

    var document: JSONTree {
        let list = { (texts: [String]) in texts.isEmpty ? nil : JSONTree.array(texts.map(JSONTree.string)) }
        let fields: [String: JSONTree?] = [
            "client_name": .string(clientName),
            "application_type": .string("native"),
            "redirect_uris": list(redirectURIs),
            "grant_types": list(grantTypes),
            "response_types": grantTypes.contains("authorization_code") ? list(["code"]) : nil,
            "token_endpoint_auth_method": authentication.map { .string($0.rawValue) },
            "scope": scopes.isEmpty ? nil : .string(scopes.joined(separator: " ")),
            "id_token_signed_response_alg": idTokenAlgorithm.map(JSONTree.string),
            "post_logout_redirect_uris": list(postLogoutRedirectURIs),
            "jwks": keySet.flatMap { JSONTree.object(in: Array($0.utf8)) }.map(JSONTree.object),
            "software_id": softwareID.map(JSONTree.string),
            "software_version": softwareVersion.map(JSONTree.string),
        ]
        return .object(fields.compactMapValues { $0 })
    }
}

/// The result of a renewal.
package struct RegistrationRenewal: Sendable {
    /// The registration as it is now. Store it whatever failed: a server may change the secret and the management token
    /// with each answer, and then no longer accepts the previous ones (RFC 7592 §2.1, §2.2).
    package let registration: ClientRegistration
    /// Why the secret was not renewed; nil if it was.
    package let failure: RefreshFailure?
}

extension ClientRegistration {
    /// Takes over the secret and the management data from an answer. Values that the answer leaves out stay as they
    /// are.
    fileprivate mutating func renewed(by answer: AnswerBody, at issuer: Issuer) {
        let said = RegistrationAnswer(answer.fields, from: issuer)
        clientSecret = said.secret ?? clientSecret
        if said.concernsSecret { clientSecretExpiresAt = said.secretExpiresAt }
        management = said.management(besides: management)
    }
}

extension RequestingClient {
    fileprivate var insecureRegistration: RefreshFailure {
        misconfigured("the address of the client's registration is not an https URL")
    }
}
