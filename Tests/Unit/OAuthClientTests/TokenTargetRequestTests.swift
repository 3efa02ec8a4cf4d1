@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// The fields that a token target adds to a refresh request.
struct TokenTargetRequestTests {
    private func body(
        _ target: TokenTarget,
        _ registration: ClientRegistration = ClientRegistration(clientID: "c"),
        profile: ProviderProfile? = nil
    ) async throws -> String {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            var request = try refreshRequest(to: server.origin, registration: registration, profile: profile)
            request.target = target
            let outcome = try await withClient { await $0.refresh(request) }
            #expect(outcome.response != nil)
            return try #require(server.requests.first).body
        }
    }

    private static let start = "grant_type=refresh_token&refresh_token=sent-refresh-token"

    @Test func `scope, each resource and the audience are sent once`() async throws {
        let target = try TokenTarget(scopes: ["b", "a"], resources: ["urn:y", "https://x.example/"], audience: "z z")
        let expected = "&scope=a+b&resource=https%3A%2F%2Fx.example%2F&resource=urn%3Ay&audience=z+z&client_id=c"
        #expect(try await body(target) == Self.start + expected)
    }

    @Test func `claims are sent as requested, instead of the account's own`() async throws {
        let asked = #"{"id_token":{"acr":{"value":"2"}}}"#
        let registration = ClientRegistration(clientID: "c", refreshParameters: ["claims": #"{"own":null}"#])
        let sent = try formFields(await body(TokenTarget(claims: asked), registration))
        #expect(sent["claims"] == [asked])
    }

    @Test func `values of the target replace the account's parameters, and the others stay`() async throws {
        let registration = ClientRegistration(
            clientID: "c",
            refreshParameters: ["audience": "own", "resource": "urn:own", "x": "1"]
        )
        let target = try TokenTarget(resources: ["urn:asked"])
        #expect(
            try await body(target, registration) == Self.start + "&audience=own&x=1&resource=urn%3Aasked&client_id=c"
        )
    }

    @Test func `a refresh without a target names the grant's scope if required, in the server's form`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            try await withClient { client async throws in
                var profile = ProviderProfile(name: "commas")
                for separator in [nil, ","] as [String?] {
                    profile.scopeSeparator = separator
                    var request = try refreshRequest(to: server.origin, profile: profile)
                    request.scopes = ["files", "mail"]
                    _ = await client.refresh(request)
                }
            }
            #expect(server.requests.map { formFields($0.body)["scope"] } == [["files mail"], ["files,mail"]])
        }
    }

    @Test func `offline_access is asked for if the grant has it`() async throws {
        let granted = ClientRegistration(clientID: "c", scopes: ["mail", "offline_access"])
        let target = try TokenTarget(scopes: ["files"])
        #expect(try await body(target, granted) == Self.start + "&scope=files+offline_access&client_id=c")
        let named = ClientRegistration(clientID: "c", refreshParameters: ["scope": "mail offline_access"])
        #expect(try await body(target, named) == Self.start + "&scope=files+offline_access&client_id=c")
        #expect(try await body(target) == Self.start + "&scope=files&client_id=c")
        let resource = try TokenTarget(resources: ["urn:x"])
        #expect(try await body(resource, granted) == Self.start + "&resource=urn%3Ax&client_id=c")
    }

    @Test func `scopes are separated as the provider wants it`() async throws {
        var profile = ProviderProfile(name: "commas")
        profile.scopeSeparator = ","
        let granted = ClientRegistration(clientID: "c", refreshParameters: ["scope": "mail,offline_access"])
        let sent = try await body(TokenTarget(scopes: ["b", "a"]), granted, profile: profile)
        #expect(sent == Self.start + "&scope=a%2Cb%2Coffline_access&client_id=c")
    }
}
