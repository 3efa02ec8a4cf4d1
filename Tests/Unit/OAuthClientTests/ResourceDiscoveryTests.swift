import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// What a resource server publishes about itself is found, and used only if it may be (RFC 9728).
struct ResourceDiscoveryTests {
    private static let wellKnown = "/.well-known/oauth-protected-resource"
    private static let issuer = "https://as.example"

    /// What the server answers to a path; nil for 404.
    private typealias Reply = @Sendable (_ path: String, _ origin: String) -> LoopbackServer.Step?

    private func discover(
        _ path: String = "/mcp",
        _ reply: @escaping Reply
    ) async throws -> (found: ProtectedResource, paths: [String], origin: String) {
        let script: LoopbackServer.Script = { request, _ in
            let path = request.line.dropFirst("GET ".count)
            return [reply(String(path), request.origin) ?? LoopbackServer.answer(404)]
        }
        return try await withServer(script) { server in
            try await withClient { client in
                let url = try #require(Endpoint(server.origin + path))
                let found = try await client.inspection.resource(at: url).published()
                #expect(server.requests.allSatisfy { $0.header("authorization") == nil && $0.body.isEmpty })
                return (found, server.requests.map { String($0.line.dropFirst("GET ".count)) }, server.origin)
            }
        }
    }

    private static func document(_ resource: String, _ more: String = "") -> LoopbackServer.Step {
        LoopbackServer.json(200, #"{"resource":"\#(resource)","authorization_servers":["\#(issuer)"]\#(more)}"#)
    }

    private static func challenge(_ parameters: String) -> LoopbackServer.Step {
        LoopbackServer.answer(401, ["WWW-Authenticate": "Bearer \(parameters)"])
    }

    /// Whether the document of `resource` at `place` (paths below the server's origin) is used for the resource at `/mcp`.
    private func isUsed(_ resource: String, at place: String, for path: String = "/mcp") async throws -> Bool {
        do {
            let found = try await discover(path) { path, origin in
                let name = resource.hasPrefix("/") || resource.isEmpty ? origin + resource : resource
                return path == place ? Self.document(name) : nil
            }
            return found.found.issuers.map(\.url) == [Self.issuer]
        } catch is Unpublished {
            return false
        }
    }

    @Test func `the challenge names the document and the scopes`() async throws {
        let (found, paths, origin) = try await discover { path, origin in
            path == "/mcp"
                ? Self.challenge(#"error="invalid_token", resource_metadata="\#(origin)/about", scope="read write""#)
                : path == "/about" ? Self.document(origin + "/mcp", #","scopes_supported":["all"]"#) : nil
        }
        #expect(paths == ["/mcp", "/about"])
        #expect(found.identifier.url == origin + "/mcp" && found.scopes == ["read", "write"] && !found.requiresDPoP)
    }

    @Test func `without a challenge the well-known address with the path is asked, then the host's`() async throws {
        let (found, paths, _) = try await discover { path, origin in
            path == Self.wellKnown ? Self.document(origin + "/mcp", #","scopes_supported":["all"]"#) : nil
        }
        #expect(paths == ["/mcp", Self.wellKnown + "/mcp", Self.wellKnown])
        #expect(found.scopes == ["all"])
        #expect(
            try await discover("/mcp?v=1") { path, origin in
                path == Self.wellKnown + "/mcp?v=1" ? Self.document(origin + "/mcp?v=1") : nil
            }.paths.count == 2
        )
    }

    @Test func `a challenge that names another host is not followed`() async throws {
        let elsewhere = try await LoopbackServer.start { _, _ in [Self.document("http://127.0.0.1/mcp")] }
        for address in [
            elsewhere.origin, "https://169.254.169.254/latest", "http://inner:8000/x", "file:///etc/passwd",
        ] {
            let (_, paths, _) = try await discover { path, origin in
                path == "/mcp"
                    ? Self.challenge(#"resource_metadata="\#(address)""#)
                    : path == Self.wellKnown + "/mcp" ? Self.document(origin + "/mcp") : nil
            }
            #expect(paths == ["/mcp", Self.wellKnown + "/mcp"])
        }
        #expect(elsewhere.requests.isEmpty)
        try await elsewhere.stop()
    }

    @Test(arguments: [("/mcp", "/mcp"), ("", ""), ("/", ""), ("", "/"), ("/", "/mcp"), ("", "/mcp/x")])
    func `a document speaks for its own resource, and the host's for what is below it`(
        resource: String,
        path: String
    ) async throws {
        #expect(try await isUsed(resource, at: resource == "/" ? Self.wellKnown : Self.wellKnown + resource, for: path))
    }

    @Test(arguments: [
        ("/mcp", "/mcp", true), ("/mcp/", "/mcp/", true), ("/mcp", "/about", false), ("/mc", "/mc", false),
    ])
    func `a challenge may name the document of a resource above it, at that resource's own address`(
        resource: String,
        place: String,
        isGood: Bool
    ) async throws {
        let place = place == "/about" ? place : Self.wellKnown + place
        let found = try? await discover("/mcp/x") { path, origin in
            path == "/mcp/x"
                ? Self.challenge(#"resource_metadata="\#(origin)\#(place)""#)
                : path == place ? Self.document(origin + resource) : nil
        }
        #expect((found != nil) == isGood)
    }

    private static let foreign: [(String, String)] = [
        ("https://other.example/mcp", wellKnown + "/mcp"), ("/mcpx", wellKnown + "/mcp"), ("/mc", wellKnown + "/mcp"),
        ("/mcp/x", wellKnown + "/mcp"), ("/mcp/", wellKnown + "/mcp"), ("/other", wellKnown), ("", wellKnown + "/mcp"),
        ("/mcp?tenant=2", wellKnown + "/mcp"), ("/mcp#x", wellKnown + "/mcp"), ("http://127.0.0.1:1/mcp", wellKnown),
    ]

    @Test(arguments: foreign)
    func `a document for another resource is not used`(resource: String, place: String) async throws {
        #expect(try await !isUsed(resource, at: place))
    }

    @Test func `the error names the other resource if it is on the same host`() async throws {
        let error = await #expect(throws: Unpublished.self) {
            try await discover { path, origin in path == "/mcp" ? nil : Self.document(origin + "/mcp/") }
        }
        guard case .unusable(let reason, let other?) = error?.finding else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("another resource") && other.hasSuffix("/mcp/"))
    }

    @Test(arguments: [
        "[]", "{}", "x=y", "null", #"{"resource":7,"authorization_servers":["https://as.example"]}"#,
        #"{"resource":"%","resource":"%","authorization_servers":["https://as.example"]}"#,
        #"{"resource":"%","authorization_servers":["https://as.example"]} {}"#, #"{"resource":"%"}"#,
        #"{"resource":"%","authorization_servers":"https://as.example"}"#,
        #"{"resource":"%","authorization_servers":[]}"#,
        #"{"resource":"%","authorization_servers":["http://as.example","as","https://u@as.example",""]}"#,
        #"{"resource":"%","authorization_servers":["https://as.example",7]}"#,
    ])
    func `a document with other types, repeated names or no issuer is refused`(text: String) async throws {
        await #expect(throws: Unpublished.self) {
            try await discover { path, origin in
                path == "/mcp" ? nil : LoopbackServer.json(200, text.replacing("%", with: origin + "/mcp"))
            }
        }
    }

    @Test func `a document of a resource that is too long, or has too many servers, is refused`() async throws {
        for (count, padding, isGood) in [
            (ProtectedResource.resourceServersMax, 0, true), (ProtectedResource.resourceServersMax + 1, 0, false),
            (1, ProtectedResource.resourceBytesMax, false), (1, 2 << 20, false),
        ] {
            let issuers = (0..<count).map { "\"https://as\($0).example\"" }.joined(separator: ",")
            let rest = #""authorization_servers":[\#(issuers)],"x":"\#(String(repeating: "x", count: padding))"}"#
            let found = try? await discover { path, origin in
                path == "/mcp" ? nil : LoopbackServer.json(200, #"{"resource":"\#(origin)/mcp",\#(rest)"#)
            }
            #expect((found?.found.issuers.count == count) == isGood)
        }
    }

    @Test func `scopes that are none are left out, and DPoP is noticed`() async throws {
        let found = try await discover { path, origin in
            path == "/mcp"
                ? nil
                : Self.document(
                    origin + "/mcp",
                    #","scopes_supported":["a","b c","","\"","d"],"dpop_bound_access_tokens_required":true"#
                )
        }.found
        #expect(found.scopes == ["a", "d"] && found.requiresDPoP)
    }

    @Test func `a remote resource cannot name a server on this machine`() throws {
        let text = """
            {"resource":"https://mcp.example/","authorization_servers":["http://127.0.0.1:8080","https://localhost/a",
            "https://as.example"]}
            """
        let found = try #require(ProtectedResource(Array(text.utf8)[...]))
        #expect(found.issuers.map(\.url) == [Self.issuer])
    }

    @Test func `redirects and pages are no documents, and a failing server is asked again later`() async throws {
        for step in [
            LoopbackServer.answer(302, ["location": "https://evil.example/"]),
            LoopbackServer.answer(200, [:], "<html>"),
            LoopbackServer.answer(405),
        ] {
            let error = await #expect(throws: Unpublished.self) { try await discover { _, _ in step } }
            guard case .unusable? = error?.finding else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        let error = await #expect(throws: Unpublished.self) {
            try await discover { _, _ in LoopbackServer.answer(503) }
        }
        guard case .unreachable? = error?.finding else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    // MARK: A challenge without the resource's URL

    private func follow(
        isLocal: Bool = true,
        place: String = wellKnown + "/mcp",
        resource: String = "/mcp"
    ) async throws -> ProtectedResource {
        let script: LoopbackServer.Script = { request, _ in [Self.document(request.origin + resource)] }
        return try await withServer(script) { server in
            try await withClient { client in
                let field = #"Basic realm="x", Bearer scope="read", resource_metadata="\#(server.origin)\#(place)""#
                return try await client.inspection.resource(challenging: field, isLocal: isLocal).published()
            }
        }
    }

    @Test func `a challenge is followed, and its document must be where the resource's documents are`() async throws {
        #expect(try await follow().scopes == ["read"])
        _ = try await follow(place: "/about")
        await #expect(throws: Unpublished.self) { try await follow(resource: "/other") }
        await #expect(throws: Unpublished.self) { try await follow(isLocal: false) }
        await #expect(throws: Unpublished.self) {
            try await withClient { client in
                try await client.inspection.resource(challenging: "Bearer", isLocal: true).published()
            }
        }
    }
}

/// A resource about which nothing is known.
private struct Unpublished: Error {
    let finding: ResourceFinding
}

extension ResourceFinding {
    fileprivate func published() throws -> ProtectedResource {
        guard case .published(let resource) = self else { throw Unpublished(finding: self) }
        return resource
    }
}
