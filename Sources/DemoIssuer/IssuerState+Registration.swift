internal import FoundationEssentials
internal import NIOHTTP1

// Clients that register themselves (RFC 7591) and delete their registration (RFC 7592). Strict: what this server does not know, and what
// a native client has no use for, is refused.
extension IssuerState {
    private struct Metadata: Decodable {
        let redirectUris: [String]?
        let applicationType: String?
        let grantTypes: [String]?
        let responseTypes: [String]?
        let tokenEndpointAuthMethod: String?
        let clientName: String?
        let scope: String?
    }

    private struct Registered: Encodable {
        let clientId: String
        let clientSecret: String?
        let clientSecretExpiresAt: Int?
        let redirectUris: [String]
        let grantTypes: [String]
        let tokenEndpointAuthMethod: String
        let scope: String?
        let registrationAccessToken: String
        let registrationClientUri: String
    }

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
        guard let metadata = try? decoder.decode(Metadata.self, from: Data(admission.request.body)) else {
            return refuse(admission, "invalid_client_metadata", "the body is no client metadata", at: now)
        }
        let redirectURIs = metadata.redirectUris ?? []
        let grantTypes = metadata.grantTypes ?? ["authorization_code"]
        // Nobody is sent anywhere by a client that acts for itself.
        let isService = Set(grantTypes).isSubset(of: ["client_credentials", Self.tokenExchange])
        guard redirectURIs.isEmpty == isService, redirectURIs.allSatisfy(DemoClient.isSafe(redirectURI:)) else {
            return refuse(admission, "invalid_redirect_uri", "only loopback and private-use schemes are taken", at: now)
        }
        let known = ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]
        let method = metadata.tokenEndpointAuthMethod ?? "client_secret_basic"
        let isKnown =
            (isService || Set(grantTypes).isSubset(of: known)) && metadata.responseTypes ?? ["code"] == ["code"]
            && metadata.applicationType == "native" && metadata.clientName?.isEmpty == false
        let id = randomText("demo-client-")
        let secret = method == "none" ? nil : randomText("demo-secret-")
        guard isKnown, var client = DemoClient(id: id, method: method, secret: secret) else {
            return refuse(admission, "invalid_client_metadata", "something in it is not known here", at: now)
        }
        client.redirectURIs = redirectURIs
        if grantTypes.contains("client_credentials") { client.serviceScope = metadata.scope ?? "demo" }
        let token = randomText("demo-registration-")
        client.registrationToken = token
        clients[id] = client
        var draft = admission.draft
        draft.clientID = id
        note(draft, .registered, at: now)
        let ends = ledger.policy.clientSecretLifetime.map { (now + $0).wholeSeconds } ?? 0
        let registered = Registered(
            clientId: id,
            clientSecret: secret,
            clientSecretExpiresAt: secret.map { _ in ends },
            redirectUris: redirectURIs,
            grantTypes: grantTypes,
            tokenEndpointAuthMethod: method,
            scope: metadata.scope,
            registrationAccessToken: token,
            registrationClientUri: issuer + "/register/" + id
        )
        return .json(registered, status: 201, headers: [("Cache-Control", "no-store")])
    }

    /// RFC 7592 §2.3. Whoever does not have the client's token is told nothing about the client.
    mutating func deregistration(_ admission: Admission, at now: Duration) -> Answer {
        let id = String(admission.request.path.dropFirst("/register/".count))
        guard let token = clients[id]?.registrationToken, admission.request.authorization(scheme: "bearer") == token
        else {
            note(admission.draft, .clientRefused, at: now)
            return Self.tokenWanted
        }
        clients[id] = nil
        var draft = admission.draft
        draft.clientID = id
        note(draft, .deregistered, at: now)
        return .noContent
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

    private static var tokenWanted: Answer {
        .oauthError("invalid_token", "a token is wanted", status: 401, headers: [("WWW-Authenticate", "Bearer")])
    }
}

extension DemoClient {
    /// Nil for a way of authentication that is not known here.
    fileprivate init?(id: String, method: String, secret: String?) {
        switch (method, secret) {
        case ("none", nil): self.init(id: id)
        case ("client_secret_basic", let secret?):
            self.init(id: id, authentication: .basic(secret: secret, form: .formEncoded))
        case ("client_secret_post", let secret?): self.init(id: id, authentication: .post(secret: secret))
        default: return nil
        }
    }
}
