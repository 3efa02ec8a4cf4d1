import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// `authctl import` with a real daemon and a real authorization server. The other program is an `oidc-gen` that prints
/// what that of oidc-agent 4.2 prints. The tests run one at a time, because all processes of the machine share the
/// process table.
@Suite(.serialized) struct MovingInTests {
    @Test func `an account is moved with its grant, refreshed once, and ready for programs`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keep("work", issuer: url + "/", refreshToken: grant.refreshToken, in: stage)

            let table = try await OtherProgram.importing(stage, "--dry-run")
            #expect(table.output.contains("work  oidc-agent  encrypted  grant and settings"), "\(table)")
            #expect(await issuer.counters.refreshes == 0)

            let unasked = try await OtherProgram.importing(stage)
            #expect(unasked.output == table.output)
            #expect(unasked.errors.contains("nothing was taken over: name accounts, or use --all"))

            let moved = try await OtherProgram.importing(stage, "work")
            #expect(moved.end == .exited(0), "\(moved)")
            #expect(moved.output.hasPrefix("work: taken over from oidc-agent, and refreshed once\n"), "\(moved)")
            #expect(moved.output.contains("delete the file of 'work'"), "\(moved)")
            #expect(!(moved.output + moved.errors).contains(grant.refreshToken))
            #expect(await issuer.counters.refreshes == 1)

            #expect(try await stage.authctl("token", "work").end == .exited(0))
            let shown = try await stage.authctl("account", "show", "work", "--json")
            #expect(shown.output.contains("\"\(url)\"") && shown.output.contains("http://localhost:4242"), "\(shown)")
            #expect(await issuer.counters.spentTokenUses == 0)

            let again = try await OtherProgram.importing(stage, "work")
            #expect(again.end == .exited(64), "\(again)")
            #expect(again.errors.contains("authctl import --from oidc-agent work --as NEWNAME"), "\(again)")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an account whose program still runs is refused without a request to the server`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keep("work", issuer: url, refreshToken: grant.refreshToken, in: stage)
            let agent = stage.folder.path + "/oidc-agent"
            try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: agent)
            let running = try Program(agent, ["600"], environment: [:])
            let refused = try await OtherProgram.importing(stage, "work")
            running.signal(SIGTERM)
            try await running.ended()
            #expect(refused.end == .exited(75), "\(refused)")
            #expect(refused.errors.contains("oidc-agent is running (oidc-agent, process \(running.pid))"), "\(refused)")
            #expect(refused.errors.contains("oidc-add --remove work"), "\(refused)")
            #expect(try await stage.statuses().isEmpty)
            #expect(await issuer.counters.refreshes == 0)
            #expect(try await OtherProgram.importing(stage, "work").end == .exited(0))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a refused grant leaves no account behind`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try await issuer.revokeGrant(grant.family)
            try OtherProgram.keep("work", issuer: url, refreshToken: grant.refreshToken, in: stage)
            let refused = try await OtherProgram.importing(stage, "--all")
            #expect(refused.end == .exited(3), "\(refused)")
            #expect(refused.errors.contains("invalid_grant; the account was removed again"), "\(refused)")
            #expect(refused.output.isEmpty)
            #expect(try await stage.statuses().isEmpty)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `after a refusal that is not about the grant, the account keeps it`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keep("work", issuer: url, refreshToken: grant.refreshToken, in: stage)
            try await issuer.script(.answer(.oauthError("invalid_client")), times: nil)
            let kept = try await OtherProgram.importing(stage, "work")
            #expect(kept.end == .exited(78), "\(kept)")
            #expect(kept.output.contains("but not refreshed yet"), "\(kept)")
            #expect(try await stage.statuses().map(\.account) == ["work"])
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `if the server is down, the account stays and the daemon goes on trying`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            try OtherProgram.keep("work", issuer: url, refreshToken: grant.refreshToken, in: stage)
        }
        let kept = try await OtherProgram.importing(stage, "--json", "work", "--as", "moved")
        #expect(kept.end == .exited(75), "\(kept)")
        #expect(kept.output.contains(#""outcome" : "unproved""#), "\(kept)")
        #expect(try await stage.statuses().map(\.account) == ["moved"])
        #expect(try await daemon.terminate() == .exited(0))
    }
}

/// A folder like oidc-agent's, and a program that reads it.
private enum OtherProgram {
    /// Writes an account and the `oidc-gen` that prints it.
    static func keep(_ name: String, issuer: String, refreshToken: String, in stage: DaemonStage) throws {
        let account = """
            {"name": "\(name)", "issuer_url": "\(issuer)", "client_id": "app", "client_secret": "",
             "refresh_token": "\(refreshToken)", "scope": "openid", "redirect_uris": ["http://localhost:4242"]}
            """
        let program = "#!/bin/sh\n[ \"$1\" = -p ] && exec cat \"$HOME/.config/oidc-agent/$2\"\n"
        for folder in [".config/oidc-agent", "bin"] {
            try FileManager.default.createDirectory(
                atPath: stage.folder.path + "/" + folder,
                withIntermediateDirectories: true
            )
        }
        try stage.folder.write(account, to: ".config/oidc-agent/\(name)")
        try stage.folder.write("", to: ".config/oidc-agent/issuer.config")
        try stage.folder.write(program, to: "bin/oidc-gen")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: stage.folder.path + "/bin/oidc-gen"
        )
    }

    static func importing(_ stage: DaemonStage, _ arguments: String...) async throws -> CommandOutcome {
        let environment = stage.environment.merging(["PATH": stage.folder.path + "/bin:/usr/bin:/bin"]) { $1 }
        let program = try Program("authctl", ["import"] + arguments, environment: environment)
        let end = try await program.ended(within: .seconds(90))
        return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
    }
}
