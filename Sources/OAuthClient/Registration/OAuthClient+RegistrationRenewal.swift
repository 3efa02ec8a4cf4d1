import NIOHTTP1
package import RefreshCore

/// What became of a client's registration.
package struct RegistrationRenewal: Sendable {
    /// As it stands now, to be stored whatever failed: a server may change the secret and the management token with each answer, and
    /// takes the ones before no more (RFC 7592 §2.1, §2.2).
    package let registration: ClientRegistration
    /// Why the secret does not last longer; nil if it does.
    package let failure: RefreshFailure?
}

extension OAuthClient {
    /// Has the server give a client another secret before the present one ends: what it knows of the client is read and sent back
    /// (RFC 7592 §2.1, §2.2), which is when servers renew secrets.
    ///
    /// - Parameter keep: stores the registration as reading has made it, before anything else is sent with what is new in it; false
    ///   ends the renewal there.
    /// - Returns: nil if `keep` has ended it, which has all there is to store.
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
            let known = try await answer(to: nil, management, of: client, within: configuration.totalTimeout / 4)
            registration.renewed(by: known, at: client.issuer)
            if isRenewed(registration) { return RegistrationRenewal(registration: registration, failure: nil) }
            guard await keep(registration) else { return nil }
            var document = known.fields.filter { !Self.serversOwn.contains($0.key) }
            document["client_id"] = .string(registration.clientID)
            let renewed = try await answer(
                to: document,
                registration.management ?? management,
                of: client,
                within: configuration.totalTimeout * 3 / 4
            )
            registration.renewed(by: renewed, at: client.issuer)
            guard isRenewed(registration) else {
                throw client.misconfigured("the server keeps the client's registration, and its secret ends as before")
            }
            return RegistrationRenewal(registration: registration, failure: nil)
        } catch {
            return RegistrationRenewal(registration: registration, failure: error)
        }
    }

    /// What an update must not say (RFC 7592 §2.2); the secret is not ours to choose.
    private static let serversOwn: Set = [
        "registration_access_token", "registration_client_uri", "client_secret", "client_secret_expires_at",
        "client_id_issued_at",
    ]

    /// - Parameters:
    ///   - document: what the registration is to become; nil only reads it.
    ///   - limit: for both together what any request may take, which is less than the end of the daemon may (`TimeoutStopSec=`): what
    ///     a killed daemon was told is lost.
    private func answer(
        to document: [String: JSONValue]?,
        _ management: RegistrationManagement,
        of client: RequestingClient,
        within limit: Duration
    ) async throws(RefreshFailure) -> AnswerBody {
        guard let endpoint = Endpoint(management.uri) else {
            throw client.misconfigured("the address of the client's registration is none")
        }
        let message = HTTPExchange.Request(
            endpoint: endpoint,
            method: document == nil ? .GET : .PUT,
            headers: registrationHeaders(management.accessToken, client.profile),
            body: document.map { JSONValue.object($0).bytes },
            caFile: client.profile?.caFile
        )
        return try await reply(to: message, of: client, hiding: management.accessToken, within: limit) {
            (200...299).contains($0.status) && $1.fields["client_id"]?.text == client.registration.clientID
        }
    }
}

extension ClientRegistration {
    /// Takes over what the server says about the secret and the management of the registration; what it leaves out stays.
    fileprivate mutating func renewed(by answer: AnswerBody, at issuer: Issuer) {
        let said = RegistrationAnswer(answer.fields, from: issuer)
        clientSecret = said.secret ?? clientSecret
        if said.concernsSecret { clientSecretExpiresAt = said.secretExpiresAt }
        management = said.management(besides: management)
    }
}
