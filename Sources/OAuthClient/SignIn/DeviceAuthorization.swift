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
        ]
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
