import DemoIssuer

/// Runs `body` with a running issuer that has one public client, `app`. Shuts the issuer down in any case.
func withIssuer(
    clients: [DemoClient] = [DemoClient(id: "app")],
    policy: GrantPolicy = GrantPolicy(),
    now: (@Sendable () -> Duration)? = nil,
    _ body: (_ issuer: DemoIssuer, _ url: String) async throws -> Void
) async throws {
    var configuration = IssuerConfiguration(clients: clients, policy: policy)
    if let now { configuration.now = now }
    let issuer = DemoIssuer(configuration: configuration)
    let url = try await issuer.start()
    do {
        try await body(issuer, url)
        await issuer.shutdown()
    } catch {
        await issuer.shutdown()
        throw error
    }
}

/// A refresh by the public client `app`.
func refresh(_ url: String, _ refreshToken: String, _ more: String = "&client_id=app") async throws -> RawReply {
    try await RawClient.post(url + "/token", "grant_type=refresh_token&refresh_token=\(refreshToken)\(more)")
}
