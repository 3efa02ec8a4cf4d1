package import DemoIssuer

/// Runs `body` with a running issuer that has one public client, `app`. Shuts the issuer down in any case.
///
/// - Parameter now: the issuer's time since 1970; nil for the machine's.
package func withIssuer(
    clients: [DemoClient] = [DemoClient(id: "app")],
    policy: GrantPolicy = GrantPolicy(),
    issuer identifier: String? = nil,
    port: Int = 0,
    now: (@Sendable () -> Duration)? = nil,
    _ body: (_ issuer: DemoIssuer, _ url: String) async throws -> Void
) async throws {
    var configuration = IssuerConfiguration(clients: clients, policy: policy, port: port)
    configuration.issuer = identifier
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
