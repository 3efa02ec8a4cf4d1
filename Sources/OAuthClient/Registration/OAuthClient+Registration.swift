import NIOHTTP1
package import RefreshCore

extension OAuthClient {
    /// Registers a client (RFC 7591 §3).
    ///
    /// Sent once: a server that answers too late has one client more, which harms nobody.
    @concurrent package func register(
        _ request: RegistrationRequest
    ) async -> Result<RegisteredClient, RefreshFailure> {
        do throws(RefreshFailure) {
            let metadata = try await metadata(for: request.client)
            guard let endpoint = metadata.endpoints.registration else {
                throw request.client.misconfigured(
                    "the server registers no clients by itself: its administrator has to, and gives the client id"
                )
            }
            var request = request
            // RFC 6749 §4.4: a client that acts for itself has to prove itself.
            let isPublic = request.grantTypes.contains("authorization_code")
            if request.authentication == nil, isPublic,
                metadata.tokenEndpointAuthenticationMethods?.contains("none") == true
            {
                request.authentication = ClientAuthentication.none
            }
            let message = HTTPExchange.Request(
                endpoint: endpoint,
                headers: registrationHeaders(request.initialAccessToken, request.client.profile),
                body: request.document.bytes,
                caFile: request.client.profile?.caFile
            )
            let reply = try await reply(to: message, of: request.client, hiding: request.initialAccessToken) {
                // §3.2.1 wants 201; some servers answer 200.
                (200...299).contains($0.status) && $1.fields["client_id"]?.text?.isEmpty == false
            }
            return .success(registered(reply.fields, for: request))
        } catch {
            return .failure(error)
        }
    }

    /// Deletes a client's own registration (RFC 7592 §2.3). One that is gone already is as good as deleted.
    @concurrent package func deregister(
        _ management: RegistrationManagement,
        of client: RequestingClient
    ) async -> Result<Void, RefreshFailure> {
        guard let endpoint = Endpoint(management.uri) else {
            return .failure(client.misconfigured("the address of the client's registration is none"))
        }
        let message = HTTPExchange.Request(
            endpoint: endpoint,
            method: .DELETE,
            headers: registrationHeaders(management.accessToken, client.profile),
            caFile: client.profile?.caFile
        )
        do throws(RefreshFailure) {
            _ = try await reply(to: message, of: client, hiding: management.accessToken) { answer, body in
                // §2.3: 204. A registration that is not there is answered with 401 (§2.1), by some with 404.
                (200...299).contains(answer.status) && body.kind != .html || [401, 404, 410].contains(answer.status)
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Whether a client of `issuer` may show its registration's token at `uri`: what listens on this machine is shown none of a server
    /// elsewhere.
    package static func isManagementURI(_ uri: String, of issuer: Issuer) -> Bool {
        Endpoint(uri).map { !$0.isLoopback || issuer.isLoopback } ?? false
    }

    func registrationHeaders(_ token: Secret?, _ profile: ProviderProfile?) -> HTTPHeaders {
        var headers: HTTPHeaders = [
            "accept": "application/json", "content-type": "application/json", "user-agent": configuration.userAgent,
        ]
        for (name, value) in profile?.headers ?? [:] { headers.replaceOrAdd(name: name, value: value) }
        if let token { headers.add(name: "authorization", value: "Bearer " + token.reveal()) }
        return headers
    }

    /// The body of the answer that `isSuccess` takes.
    ///
    /// - Parameter limit: how long it may take; nil for as long as any request.
    func reply(
        to message: HTTPExchange.Request,
        of client: RequestingClient,
        hiding secret: Secret?,
        within limit: Duration? = nil,
        isSuccess: (Answer, AnswerBody) -> Bool
    ) async throws(RefreshFailure) -> AnswerBody {
        let conclusion: AuthenticatedPost.Conclusion
        do throws(TransportFailure) {
            let limit = limit ?? configuration.totalTimeout
            let answer = try await exchange.send(message, before: configuration.uptime() + limit)
            let body = AnswerBody(answer)
            if isSuccess(answer, body) { return body }
            let signal = FailureSignal(answer, body, from: message.endpoint, workedBefore: false)
            conclusion = AuthenticatedPost.Conclusion(
                answer: .success(answer),
                body: body,
                row: FailureTable.standard.row(for: signal),
                foundEncoding: nil
            )
        } catch {
            conclusion = AuthenticatedPost.Conclusion(
                answer: .failure(error),
                body: nil,
                row: FailureTable.standard.row(for: FailureSignal(error, now: configuration.now())),
                foundEncoding: nil
            )
        }
        throw client.failure(conclusion, hiding: secret.map { [$0] } ?? [], now: configuration.now())
    }

    private func registered(_ fields: [String: JSONValue], for request: RegistrationRequest) -> RegisteredClient {
        let said = RegistrationAnswer(fields, from: request.client.issuer)
        let method = fields["token_endpoint_auth_method"]?.text.flatMap(ClientAuthentication.init)
        let registration = ClientRegistration(
            clientID: fields["client_id"]?.text ?? "",
            // §3.2.1: the server may have changed what was asked for.
            authentication: method ?? request.authentication,
            clientSecret: said.secret,
            clientSecretExpiresAt: said.secretExpiresAt,
            scopes: fields["scope"]?.text?.split(separator: " ").map(String.init) ?? request.scopes,
            management: said.management(besides: nil)
        )
        return RegisteredClient(registration: registration)
    }
}

/// The secrets of an answer about a client's registration (RFC 7591 §3.2.1, RFC 7592 §3).
struct RegistrationAnswer {
    /// Nil if the answer has none.
    let secret: Secret?
    /// Nil if the secret does not end, or there is none.
    let secretExpiresAt: Timestamp?
    /// Whether it says when the secret ends; one without an end is one that does not.
    let concernsSecret: Bool
    private let managementURI: String?
    private let managementToken: Secret?

    init(_ fields: [String: JSONValue], from issuer: Issuer) {
        let secret = { (name: String) in fields[name]?.text.flatMap { $0.isEmpty ? nil : Secret($0) } }
        self.secret = secret("client_secret")
        concernsSecret = self.secret != nil || fields["client_secret_expires_at"] != nil
        managementToken = secret("registration_access_token")
        managementURI = fields["registration_client_uri"]?.text.flatMap {
            OAuthClient.isManagementURI($0, of: issuer) ? $0 : nil
        }
        // 0 means that it does not end.
        secretExpiresAt = fields["client_secret_expires_at"]?.seconds.flatMap {
            $0 > 0 && $0 < 1e11 ? Timestamp(microseconds: Int64($0) * 1_000_000) : nil
        }
    }

    /// How the registration is managed from now on; nil if it cannot be.
    ///
    /// - Parameter known: as it was managed until now: an answer may leave out what has not changed.
    func management(besides known: RegistrationManagement?) -> RegistrationManagement? {
        guard let uri = managementURI ?? known?.uri, let token = managementToken ?? known?.accessToken else {
            return nil
        }
        return RegistrationManagement(uri: uri, accessToken: token)
    }
}
