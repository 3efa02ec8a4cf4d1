internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// What requests to servers need to know, and a question that follows some of them.
extension RefreshCoordinator {
    /// As whom a request of `account` is made.
    func requestingClient(of account: Account, correlationID: String) -> RequestingClient {
        RequestingClient(
            issuer: account.issuer,
            profile: settings.profile(for: account),
            registration: registrations.current(of: account.id, stored: account.registration),
            basicCredentialEncoding: account.basicCredentialEncoding,
            correlationID: correlationID
        )
    }

    /// Asks the server how long an access token lives (RFC 7662), if the answer did not say it and the profile says whom to ask.
    ///
    /// For tokens that came without a refresh token, the client has asked already. A refresh token must be stored first.
    func askLifetime(after decision: Decision) {
        let account = decision.record.account
        guard !isStopping, let (token, issuedAt) = decision.tokenOfUnknownLifetime,
            settings.profile(for: account)?.introspectionEndpoint != nil
        else { return }
        let correlationID = decision.arrival.correlationID ?? CorrelationID.new()
        let asking = requestingClient(of: account, correlationID: correlationID)
        // If all places are taken, the lifetime stays the assumed one.
        _ = beginServerCall { coordinator in
            if let lifetime = await coordinator.client.introspectedLifetime(of: token, as: asking) {
                coordinator.submit(.lifetimeLearned(lifetime, issuedAt: issuedAt), for: account.id)
            }
        }
    }
}
