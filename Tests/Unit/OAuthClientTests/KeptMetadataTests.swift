import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Metadata of an earlier daemon, while the server is silent.
struct KeptMetadataTests {
    @Test func `kept metadata is used if the server does not answer, and leaves time for the request`() async throws {
        try await withServer({ request, _ in
            request.line.hasPrefix("GET") ? [] : [LoopbackServer.json(200, issuedTokens)]
        }) { server in
            let document = #"{"issuer":"\#(server.origin)","token_endpoint":"\#(server.origin)/token"}"#
            try await withClient({ $0.totalTimeout = .seconds(60) }) { client in
                let kept = KeptMetadata(
                    documents: [Array(document.utf8)],
                    fetchedAt: client.servers.configuration.now()
                )
                client.keepMetadata(in: MetadataStore(find: { _ in kept }, keep: { _, _ in true }))
                let request = RefreshRequest(
                    client: try requestingClient(at: server.origin),
                    refreshToken: RefreshToken(Secret("r1"))
                )
                #expect(await client.refresh(request).response != nil)
                // The fetch still goes on, so the second document has not been asked for.
                #expect(server.requests.map(\.line) == ["GET /.well-known/openid-configuration", "POST /token"])
            }
        }
    }
}
