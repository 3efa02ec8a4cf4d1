import AuthRefreshInterface
import DemoIssuer
import Glibc
import TestSupport
import Testing

/// `authctl login --resource-server` needs only the address of a server that takes the tokens (RFC 9728).
struct ResourceServerTests {
    private func withStage(
        _ registration: GrantPolicy.Registration,
        _ body: (DaemonStage, DemoIssuer, ResourceServer) async throws -> Void
    ) async throws {
        var policy = GrantPolicy()
        policy.registration = registration
        try await withIssuer(policy: policy) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await body(stage, issuer, try ResourceServer(issuer: url))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    /// Signs in by `authctl login`, and returns the address that the browser was sent to.
    private func logIn(_ stage: DaemonStage, _ server: ResourceServer, _ options: String...) async throws -> String {
        let arguments = ["login", "notes", "--resource-server", server.url, "--flow", "browser", "--no-open"] + options
        let login = try Program("authctl", arguments, environment: stage.environment)
        let line = try await login.errors.first("the address") { $0.hasPrefix("  http") }
        let url = String(line.dropFirst(2))
        _ = try await RawWeb.get(try await Person().decide(at: url))
        #expect(try await login.ended() == .exited(0))
        return url
    }

    @Test func `the resource's address is enough for a client, a sign-in and tokens for the resource`() async throws {
        try await withStage(.open) { stage, issuer, server in
            let url = try await logIn(stage, server)
            #expect(url.contains("resource=http%3A%2F%2F127.0.0.1%3A"), "\(url)")
            #expect(url.contains("scope=read%20write") || url.contains("scope=read+write"), "\(url)")
            #expect(await issuer.entries().contains { $0.outcome == .registered })
            let shown = try await stage.authctl("account", "show", "notes", "--json")
            #expect(shown.output.contains("\"resource\" : \"\(server.url)\""), "\(shown)")
            let token = try await stage.acquire("notes").accessToken
            let headers = try await stage.authctl("token", "notes", "--format", "headers-json")
            #expect(headers.output == "{\"Authorization\":\"Bearer \(token)\"}")
            // The name is known now, and the account is for this resource.
            _ = try await logIn(stage, server)
            #expect(try await stage.statuses().map(\.account) == ["notes"])
        }
    }

    @Test func `a challenge says whose tokens the resource takes, and which account fits`() async throws {
        try await withStage(.open) { stage, issuer, server in
            _ = try await logIn(stage, server)
            let challenge = try await stage.authctl("challenge", "notes", "--header", server.challenge)
            #expect(challenge.end == .exited(0), "\(challenge)")
            #expect(challenge.errors.contains("'\(server.url)' accepts tokens of "), "\(challenge.errors)")

            try await withIssuer { other, url in
                try await stage.add("work", issuer: url, grant: other.issueGrant(clientID: "app"))
                let refused = try await stage.authctl("challenge", "work", "--header", server.challenge)
                #expect(refused.end == .exited(78), "\(refused)")
                #expect(refused.errors.contains("hint: this account fits: authctl token notes"), "\(refused.errors)")
            }
        }
    }

    @Test func `without registration the person's client is needed, and a URL may be one`() async throws {
        try await withStage(.closed) { stage, _, server in
            let login = ["login", "notes", "--resource-server", server.url, "--no-open"]
            let refused = try await stage.authctl(login)
            #expect(refused.end == .exited(78), "\(refused)")
            #expect(refused.errors.contains("--client-id ID"), "\(refused.errors)")
            #expect(try await stage.statuses().isEmpty)
            _ = try await logIn(stage, server, "--client-id", "app")
            let client = "https://me.example/client.json"
            let added = try await stage.authctl(
                ["account", "add", "other", "--resource-server", server.url, "--client-id", client]
            )
            #expect(added.end == .exited(0), "\(added)")
            let shown = try await stage.authctl("account", "show", "other", "--json")
            #expect(shown.output.contains("\"clientId\" : \"\(client)\""), "\(shown)")
        }
    }

    @Test func `a resource that names another one, or nothing, adds no account`() async throws {
        try await withStage(.open) { stage, _, server in
            for path in ["/evil", "/nothing"] {
                let refused = try await stage.authctl("login", "notes", "--resource-server", server.origin + path)
                #expect(refused.end == .exited(65), "\(refused)")
                #expect(refused.errors.contains("authctl: error: the URL cannot be used: it"), "\(refused.errors)")
            }
            let login = ["login", "notes", "--resource-server", server.origin + "/many", "--no-open"]
            let refused = try await stage.authctl(login)
            #expect(refused.end == .exited(64), "\(refused)")
            #expect(refused.errors.contains("1200 scopes") && refused.errors.contains("--scope"), "\(refused.errors)")
            #expect(try await stage.statuses().isEmpty)
        }
    }
}

/// A resource at `/api`, which refuses every request and says where its metadata is. The document of `/evil` names another
/// resource, and that of `/many` more scopes than can be asked for.
private final class ResourceServer: Sendable {
    let origin: String
    private let listener: Int32

    var url: String { origin + "/api" }
    var challenge: String {
        "Bearer error=\"invalid_token\", resource_metadata=\"\(origin)/.well-known/oauth-protected-resource/api\""
    }

    init(issuer: String) throws {
        let (listener, port) = try LoopbackSocket.listening()
        let origin = "http://127.0.0.1:\(port)"
        (self.listener, self.origin) = (listener, origin)
        let document = { (resource: String, scopes: [String]) in
            #"{"resource":"\#(resource)","authorization_servers":["\#(issuer)/"],"scopes_supported":\#(scopes)}"#
        }
        let some = ["read", "write"]
        let documents = [
            "api": document(origin + "/api", some), "evil": document("https://bank.example/api", some),
            "many": document(origin + "/many", (1...1200).map { "s\($0)" }),
        ]
        let challenge = self.challenge
        startThread {
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                var head = [UInt8](repeating: 0, count: 4096)
                let count = unsafe read(connection, &head, head.count)
                let words = String(decoding: head.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
                let path = words.count > 1 ? String(words[1]) : ""
                let name = path.split(separator: "/").last.map(String.init) ?? ""
                let body = path.hasPrefix("/.well-known/") ? documents[name] : nil
                let (status, field) =
                    switch (body, path) {
                    case (_?, _): ("200 OK", "Content-Type: application/json")
                    case (nil, "/api"): ("401 Unauthorized", "WWW-Authenticate: \(challenge)")
                    case (nil, _): ("404 Not Found", "X-None: 1")
                    }
                let text =
                    "HTTP/1.1 \(status)\r\n\(field)\r\nContent-Length: \((body ?? "").utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body ?? "")"
                _ = unsafe write(connection, text, text.utf8.count)
                close(connection)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}
