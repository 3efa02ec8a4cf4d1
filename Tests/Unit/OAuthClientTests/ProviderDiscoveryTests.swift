import Foundation
import RefreshCore
import Testing
import Yams

@testable import OAuthClient
@testable import OAuthMessages

struct ProviderDiscoveryTests {
    /// The result of discovery at `path` of a server whose document, at each well-known path, is what `document`
    /// returns for its origin.
    private func discover(
        _ path: String = "",
        name: String? = nil,
        _ document: @escaping @Sendable (_ line: String, _ origin: String) -> String?
    ) async throws -> (text: String, origin: String) {
        let script: LoopbackServer.Script = { request, _ in
            guard request.line.contains("/openid-configuration"), let text = document(request.line, request.origin)
            else {
                return [LoopbackServer.answer(404)]
            }
            return [LoopbackServer.json(200, text)]
        }
        return try await withServer(script) { server in
            try await withClient { client in
                let text = try await client.inspection.discover(at: try Issuer(url: server.origin + path), name: name)
                return (text, server.origin)
            }
        }
    }

    private static func document(_ issuer: String, _ origin: String, _ extra: String = "") -> String {
        #"{"issuer":"\#(issuer)","token_endpoint":"\#(origin)/token","jwks_uri":"\#(origin)/keys"\#(extra)}"#
    }

    @Test func `a server whose answers have the status 000 ends the discovery, and nothing else`() async throws {
        try await withServer({ _, _ in [.send("HTTP/1.1 000 x\r\ncontent-length: 2\r\n\r\n{}")] }) { server in
            try await withClient { client in
                let issuer = try Issuer(url: server.origin)
                await #expect(throws: (any Error).self) {
                    try await client.inspection.discover(at: issuer, name: nil)
                }
                let request = try refreshRequest(to: server.origin)
                #expect(await client.refresh(request).failure != nil)
            }
        }
    }

    @Test func `the printed profile can be used at once`() async throws {
        let (text, origin) = try await discover(name: "mine") { _, origin in
            Self.document(origin, origin, #","scopes_supported":["openid","mail","offline_access"]"#)
        }
        let profile = try YAMLDecoder().decode(ProviderProfile.self, from: text)
        #expect(profile.name == "mine")
        #expect(profile.issuer?.url == origin)
        #expect(profile.signIn.scopes == ["openid", "offline_access"])
        #expect(profile.signIn.redirects == [.loopback, .paste])
        #expect(profile.tokenEndpoint == nil)
        #expect(text.contains("#   token_endpoint: \(origin)/token\n"))
        #expect(text.contains("#   jwks_uri: \(origin)/keys\n"))
        #expect(text.contains("#   scopes: openid mail offline_access\n"))
    }

    @Test func `without a name the profile is named after the host`() async throws {
        let (text, _) = try await discover { _, origin in Self.document(origin, origin) }
        #expect(try YAMLDecoder().decode(ProviderProfile.self, from: text).name == "127-0-0-1")
    }

    @Test func `another issuer that the document names is confirmed at its own address`() async throws {
        let (text, origin) = try await discover { _, origin in Self.document(origin + "/realm", origin) }
        #expect(try YAMLDecoder().decode(ProviderProfile.self, from: text).issuer?.url == origin + "/realm")
    }

    @Test func `an issuer with braces becomes a template`() async throws {
        let (text, origin) = try await discover("/common") { _, origin in
            Self.document(origin + "/{tenantid}", origin)
        }
        let profile = try YAMLDecoder().decode(ProviderProfile.self, from: text)
        #expect(profile.issuer?.url == origin + "/common")
        #expect(profile.issuerTemplate == origin + "/{tenantid}")
    }

    @Test func `a document that names an issuer on another host is not believed`() async throws {
        await #expect(throws: MetadataError.issuerMismatch(published: "https://evil.example")) {
            try await discover { _, origin in Self.document("https://evil.example", origin) }
        }
    }

    @Test func `an issuer that its own document does not confirm is not believed`() async throws {
        await #expect(throws: MetadataError.self) {
            try await discover { line, origin in
                line.contains("/realm") ? nil : Self.document(origin + "/realm", origin)
            }
        }
    }

    @Test func `text from a server cannot become a setting`() async throws {
        let (text, _) = try await discover { _, origin in
            Self.document(
                origin,
                origin,
                #","grant_types_supported":["a\ntoken_endpoint: https://evil.example","\u0085b: c"]"#
            )
        }
        let profile = try YAMLDecoder().decode(ProviderProfile.self, from: text)
        #expect(profile.tokenEndpoint == nil)
    }
}
