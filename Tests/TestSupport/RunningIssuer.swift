package import DemoIssuer

/// Runs `body` against a started issuer with one public client, `app`, and shuts it down whatever happens.
package func withIssuer(
    clients: [DemoClient] = [DemoClient(id: "app")],
    policy: GrantPolicy = GrantPolicy(),
    issuer identifier: String? = nil,
    port: Int = 0,
    _ body: (_ issuer: DemoIssuer, _ url: String) async throws -> Void
) async throws {
    var configuration = IssuerConfiguration(clients: clients, policy: policy, port: port)
    configuration.issuer = identifier
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
