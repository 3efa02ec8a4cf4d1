import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing

/// `authctl account add` and `login` have the daemon ask the server that they name.
struct IssuerCheckTests {
    private static let page = "/no-such-place"

    private func add(_ stage: DaemonStage, _ name: String, _ issuer: String, _ more: String...) async throws
        -> CommandOutcome
    {
        try await stage.authctl(["account", "add", name, "--issuer", issuer, "--client-id", "app"] + more)
    }

    @Test func `a wrong server is refused with the right command, which then works`()
        async throws
    {
        try await withIssuer { _, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            for wrong in [url + "/", url + Self.page] {
                let refused = try await add(stage, "work", wrong, "--scope", "openid")
                #expect(refused.end == .exited(65), "\(refused)")
                #expect(refused.errors.contains("authctl: error: '\(wrong)' cannot be the issuer: "))
                let right = "authctl account add work --issuer \(url) --client-id app --scope openid"
                #expect(refused.errors.contains("authctl: hint: \(right)\n"), "\(refused.errors)")
            }
            // No server has to be asked.
            let unasked = try await add(stage, "unasked", url + "/", "--offline")
            #expect(unasked.end == .exited(0))
            let login = try await stage.authctl(
                "login",
                "home",
                "--issuer",
                url + "/",
                "--client-id",
                "app",
                "--flow",
                "paste"
            )
            #expect(login.end == .exited(65))
            #expect(
                login.errors.hasSuffix(
                    "\nauthctl: hint: authctl login home --issuer \(url) --client-id app --flow paste"
                )
            )
            #expect(try await stage.statuses().map(\.account) == ["unasked"])
            #expect(try await add(stage, "work", url).end == .exited(0))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an unreachable server is added with a warning`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let url = "http://127.0.0.1:\(try HeldEndpoint.freePort())"
        let added = try await add(stage, "work", url)
        #expect(added.end == .exited(0))
        #expect(added.errors.contains("authctl: warning: '\(url)' could not be asked: "))
        #expect(try await stage.status("work").state == "signed-out")
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `an issuer that a profile knows is reported, and so is one on its host`() async throws {
        try await withIssuer { _, url in
            let stage = try DaemonStage()
            try FileManager.default.createDirectory(
                atPath: stage.folder.path + "/config/authrefreshd/providers.d",
                withIntermediateDirectories: true
            )
            try stage.folder.write("name: mine\nissuer: \(url)\n", to: "config/authrefreshd/providers.d/mine.yaml")
            let daemon = try await stage.start()
            let known = try await add(stage, "work", url)
            #expect(known.end == .exited(0))
            #expect(known.errors.contains("this server has the provider profile 'mine'"), "\(known.errors)")
            let near = try await add(stage, "home", url + "/")
            #expect(near.end == .exited(65))
            #expect(near.errors.contains("hint: authctl account add home --provider mine --client-id app\n"))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an issuer that a profile knows without its slash is refused also while nobody reaches it`()
        async throws
    {
        let stage = try DaemonStage()
        try FileManager.default.createDirectory(
            atPath: stage.folder.path + "/config/authrefreshd/providers.d",
            withIntermediateDirectories: true
        )
        let url = "http://127.0.0.1:\(try HeldEndpoint.freePort())"
        try stage.folder.write("name: mine\nissuer: \(url)\n", to: "config/authrefreshd/providers.d/mine.yaml")
        let daemon = try await stage.start()
        let refused = try await add(stage, "work", url + "/")
        #expect(refused.end == .exited(65))
        #expect(refused.errors.contains("'\(url)/' cannot be the issuer: "), "\(refused.errors)")
        #expect(refused.errors.contains("hint: authctl account add work --provider mine --client-id app\n"))
        #expect(try await stage.statuses().isEmpty)
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a tenant's domain is looked up at its server, which names the tenant`() async throws {
        let server = try TenantServer()
        let stage = try DaemonStage()
        let profile = """
            name: office
            variables:
              - {name: tenant, help: h, pattern: "[0-9a-f-]{36}", look_up: '[A-Za-z0-9-]+([.][A-Za-z0-9-]+)+'}
            issuer: \(server.url)/{tenant}/v2.0
            """
        try stage.folder.write(profile, to: "config/authrefreshd/providers.d/office.yaml")
        let daemon = try await stage.start()
        let add = { (name: String, tenant: String) in
            ["account", "add", name, "--provider", "office", "--client-id", "app", "--tenant", tenant]
        }
        let added = try await stage.authctl(add("work", TenantServer.domain))
        #expect(added.end == .exited(0), "\(added)")
        let shown = try await stage.authctl("account", "show", "work", "--json")
        #expect(shown.output.contains("\"tenant\" : \"\(TenantServer.tenant)\""), "\(shown)")
        #expect(!shown.output.contains(TenantServer.domain))
        #expect(try await stage.status("work").issuer == "\(server.url)/\(TenantServer.tenant)/v2.0")

        let unknown = try await stage.authctl(add("home", "nobody.example"))
        #expect(unknown.end == .exited(65) && unknown.errors.contains("nobody.example"), "\(unknown)")
        #expect(try await stage.statuses().map(\.account) == ["work"])
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a server that does not answer delays nobody else, and not the daemon's end`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("fresh", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("fresh")
            let silent = try HeldEndpoint()
            let adding = Task {
                try await add(stage, "slow", "http://127.0.0.1:\(silent.port)")
            }
            let connection = try await silent.request()
            try await stage.acquire("fresh")
            #expect(try await add(stage, "other", url).end == .exited(0))
            #expect(try await stage.statuses().map(\.account) == ["fresh", "other"])
            try await silent.answer(connection)
            let added = try await adding.value
            #expect(added.end == .exited(0), "\(added)")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}

/// A server with one tenant, which has an id and a domain, as Entra's.
private final class TenantServer: Sendable {
    static let domain = "contoso.onmicrosoft.com"
    static let tenant = "775527ff-9a37-4307-8b3d-cc311f58d925"

    let url: String
    private let listener: Int32

    init() throws {
        let (listener, port) = try LoopbackSocket.listening()
        (self.listener, url) = (listener, "http://127.0.0.1:\(port)")
        let known = [Self.domain, Self.tenant].map { "/\($0)/v2.0/.well-known/openid-configuration" }
        let metadata = """
            {"issuer": "\(url)/\(Self.tenant)/v2.0", "authorization_endpoint": "\(url)/authorize",
             "token_endpoint": "\(url)/token"}
            """
        startThread {
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                var head = [UInt8](repeating: 0, count: 4096)
                let count = unsafe read(connection, &head, head.count)
                let words = String(decoding: head.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
                let isKnown = words.dropFirst().first.map { known.contains(String($0)) } ?? false
                let (status, body) = isKnown ? ("200 OK", metadata) : ("404 Not Found", "")
                let text =
                    "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
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
