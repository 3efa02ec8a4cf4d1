import Basics
import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

@testable import authrefreshd

/// An account with a list of allowed callers, and two executables: `authctl`, and a copy of it that is on the list.
struct AllowedCallersTests {
    /// Runs `body` with `work`, which is fresh and allowed for the copy only.
    private func withList(
        _ body: (DaemonStage, _ copy: String, DemoIssuer, _ token: AcquireToken.Reply, DaemonProcess) async throws ->
            Void
    ) async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let copy = stage.folder.path + "/mail program"
            try FileManager.default.copyItem(atPath: Program.products + "/authctl", toPath: copy)
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let token = try await stage.acquire("work")
            let edit = try await stage.authctl("account", "edit", "work", "--allow-executable", copy, "--yes")
            #expect(edit.end == .exited(0), "\(edit.errors)")
            try await body(stage, copy, issuer, token, daemon)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func run(_ executable: String, _ arguments: [String], _ stage: DaemonStage) async throws -> CommandOutcome {
        let program = try Program(executable, arguments, environment: stage.environment)
        let end = try await program.ended()
        return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
    }

    @Test func `a listed program gets the token, any other is refused and named`() async throws {
        try await withList { stage, copy, _, token, _ in
            let allowed = try await run(copy, ["token", "work"], stage)
            #expect(allowed.output == token.accessToken, "\(allowed.errors)")
            for command in [
                ["token", "work"], ["account", "export", "work"], ["account", "edit", "work", "--scope", "x"],
            ] {
                let refused = try await stage.authctl(command)
                #expect(refused.end == .exited(77), "\(command)")
                #expect(refused.output == "", "\(command)")
                #expect(refused.errors.contains("not permitted: 'work' is for '\(copy)' only; the caller (pid "))
                #expect(refused.errors.contains("runs '\(Program.products)/authctl' in "), "\(refused.errors)")
                #expect(refused.errors.contains("authctl: hint: call from there; "))
            }
            let exported = try await run(copy, ["account", "export", "work"], stage)
            #expect(exported.output.contains("refreshToken"), "\(exported.errors)")
            // The test itself calls by Varlink, and is not on the list.
            let refusal = try await stage.refusal(of: "work", as: PermissionDeniedError.self)
            #expect(refusal.reason.contains("authrefreshdPackageTests.xctest"))
            await #expect(throws: TestFault.self) {
                try await stage.ask(
                    .reportRejected,
                    ReportRejected.Parameters(account: "work"),
                    for: ReportRejected.Reply.self
                )
            }
        }
    }

    @Test func `a caller outside the list is logged by account, process, executable and unit, and no secret is`()
        async throws
    {
        try await withList { stage, _, _, _, daemon in
            // A program can have any name. The name must not end the line, nor reach a terminal as a command.
            let other = stage.folder.path + "/other\u{9B}31m\n\u{202E}\u{61C}\u{2028}program"
            try FileManager.default.copyItem(atPath: Program.products + "/authctl", toPath: other)
            for command in [["token", "work"], ["account", "export", "work"]] {
                let seen = daemon.log.count
                let caller = try Program(other, command, environment: stage.environment)
                #expect(try await caller.ended() == .exited(77), "\(caller.errorText)")
                let line = try await daemon.log.first("the refusal", from: seen) { $0.contains("a caller was refused") }
                #expect(line.contains("authrefreshd: warning: "), "\(line)")
                #expect(line.contains("AUTHREFRESH_ACCOUNT=work"), "\(line)")
                #expect(
                    line.contains("the caller (pid \(caller.pid)) runs '\(stage.folder.path)/other 31m    program' in ")
                )
                #expect(line.contains("the unit '") || line.contains("in no unit"), "\(line)")
                #expect(!line.unicodeScalars.contains { $0.isSteering }, "\(line)")
            }
            // The prefixes of all tokens that the server issues.
            for secret in ["demo-at-", "demo-rt-"] { #expect(!daemon.logText.contains(secret)) }
        }
    }

    @Test func `repeated refusals do not fill the log, and hide no other refusal`() async throws {
        try await withList { stage, copy, _, _, daemon in
            try await withIssuer { issuer, url in
                try await stage.add("home", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            }
            let edit = try await stage.authctl("account", "edit", "home", "--allow-executable", copy, "--yes")
            #expect(edit.end == .exited(0), "\(edit.errors)")
            let linesMax = CallerLimits.refusalLinesMax
            let calls = linesMax + 30
            let answers = try await onOwnThread { [socket = stage.socket] in
                let caller = try RawConnection(socket)
                let call = #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work"}}"# + "\0"
                for _ in 0..<calls { try caller.send(call) }
                return try (0..<calls).map { _ in try caller.receive() }
            }
            #expect(answers.filter { $0.contains(PermissionDeniedError.name) }.count == calls)
            #expect(try await stage.authctl("token", "home").end == .exited(77))
            // Everything else is reported.
            #expect(try await stage.authctl("account", "remove", "work", "--yes").end == .exited(0))
            try await daemon.log.first("the end") { $0.contains("account removed") }
            let lines = daemon.log.all.filter { $0.contains("a caller was refused") }
            #expect(lines.count == linesMax + 1)
            #expect(lines.prefix(linesMax).allSatisfy { $0.contains("AUTHREFRESH_ACCOUNT=work") })
            let last = try #require(lines.last)
            #expect(last.contains("AUTHREFRESH_ACCOUNT=home"), "\(last)")
            #expect(last.contains("AUTHREFRESH_LEFT_OUT=\(calls - linesMax)"), "\(last)")
        }
    }

    @Test func `unlisted callers get the same refusal in every state, before any secret is opened`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let first = try await stage.start()
            let listed = ["valid", "ended", "broken", "sealed"]
            for name in listed + ["open"] {
                let grant = try await issuer.issueGrant(clientID: "app")
                if name == "ended" { try await issuer.revokeGrant(grant.family) }
                try await stage.add(name, issuer: url, grant: grant)
                if name == "ended" {
                    _ = try await stage.refusal(of: name, as: InteractionRequiredError.self)
                } else {
                    try await stage.acquire(name)
                }
            }
            for name in listed {
                let edit = try await stage.authctl(
                    "account",
                    "edit",
                    name,
                    "--allow-unit",
                    "no-such-unit.service",
                    "--yes"
                )
                #expect(edit.end == .exited(0), "\(edit.errors)")
            }
            #expect(try await first.terminate() == .exited(0))
            let broken = "SELECT id FROM account WHERE name IN ('broken', 'open')"
            try await stage.change(store: "UPDATE token SET sealed = zeroblob(64) WHERE account_id IN (\(broken))")
            try await stage.change(store: "UPDATE account SET client_secret = zeroblob(64) WHERE name = 'sealed'")
            let second = try await stage.start()
            // A caller who may open these tokens finds them damaged.
            _ = try await stage.refusal(of: "open", as: MisconfiguredError.self)
            for command in [["token"], ["account", "export"], ["account", "edit", "--lead-time", "5m"]] {
                var refusals: Set<String> = []
                for name in listed {
                    let refused = try await stage.authctl(command + [name])
                    #expect(refused.end == .exited(77), "\(refused.errors)")
                    let words = refused.errors.replacing(name, with: "NAME").replacing(/pid [0-9]+/, with: "pid")
                    refusals.insert(words)
                }
                #expect(refusals.count == 1, "\(refusals)")
            }
            try await second.log.first("the refusal of 'sealed'") {
                $0.contains("a caller was refused") && $0.contains("AUTHREFRESH_ACCOUNT=sealed")
            }
            #expect(try await second.terminate() == .exited(0))
        }
    }

    @Test func `an unlisted caller cannot spend the grant`() async throws {
        try await withList { stage, copy, issuer, _, _ in
            let requests = await issuer.counters.tokenRequests
            for command in [["refresh", "work"], ["token", "work", "--force"]] {
                #expect(try await stage.authctl(command).end == .exited(77), "\(command)")
            }
            #expect(await issuer.counters.tokenRequests == requests)
            let allowed = try await run(copy, ["refresh", "work"], stage)
            #expect(allowed.end == .exited(0), "\(allowed.errors)")
            #expect(await issuer.counters.tokenRequests == requests + 1)
        }
    }

    @Test func `an unlisted caller can see, repair and remove the account, but not change the list`() async throws {
        try await withList { stage, copy, issuer, _, _ in
            for clear in [["allow-executable"], ["allow-executable", "allow-unit"]] {
                let arguments = ["account", "edit", "work"] + clear.flatMap { ["--clear", $0] }
                #expect(try await stage.authctl(arguments).end == .exited(77))
            }
            #expect(try await stage.authctl("status", "work").end == .exited(0))
            let shown = try await stage.authctl("account", "show", "work")
            #expect(shown.output.contains("allowed program \(copy)"), "\(shown.output)")
            try await stage.importGrant(issuer.issueGrant(clientID: "app"), into: "work")
            // An imported token is not returned to a caller who is not allowed.
            _ = try await stage.refusal(of: "work", as: PermissionDeniedError.self)
            #expect(try await stage.authctl("logout", "work").end == .exited(0))
            #expect(try await stage.authctl("account", "remove", "work", "--yes").end == .exited(0))
        }
    }

    @Test func `a listed caller can remove the list`() async throws {
        try await withList { stage, copy, _, token, _ in
            let edit = try await run(copy, ["account", "edit", "work", "--clear", "allow-executable"], stage)
            #expect(edit.end == .exited(0), "\(edit.errors)")
            #expect(try await stage.authctl("token", "work").output == token.accessToken)
        }
    }

    @Test func `another program at the allowed one's path is refused`() async throws {
        try await withList { stage, copy, _, _, _ in
            try FileManager.default.removeItem(atPath: copy)
            try FileManager.default.copyItem(atPath: Program.products + "/authctl", toPath: copy + ".new")
            try FileManager.default.createSymbolicLink(atPath: copy, withDestinationPath: copy + ".new")
            #expect(try await stage.authctl("token", "work").end == .exited(77))
            // The list names a path: whatever its owner puts there, also through a link, is allowed.
            #expect(try await run(copy + ".new", ["token", "work"], stage).end == .exited(0))
        }
    }

    @Test(.enabled(if: isRoot, "needs root, to mount"))
    func `a program that a mount namespace shows at the allowed path is refused`() async throws {
        try await withList { stage, copy, _, _, _ in
            let script = #"mount --bind "$0" "$1" && exec "$1" token work"#
            let mount = ["--mount", "--propagation", "private", "/bin/sh", "-c", script]
            let disguised = try await run("/usr/bin/unshare", mount + [Program.products + "/authctl", copy], stage)
            #expect(disguised.end == .exited(77), "\(disguised)")
            // The path is right, as the kernel tells it, and the file is not.
            #expect(disguised.errors.contains("runs '\(copy)' in "), "\(disguised.errors)")
            #expect(disguised.output == "")
        }
    }

    @Test func `an unlisted caller gets no proof and no ID token, by a sign-in or a sign-out either`() async throws {
        func refuses(_ body: () async throws -> Void) async -> Bool {
            do {
                try await body()
            } catch TestFault.refused(PermissionDeniedError.name, _) {
                return true
            } catch {}
            return false
        }
        try await withList { stage, _, _, _, _ in
            let proof = ProvePossession.Parameters(account: "work", method: "GET", url: "https://api.example/")
            let isProofRefused = await refuses {
                _ = try await stage.ask(.provePossession, proof, for: ProvePossession.Reply.self)
            }
            #expect(isProofRefused)
            let end = SignOut.Parameters(account: "work", endSession: true)
            let isEndRefused = await refuses { _ = try await stage.ask(.signOut, end, for: SignOut.Reply.self) }
            #expect(isEndRefused)
            let call = try SignInCall(stage, StartSignIn.Parameters(account: "work", responseType: "id_token"))
            let isSignInRefused = await refuses { try await call.completed() }
            #expect(isSignInRefused)
            #expect(try await stage.status("work").state == "fresh")
        }
    }

    @Test func `a path without an executable file is refused, and so is a list without its caller, unless it is meant`()
        async throws
    {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let text = stage.folder.path + "/text"
            try "text".write(toFile: text, atomically: true, encoding: .utf8)
            let grant = try await issuer.issueGrant(clientID: "app").refreshToken
            let grantFile = stage.folder.path + "/grant"
            try grant.write(toFile: grantFile, atomically: true, encoding: .utf8)
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let new = [
                "account", "add", "home", "--issuer", url, "--client-id", "app", "--refresh-token-file", grantFile,
            ]
            for command in [["account", "edit", "work"], new] {
                for path in ["/nowhere", "/usr/bin", text] {
                    let refused = try await stage.authctl(command + ["--allow-executable", path, "--yes"])
                    #expect(refused.end == .exited(65), "\(refused)")
                    #expect(refused.errors.contains("'\(path)' is not an executable file"), "\(refused)")
                }
                for list in [["--allow-executable", "/usr/bin/true"], ["--allow-unit", "mail.service"]] {
                    let refused = try await stage.authctl(command + list)
                    #expect(refused.end == .exited(65), "\(refused)")
                    #expect(refused.errors.contains("runs '\(Program.products)/authctl' in "), "\(refused)")
                    #expect(refused.errors.contains("and is not on it"), "\(refused)")
                    #expect(refused.errors.contains("add --yes"), "\(refused)")
                }
            }
            #expect(try await stage.authctl("token", "work").end == .exited(0))
            let own = ["--allow-unit", "mail.service", "--allow-executable", Program.products + "/authctl"]
            #expect(try await stage.authctl(["account", "edit", "work"] + own).end == .exited(0))
            // Without the caller's part of the list, only the unit is left.
            let cleared = try await stage.authctl("account", "edit", "work", "--clear", "allow-executable")
            #expect(cleared.end == .exited(65) && cleared.errors.contains("add --yes"), "\(cleared)")
            // Whatever does not change the list needs no answer.
            #expect(try await stage.authctl("account", "edit", "work", "--lead-time", "5m").end == .exited(0))
            #expect(try await stage.authctl(["account", "edit", "work"] + own.suffix(2)).end == .exited(0))
            #expect(try await stage.authctl("account", "edit", "work", "--clear", "allow-unit").end == .exited(0))
            let added = try await stage.authctl(new + ["--allow-executable", "/usr/bin/true", "--yes", "--no-wait"])
            #expect(added.end == .exited(0), "\(added)")
            #expect(try await stage.authctl("token", "home").end == .exited(77))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a list of units refuses a process that is in none of them`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            #expect(
                try await stage.authctl("account", "edit", "work", "--allow-unit", "no-such-unit.service", "--yes").end
                    == .exited(0)
            )
            let refused = try await stage.authctl("token", "work")
            #expect(refused.end == .exited(77))
            #expect(refused.errors.contains("'work' is for the unit 'no-such-unit.service' only"))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}
