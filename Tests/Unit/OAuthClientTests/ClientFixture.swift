@testable import RefreshCore

@testable import OAuthClient
@testable import OAuthMessages

/// Runs a test with a client that has short limits and no proxy, and shuts it down afterwards.
func withClient<Value>(
    _ change: (inout OAuthClientConfiguration) -> Void = { _ in },
    _ body: (OAuthClient) async throws -> Value
) async throws -> Value {
    var configuration = OAuthClientConfiguration()
    configuration.proxy = .direct
    configuration.totalTimeout = .seconds(120)
    configuration.answerTimeout = .seconds(120)
    change(&configuration)
    let client = OAuthClient(configuration: configuration)
    do {
        let value = try await body(client)
        await client.shutdown()
        return value
    } catch {
        await client.shutdown()
        throw error
    }
}

/// Runs a test with a server.
func withServer<Value>(
    _ script: @escaping LoopbackServer.Script,
    _ body: (LoopbackServer) async throws -> Value
) async throws -> Value {
    let server = try await LoopbackServer.start(script: script)
    do {
        let value = try await body(server)
        try await server.stop()
        return value
    } catch {
        try await server.stop()
        throw error
    }
}

/// A client of the server at `origin`.
func requestingClient(
    at origin: String,
    registration: ClientRegistration = ClientRegistration(clientID: "client"),
    profile: ProviderProfile? = nil,
    encoding: BasicCredentialEncoding? = nil
) throws -> RequestingClient {
    RequestingClient(
        issuer: try Issuer(url: origin),
        profile: profile,
        registration: registration,
        basicCredentialEncoding: encoding,
        correlationID: "correlation-1"
    )
}

/// A request to the token endpoint of `server`, without discovery. `rehearses` says whether there is a revocation
/// endpoint.
func refreshRequest(
    to origin: String,
    registration: ClientRegistration = ClientRegistration(clientID: "client"),
    profile: ProviderProfile? = nil,
    encoding: BasicCredentialEncoding? = nil,
    token: String = "sent-refresh-token",
    hasWorkedBefore: Bool = false,
    rehearses: Bool = false
) throws -> RefreshRequest {
    var profile = profile ?? ProviderProfile(name: "test")
    profile.tokenEndpoint = Endpoint(origin + "/token")
    if rehearses { profile.revocationEndpoint = Endpoint(origin + "/revoke") }
    return RefreshRequest(
        client: try requestingClient(at: origin, registration: registration, profile: profile, encoding: encoding),
        refreshToken: RefreshToken(Secret(token)),
        hasWorkedBefore: hasWorkedBefore
    )
}

extension RefreshOutcome {
    var response: TokenResponse? { try? result.get() }

    var failure: RefreshFailure? {
        switch result {
        case .success: nil
        case .failure(let failure): failure
        }
    }
}

let issuedTokens = #"{"access_token":"a1","token_type":"Bearer","expires_in":3600,"refresh_token":"r2"}"#

extension OAuthClient {
    /// The metadata of a server without a profile, from memory if it is fresh.
    func metadata(of issuer: Issuer) async throws(MetadataError) -> AuthorizationServerMetadata {
        try await servers.cache.metadata(for: MetadataCache.Key(issuer: issuer, profile: nil))
    }
}
