import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// The check of a server before an account is added.
struct IssuerCheckTests {
    /// What is found for the issuer at `path` of a server whose OpenID document is `document` at each path; nil if
    /// there is none.
    private func finding(
        _ path: String = "",
        profile: ProviderProfile? = nil,
        status: Int = 404,
        _ document: @escaping @Sendable (_ line: String, _ origin: String) -> String?
    ) async throws -> (finding: IssuerFinding?, origin: String) {
        let script: LoopbackServer.Script = { request, _ in
            guard request.line.contains("/openid-configuration"), let text = document(request.line, request.origin)
            else { return [LoopbackServer.answer(status)] }
            return [LoopbackServer.json(200, text)]
        }
        return try await withServer(script) { server in
            try await withClient { client in
                let issuer = try Issuer(url: server.origin + path)
                return (await client.inspection.finding(about: issuer, profile: profile), server.origin)
            }
        }
    }

    private static let notPublished = "it publishes no metadata of an authorization server (HTTP 404)"

    private static func document(_ issuer: String, _ origin: String) -> String {
        #"{"issuer":"\#(issuer)","token_endpoint":"\#(origin)/token"}"#
    }

    @Test func `a server that confirms its issuer is accepted`() async throws {
        let (finding, _) = try await finding { _, origin in Self.document(origin, origin) }
        #expect(finding == nil)
    }

    @Test(arguments: [("", "/"), ("/x/", "/x"), ("/x", "/y")])
    func `a server that names another issuer is reported with that issuer`(asked: String, published: String)
        async throws
    {
        let (finding, origin) = try await finding(asked) { _, origin in Self.document(origin + published, origin) }
        let other = try Issuer(url: origin + published)
        #expect(finding == .contradicted(reason: "the server says that its issuer is '\(other.url)'", other: other))
    }

    @Test func `a published issuer that is invalid is not proposed`() async throws {
        let (finding, _) = try await finding { _, origin in Self.document("http://as.example/'; date", origin) }
        let reason = "the server says that its issuer is 'http://as.example/'; date'"
        #expect(finding == .contradicted(reason: reason, other: nil))
    }

    @Test(arguments: [
        "/realms/x/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/realms/x",
        "/realms/x/protocol/openid-connect/token", "/realms/x/account",
    ])
    func `the issuer is found above an address that somebody copied`(asked: String) async throws {
        let (finding, origin) = try await finding(asked) { line, origin in
            line == "GET /realms/x/.well-known/openid-configuration"
                ? Self.document(origin + "/realms/x", origin) : nil
        }
        let other = try Issuer(url: origin + "/realms/x")
        #expect(finding == .contradicted(reason: Self.notPublished, other: other))
    }

    @Test func `the issuer at the root of the host is found if the longer path has no document`() async throws {
        let (finding, origin) = try await finding("/oauth/token") { line, origin in
            line == "GET /.well-known/openid-configuration" ? Self.document(origin, origin) : nil
        }
        let other = try Issuer(url: origin)
        #expect(finding == .contradicted(reason: Self.notPublished, other: other))
    }

    @Test func `a server that no longer answers is not asked for every address above`() async throws {
        let script: LoopbackServer.Script = { request, _ in
            request.line.hasSuffix("/a/b/c") || request.line.hasPrefix("GET /a/b/c/")
                ? [LoopbackServer.answer(404)] : [.close]
        }
        try await withServer(script) { server in
            try await withClient { client in
                let issuer = try Issuer(url: server.origin + "/a/b/c")
                let finding = await client.inspection.finding(about: issuer, profile: nil)
                #expect(finding == .contradicted(reason: Self.notPublished, other: nil))
            }
            // An address has two documents (OpenID Connect Discovery §4, RFC 8414 §3).
            #expect(
                server.requests.map(\.line).filter { !$0.contains("/a/b/c") } == [
                    "GET /a/b/.well-known/openid-configuration", "GET /.well-known/oauth-authorization-server/a/b",
                ]
            )
        }
    }

    @Test func `a server that is no authorization server is reported as such`() async throws {
        let (finding, _) = try await finding("/x") { _, _ in nil }
        #expect(finding == .contradicted(reason: Self.notPublished, other: nil))
    }

    @Test(arguments: [("/login", false), ("https://www.as.example/x", true)])
    func `the target of a redirect is shown`(target: String, isElsewhere: Bool) async throws {
        try await withServer({ _, _ in [LoopbackServer.answer(301, ["location": target])] }) { server in
            try await withClient { client in
                let issuer = try Issuer(url: server.origin)
                let finding = await client.inspection.finding(about: issuer, profile: nil)
                let elsewhere = "it redirects to another host, '\(target)', which is not followed"
                let here = "it redirects to '\(target)', which is not followed"
                #expect(
                    finding == (isElsewhere ? .unreachable(reason: elsewhere) : .contradicted(reason: here, other: nil))
                )
            }
        }
    }

    @Test func `metadata without a token endpoint counts as no authorization server`() async throws {
        let (finding, _) = try await finding { _, origin in #"{"issuer":"\#(origin)"}"# }
        #expect(finding == .contradicted(reason: "its metadata names no token endpoint", other: nil))
    }

    @Test func `a server that cannot answer now is not contradicted`() async throws {
        let (finding, _) = try await finding(status: 503) { _, _ in nil }
        #expect(finding == .unreachable(reason: "the server's metadata is unavailable now (HTTP 503)"))
    }

    @Test func `a port without a listener is not contradicted`() async throws {
        let finding = try await withClient { client in
            await client.inspection.finding(about: try Issuer(url: "http://127.0.0.1:1"), profile: nil)
        }
        let row = FailureTable.standard.row(
            for: FailureSignal(TransportFailure(cause: .connection, wasSent: false), now: Timestamp(microseconds: .max))
        )
        #expect(finding == .unreachable(reason: row.summary))
    }

    @Test func `a profile that names the token endpoint needs no answer`() async throws {
        let profile = ProviderProfile(name: "p", tokenEndpoint: Endpoint("http://127.0.0.1:1/token"))
        let (finding, _) = try await finding("/x", profile: profile) { _, _ in nil }
        #expect(finding == nil)
    }
}
