package import OAuthMessages
package import RefreshCore

/// The code that a person types, the address to type it at, and the device code to poll with (RFC 8628 §3.2).
package struct DeviceAuthorization: Sendable {
    package let deviceCode: Secret
    package let userCode: String
    /// The address to type the code at: `https`, or `http` on loopback.
    package let verificationURI: String
    /// The address that already contains the user code; nil if the server gives none.
    package let verificationURIComplete: String?
    package let expiresIn: Duration
    /// How long to wait between two polls.
    package let interval: Duration
}

/// The server's answer to a poll (RFC 8628 §3.5).
package enum DevicePollOutcome: Sendable {
    /// The person has not decided yet.
    case pending
    /// The person has not decided yet. From now on, wait five seconds longer between two polls.
    case slowDown
    /// The code is spent. The outcome may still be a failure, such as an invalid ID token.
    case obtained(GrantOutcome)
    /// The person refused.
    case denied(RefreshFailure)
    /// The codes have expired.
    case expired
    /// Any other failure. Poll again, more slowly, after one that is unreachable, unanswered or unavailable (§3.5);
    /// give up after others.
    case failed(RefreshFailure)
}

/// Signs people in with a browser on another device (RFC 8628).
package struct DeviceFlow: Sendable {
    let servers: ServerAccess
    let tokens: TokenEndpoint
    let people: PersonLookup

    /// Parameters of authorization requests that are useful without a browser. Servers should ignore others (RFC 6749
    /// §3.1), but Google does not.
    private static let extras: Set = ["audience", "resource", "claims", "acr_values"]

    /// The body of RFC 8628 §3.1.
    static func fields(of client: RequestingClient, _ scopes: [String]) -> [(name: String, value: String)] {
        let (profile, registration) = (client.profile, client.registration)
        let scope = scopes.joined(separator: profile?.scopeSeparator ?? " ")
        let extra = (profile?.signIn.authorizationParameters ?? [:])
            .merging(registration.target) { _, target in target }
            .merging(registration.authorizationParameters) { _, account in account }
            .filter { Self.extras.contains($0.key) }
        // Some servers require client_id here, whatever the method (Google, Entra).
        return [("client_id", registration.clientID)]
            + (scopes.isEmpty ? [] : [(profile?.signIn.scopeParameter ?? "scope", scope)])
            + extra.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            // RFC 9396 §4: the details may be sent wherever scopes are.
            + (registration.authorizationDetails.map { [("authorization_details", $0)] } ?? [])
    }

    /// Requests a device code (RFC 8628 §3.1), which a person confirms in any browser.
    ///
    /// - Parameter scopes: the scopes to ask for; nil for the account's scopes, or else the profile's.
    @concurrent package func authorize(
        _ client: RequestingClient,
        scopes: [String]? = nil
    ) async -> Result<DeviceAuthorization, RefreshFailure> {
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: client)
            let fields = Self.fields(of: client, client.scopes(client.scopes(scopes, offeredBy: metadata)))
            guard let endpoint = metadata.endpoints.deviceAuthorization else {
                let name = "device_authorization_endpoint"
                throw client.lacking(
                    name,
                    "the server has no device authorization endpoint, or does not publish it",
                    in: metadata,
                    finding: .noDeviceEndpoint
                )
            }
            var post = servers.post(from: client, to: endpoint, metadata)
            post.role = .deviceAuthorization
            let conclusion = await post.run(fields) { (200...299).contains($0.status) && $1.holdsAnswer }
            if conclusion.row == nil, let body = conclusion.body {
                return .success(try DeviceAuthorization(body, for: client))
            }
            return .failure(client.failure(conclusion, hiding: [], now: servers.configuration.now()))
        } catch {
            return .failure(error)
        }
    }

    /// Asks the server once whether the person has confirmed (RFC 8628 §3.4).
    ///
    /// - Parameter scopes: the scopes of the request; nil for the account's or the profile's.
    @concurrent package func poll(
        _ deviceCode: Secret,
        as client: RequestingClient,
        scopes: [String]? = nil
    ) async -> DevicePollOutcome {
        let fields =
            [
                (name: "grant_type", value: "urn:ietf:params:oauth:grant-type:device_code"),
                ("device_code", deviceCode.reveal()), ("client_id", client.registration.clientID),
            ] + client.registration.targetFields
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: client)
            let check = IDTokenCheck(
                client,
                IDTokenCheck.Binding(scopes: client.scopes(scopes, offeredBy: metadata)),
                metadata,
                cache: servers.keySets
            )
            // The poll that brings the tokens spends the code. So the keys must be fetched before it.
            try await check.prepare()
            let grant = TokenEndpoint.GrantRequest(fields: fields, secrets: [deviceCode])
            let conclusion = await tokens.send(grant, as: client, metadata) { DevicePollWord($0) != nil }
            if let word = conclusion.body.flatMap(DevicePollWord.init), conclusion.row == nil {
                return outcome(word, client.failure(conclusion, hiding: [deviceCode], now: servers.configuration.now()))
            }
            guard conclusion.row == nil else {
                return .failed(
                    client.failure(conclusion, hiding: [deviceCode], now: servers.configuration.now())
                )
            }
            var outcome = await tokens.conclude(conclusion, of: grant, as: client, metadata, check)
            if case .success(let obtained) = outcome.result {
                outcome.result = .success(await people.identified(obtained, of: client, metadata))
            }
            return .obtained(outcome)
        } catch {
            return .failed(error)
        }
    }

    private func outcome(_ word: DevicePollWord, _ failure: RefreshFailure) -> DevicePollOutcome {
        switch word {
        case .pending: return .pending
        case .slowDown: return .slowDown
        case .expired: return .expired
        case .denied:
            var denied = failure
            denied.failureClass = .userRequired
            denied.detail.summary = "the person declined"
            return .denied(denied)
        }
    }
}

/// The error codes of RFC 8628 §3.5, and the variants that servers use.
private enum DevicePollWord {
    case pending, slowDown, denied, expired

    init?(_ body: AnswerBody) {
        switch ErrorReading(body.fields).error?.lowercased() {
        case "authorization_pending": self = .pending
        case "slow_down": self = .slowDown
        // Entra uses the second one.
        case "access_denied", "authorization_declined": self = .denied
        case "expired_token", "code_expired": self = .expired
        default: return nil
        }
    }
}

extension DeviceAuthorization {
    /// The longest user code that is shown, in characters. RFC 8628 §6.1 recommends 8.
    private static let userCodeLimit = 64

    /// Reads the answer of RFC 8628 §3.2.
    ///
    /// - Throws: if a required field is missing or cannot be used.
    init(_ body: AnswerBody, for client: RequestingClient) throws(RefreshFailure) {
        let fields = body.fields
        let isLocal = client.issuer.isLoopback
        // A remote server must not make a browser open a service on this machine.
        let page = { (text: String) in Endpoint(text).flatMap { !$0.isLoopback || isLocal ? $0 : nil } }
        // Google uses the name from the draft.
        let uri = fields["verification_uri"] ?? fields["verification_url"]
        guard let deviceCode = fields["device_code"]?.text, !deviceCode.isEmpty else {
            throw client.unusable("device_code", inAnswerOf: .deviceAuthorization)
        }
        guard let userCode = fields["user_code"]?.text, FailureText.clean(userCode, hiding: []) == userCode,
            userCode.count <= Self.userCodeLimit
        else { throw client.unusable("user_code", inAnswerOf: .deviceAuthorization) }
        guard let verification = uri?.text.flatMap(page) else {
            throw client.unusable("verification_uri", inAnswerOf: .deviceAuthorization)
        }
        let complete = fields["verification_uri_complete"] ?? fields["verification_url_complete"]
        self.deviceCode = Secret(deviceCode)
        self.userCode = userCode
        verificationURI = verification.url
        verificationURIComplete = complete?.text.flatMap(page)?.url
        // The field is required. Without it, the codes get ten minutes, as sign-ins in a browser do.
        let lifetime = fields["expires_in"]?.seconds ?? 600
        expiresIn = .seconds(Int64(min(max(lifetime, 1), 86_400)))
        // §3.2: 5 s if the server does not say.
        let interval = fields["interval"]?.seconds ?? 5
        self.interval = .seconds(Int64(min(max(interval, 1), 300)))
    }
}
