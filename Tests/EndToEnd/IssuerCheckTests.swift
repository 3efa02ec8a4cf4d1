import AuthRefreshInterface
import DemoIssuer
import Foundation
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
