package import RefreshCore

/// What it takes to ask for a device code (RFC 8628 §3.1).
package struct DeviceAuthorizationRequest: Sendable {
    package var client: RequestingClient
    /// Nil asks for the account's, else for the profile's.
    package var scopes: [String]?

    package init(
        client: RequestingClient,
        scopes: [String]? = nil
    ) {
        self.client = client
        self.scopes = scopes
    }

    /// Parameters of authorization requests that make sense without a browser. A server must pass over others (RFC 6749 §3.1), but
    /// Google does not.
    private static let extras: Set = ["audience", "resource", "claims", "acr_values"]

    var fields: [(name: String, value: String)] {
        let (profile, registration) = (client.profile, client.registration)
        let scopes = client.scopes(scopes)
        let scope = scopes.joined(separator: profile?.scopeSeparator ?? " ")
        let extra = (profile?.signIn.authorizationParameters ?? [:])
            .merging(registration.target) { _, target in target }
            .merging(registration.authorizationParameters) { _, account in account }
            .filter { Self.extras.contains($0.key) }
        // Some servers want client_id here whatever the method (Google, Entra).
        return [("client_id", registration.clientID)]
            + (scopes.isEmpty ? [] : [(profile?.signIn.scopeParameter ?? "scope", scope)])
            + extra.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            // RFC 9396 §4: wherever scopes are asked for.
            + (registration.authorizationDetails.map { [("authorization_details", $0)] } ?? [])
    }
}

/// What a person has to type where, and what we ask about meanwhile (RFC 8628 §3.2).
package struct DeviceAuthorization: Sendable {
    package let deviceCode: Secret
    package let userCode: String
    /// `https`, or `http` on loopback.
    package let verificationURI: String
    /// With the user code in it; nil if the server gives none.
    package let verificationURIComplete: String?
    package let expiresIn: Duration
    /// How long to wait between two questions.
    package let interval: Duration
}

/// One question after a device code (RFC 8628 §3.4).
package struct DevicePoll: Sendable {
    package var client: RequestingClient
    package var deviceCode: Secret
    /// As they were asked for; nil for the account's or the profile's.
    package var scopes: [String]?

    package init(
        client: RequestingClient,
        deviceCode: Secret,
        scopes: [String]? = nil
    ) {
        self.client = client
        self.deviceCode = deviceCode
        self.scopes = scopes
    }

    var fields: [(name: String, value: String)] {
        [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", deviceCode.reveal()),
            ("client_id", client.registration.clientID),
        ] + client.registration.targetFields
    }
}

/// What the server says while the person is at it (RFC 8628 §3.5).
package enum DevicePollOutcome: Sendable {
    /// The person has not decided yet.
    case pending
    /// As before, and from now on five seconds more between two questions.
    case slowDown
    /// The code is spent. The outcome may be a failure: an id_token that cannot be believed.
    case obtained(GrantOutcome)
    /// The person said no.
    case denied(RefreshFailure)
    /// The codes have ended.
    case expired
    /// Anything else. Ask on, more slowly, after one that is unreachable, unanswered or unavailable (§3.5); give up after others.
    case failed(RefreshFailure)
}

/// Signs people in by a browser on another device (RFC 8628).
package struct DeviceFlow: Sendable {
    let servers: ServerAccess
    let tokens: TokenEndpoint
    let people: PersonLookup

    /// Asks for a device code, which a person confirms in any browser.
    @concurrent package func authorize(
        _ request: DeviceAuthorizationRequest
    ) async -> Result<DeviceAuthorization, RefreshFailure> {
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: request.client)
            let asked = DeviceAuthorizationRequest(
                client: request.client,
                scopes: request.client.scopes(request.scopes, offeredBy: metadata)
            )
            guard let endpoint = metadata.endpoints.deviceAuthorization else {
                throw request.client.misconfigured(
                    "the server has no device authorization endpoint, or does not publish it",
                    finding: .noDeviceEndpoint
                )
            }
            let conclusion = await servers.post(from: request.client, to: endpoint, metadata).run(asked.fields) {
                (200...299).contains($0.status) && DeviceAuthorization($1, from: request.client.issuer) != nil
            }
            if conclusion.row == nil, let body = conclusion.body,
                let answer = DeviceAuthorization(body, from: request.client.issuer)
            {
                return .success(answer)
            }
            return .failure(request.client.failure(conclusion, hiding: [], now: servers.configuration.now()))
        } catch {
            return .failure(error)
        }
    }

    /// Asks once whether the person has confirmed.
    @concurrent package func poll(_ request: DevicePoll) async -> DevicePollOutcome {
        let client = request.client
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: client)
            let check = IDTokenCheck(
                client,
                IDTokenCheck.Binding(scopes: client.scopes(request.scopes, offeredBy: metadata)),
                metadata,
                cache: servers.keySets
            )
            // The question that is answered with tokens spends the code.
            try await check.prepare()
            let grant = TokenEndpoint.GrantRequest(fields: request.fields, secrets: [request.deviceCode])
            let conclusion = await tokens.send(grant, as: client, metadata) { DevicePollWord($0) != nil }
            if let word = conclusion.body.flatMap(DevicePollWord.init), conclusion.row == nil {
                return outcome(word, conclusion, request)
            }
            guard conclusion.row == nil else {
                return .failed(
                    client.failure(conclusion, hiding: [request.deviceCode], now: servers.configuration.now())
                )
            }
            let outcome = await tokens.conclude(conclusion, of: grant, as: client, metadata, check)
            guard case .success(let obtained) = outcome.result else { return .obtained(outcome) }
            return .obtained(outcome.with(await people.identified(obtained, of: client, metadata)))
        } catch {
            return .failed(error)
        }
    }

    private func outcome(
        _ word: DevicePollWord,
        _ conclusion: AuthenticatedPost.Conclusion,
        _ request: DevicePoll
    ) -> DevicePollOutcome {
        switch word {
        case .pending:
            return .pending
        case .slowDown:
            return .slowDown
        case .expired:
            return .expired
        case .denied:
            var failure = request.client.failure(
                conclusion,
                hiding: [request.deviceCode],
                now: servers.configuration.now()
            )
            failure.failureClass = .userRequired
            failure.detail.summary = "the person declined"
            return .denied(failure)
        }
    }
}

/// The error codes of RFC 8628 §3.5, and what servers say instead.
private enum DevicePollWord {
    case pending, slowDown, denied, expired

    init?(_ body: AnswerBody) {
        switch ErrorReading(body.fields).error?.lowercased() {
        case "authorization_pending": self = .pending
        case "slow_down": self = .slowDown
        // Entra has the second one.
        case "access_denied", "authorization_declined": self = .denied
        case "expired_token", "code_expired": self = .expired
        default: return nil
        }
    }
}

extension DeviceAuthorization {
    /// Longest user code shown, in characters: RFC 8628 §6.1 advises 8.
    private static let userCodeLimit = 64

    /// Reads RFC 8628 §3.2; nil if a field that is needed is missing or cannot be used.
    init?(_ body: AnswerBody, from issuer: Issuer) {
        let fields = body.fields
        // A server out there must not have a browser open what listens on this machine.
        let page = { (text: String) in Endpoint(text).flatMap { !$0.isLoopback || issuer.isLoopback ? $0 : nil } }
        // Google kept the name of the draft.
        let uri = fields["verification_uri"] ?? fields["verification_url"]
        guard let deviceCode = fields["device_code"]?.text, !deviceCode.isEmpty,
            let userCode = fields["user_code"]?.text, FailureText.clean(userCode, hiding: []) == userCode,
            userCode.count <= Self.userCodeLimit,
            let verification = uri?.text.flatMap(page)
        else { return nil }
        let complete = fields["verification_uri_complete"] ?? fields["verification_url_complete"]
        self.deviceCode = Secret(deviceCode)
        self.userCode = userCode
        verificationURI = verification.url
        verificationURIComplete = complete?.text.flatMap(page)?.url
        // The field is required; ten minutes are what sign-ins by browser get.
        let lifetime = fields["expires_in"]?.seconds ?? 600
        expiresIn = .seconds(Int64(min(max(lifetime, 1), 86_400)))
        // §3.2: 5 s if the server does not say.
        let interval = fields["interval"]?.seconds ?? 5
        self.interval = .seconds(Int64(min(max(interval, 1), 300)))
    }
}
