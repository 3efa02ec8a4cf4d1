internal import FoundationEssentials
internal import NIOHTTP1
internal import TextEncodings

// Clients that register themselves (RFC 7591) and delete their registration (RFC 7592). The server refuses metadata
// that it does not know, or that a native client does not need.
extension IssuerState {
    mutating func registration(_ admission: Admission, at now: Duration) -> Answer {
        switch ledger.policy.registration {
        case .closed: return .notFound
        case .open: break
        case .byToken(let token):
            guard admission.request.authorization(scheme: "bearer") == token else {
                note(admission.draft, .clientRefused, at: now)
                return Self.tokenWanted
            }
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let metadata = try? decoder.decode(ClientMetadata.self, from: Data(admission.request.body)) else {
            return refuse(admission, "invalid_client_metadata", "the body is not client metadata", at: now)
        }
        let redirectURIs = metadata.redirectUris ?? []
        guard redirectURIs.isEmpty == metadata.isService, redirectURIs.allSatisfy(DemoClient.isSafe(redirectURI:))
        else {
            return refuse(admission, "invalid_redirect_uri", "only loopback and private-use schemes are taken", at: now)
        }
        let id = randomText("demo-client-")
        guard metadata.isKnown, var client = DemoClient(id: id, metadata, secret: randomText("demo-secret-")) else {
            return refuse(admission, "invalid_client_metadata", "something in it is not known here", at: now)
        }
        client.secretEndsAt = secretEnd(at: now)
        client.redirectURIs = redirectURIs
        if metadata.isService { client.serviceScope = metadata.scope ?? "demo" }
        client.registrationToken = randomText("demo-registration-")
        client.registeredMetadata = metadata
        clients[id] = client
        note(admission.draft.naming(id), .registered, at: now)
        return answer(about: client, status: 201, at: now)
    }

    /// Manages a registration (RFC 7592). A client reads it (§2.1), updates it, which renews its secret (§2.2), or
    /// deletes it (§2.3). Without the client's token, the answer says nothing about the client.
    mutating func managedRegistration(_ admission: Admission, at now: Duration) -> Answer {
        let id = String(admission.request.path.dropFirst("/register/".count))
        guard let client = clients[id], let token = client.registrationToken,
            admission.request.authorization(scheme: "bearer") == token
        else {
            note(admission.draft, .clientRefused, at: now)
            return Self.tokenWanted
        }
        switch admission.request.method {
        case .GET: return answer(about: client, at: now)
        case .PUT: return update(client, admission, at: now)
        case .DELETE:
            clients[id] = nil
            note(admission.draft.naming(id), .deregistered, at: now)
            return .noContent
        default: return .methodNotAllowed(allowed: "GET, PUT, DELETE")
        }
    }

    /// Updates the registration. The client may send only what it has read here and what it may set. The old secret is
    /// no longer accepted.
    private mutating func update(_ client: DemoClient, _ admission: Admission, at now: Duration) -> Answer {
        guard ledger.policy.renewsClientSecrets else {
            note(admission.draft.naming(client.id), .clientRefused, at: now)
            return .oauthError("access_denied", "registrations stay as they are here", status: 403)
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        // RFC 7592 §2.2: except for the client ID, what only the server sets is not sent back.
        let serversOwn = [
            "client_secret", "client_secret_expires_at", "registration_access_token", "registration_client_uri",
        ]
        let body = admission.request.body
        guard let said = try? decoder.decode(ClientMetadata.self, from: Data(body)), said == client.registeredMetadata,
            let members = JSONValue(body[...]), members["client_id"]?.string == client.id,
            serversOwn.allSatisfy({ members[$0] == nil })
        else {
            return refuse(admission, "invalid_client_metadata", "it is not what was read here", at: now)
        }
        var client = client
        let secret = randomText("demo-secret-")
        switch client.authentication {
        case .basic(_, let form): client.authentication = .basic(secret: secret, form: form)
        case .post: client.authentication = .post(secret: secret)
        case .none, .signedPost, .privateKey: break
        }
        client.secretEndsAt = secretEnd(at: now)
        client.registrationToken = randomText("demo-registration-")
        clients[client.id] = client
        note(admission.draft.naming(client.id), .registered, at: now)
        return answer(about: client, at: now)
    }

    /// Deletes all clients that registered themselves, as servers do that were set up anew or clean up.
    mutating func forgetRegisteredClients() {
        clients = clients.filter { $0.value.registrationToken == nil }
    }

    private func answer(about client: DemoClient, status: Int = 200, at now: Duration) -> Answer {
        let secret: String? =
            switch client.authentication {
            case .basic(let secret, _), .post(let secret): secret
            case .none, .signedPost, .privateKey: nil
            }
        // RFC 7591 §3.2.1: the client's metadata, and what the server assigned.
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let metadata = (try? encoder.encode(client.registeredMetadata)).flatMap { JSONValue(Array($0)[...]) }
        let said = (metadata?.members ?? []).map { (name: $0.key, value: Optional($0.value.text)) }
        return .json(
            said + [
                ("client_id", JSONText.quote(client.id)),
                ("client_secret", secret.map(JSONText.quote)),
                ("client_secret_expires_at", secret.map { _ in "\(client.secretEndsAt?.wholeSeconds ?? 0)" }),
                ("registration_access_token", client.registrationToken.map(JSONText.quote)),
                ("registration_client_uri", JSONText.quote(issuer + "/register/" + client.id)),
            ],
            status: status,
            headers: [("Cache-Control", "no-store")]
        )
    }

    private mutating func refuse(
        _ admission: Admission,
        _ code: String,
        _ description: String,
        at now: Duration
    ) -> Answer {
        note(admission.draft, .malformed, at: now)
        return .oauthError(code, description)
    }

    private func secretEnd(at now: Duration) -> Duration? {
        ledger.policy.clientSecretLifetime.map { now + $0 }
    }

    private static var tokenWanted: Answer {
        .oauthError("invalid_token", "a token is wanted", status: 401, headers: [("WWW-Authenticate", "Bearer")])
    }
}

extension DemoClient {
    /// Creates a client; nil for an unknown authentication method.
    ///
    /// - Parameter secret: the client's secret, if it needs one.
    fileprivate init?(id: String, _ metadata: ClientMetadata, secret: String) {
        let key = metadata.jwks?["keys"]?.first?.pem
        switch (metadata.tokenEndpointAuthMethod ?? "client_secret_basic", key) {
        // The client authenticates with its assertions (RFC 7523 §2.1).
        case ("none", _): self.init(id: id, assertionKey: key)
        case ("client_secret_basic", _):
            self.init(id: id, authentication: .basic(secret: secret, form: .formEncoded), assertionKey: key)
        case ("client_secret_post", _):
            self.init(id: id, authentication: .post(secret: secret), assertionKey: key)
        case ("private_key_jwt", let key?): self.init(id: id, authentication: .privateKey(pem: key), assertionKey: key)
        default: return nil
        }
    }
}
