import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

@testable import authctl

/// What other tools get from a real daemon, in their own formats.
struct ToolTests {
    private static let question = "protocol=https\nhost=git.example.org\npath=team/app.git\n"

    /// Runs `body` with a signed-in account `work` for `https://git.example.org/team`. `idle`, which is signed out, has
    /// the rest of the host.
    private func withTools(
        profile: String? = nil,
        _ body: (DaemonStage, DemoIssuer) async throws -> Void
    ) async throws {
        var policy = GrantPolicy()
        policy.refreshesIDTokens = true
        try await withSignInStage(policy: policy, profile: profile, scopes: ["openid"]) { stage, daemon, issuer in
            let call = try stage.signIn()
            _ = try await RawWeb.get(try await Person().decide(at: try #require(call.started().url)))
            try await call.completed()
            let edited = try await stage.authctl(
                "account",
                "edit",
                "work",
                "--url",
                "HTTPS://Git.example.org:443/team/"
            )
            #expect(edited.end == .exited(0), "\(edited.errors)")
            let other = ["account", "add", "idle", "--issuer", "http://127.0.0.1:1", "--client-id", "x"]
            let added = try await stage.authctl(other + ["--url", "https://git.example.org/"])
            #expect(added.end == .exited(0), "\(added.errors)")
            try await body(stage, issuer)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func git(_ stage: DaemonStage, _ words: String..., input: String = question) async throws -> CommandOutcome
    {
        try await stage.authctl(["git-credential"] + words, input: input)
    }

    @Test func `exec gives the token only to the command, and ends as the command does`() async throws {
        try await withTools { stage, _ in
            let token = try await stage.acquire("work").accessToken
            let shown = try await stage.authctl("exec", "work", "--env", "T", "--", "/bin/sh", "-c", "echo $T; exit 9")
            #expect(shown.output == token && shown.end == .exited(9), "\(shown)")
            let killed = try await stage.authctl("exec", "work", "--env", "T", "--", "/bin/sh", "-c", "kill -KILL $$")
            #expect(killed.end == .signalled(SIGKILL))
            // A filter whose pipe nobody reads ends, and no core dump contains the token.
            let states = "sed -n 's/SigIgn:.//p' /proc/self/status; ulimit -c"
            let inherited = try await stage.authctl("exec", "work", "--env", "T", "--", "/bin/sh", "-c", states)
            let lines = inherited.output.split(separator: "\n")
            let ignored = try #require(lines.first.flatMap { UInt64($0, radix: 16) })
            let ours: UInt64 = 1 << (SIGPIPE - 1) | 1 << (SIGXFSZ - 1)
            #expect(ignored & ours == 0 && lines.last == "0", "\(inherited.output)")
            let refused = try await stage.authctl("exec", "idle", "--env", "T", "--", "/bin/echo", "started")
            #expect(refused.end == .exited(5) && refused.output.isEmpty)
        }
    }

    @Test func `Kubernetes and Google get the account's ID token`() async throws {
        try await withTools { stage, _ in
            let parameters = AcquireToken.Parameters(account: "work", idToken: true)
            let reply = try await stage.ask(.acquireToken, parameters, for: AcquireToken.Reply.self)
            let token = try #require(reply.idToken)

            let kube = try await stage.authctl("kube-credential", "work")
            let credential = try #require(
                try JSONSerialization.jsonObject(with: Data(kube.output.utf8)) as? [String: Any]
            )
            let status = try #require(credential["status"] as? [String: String])
            #expect(status["token"] == token.token)
            let end = try #require(status["expirationTimestamp"].flatMap { ISO8601DateFormatter().date(from: $0) })
            let margin = token.expiresAtUSec / 1_000_000 - Int64(end.timeIntervalSince1970)
            #expect((1...61).contains(margin), "the client keeps it for less than its whole life: \(margin) s")

            let google = try await stage.authctl("google-executable", "work")
            let answer = try #require(
                try JSONSerialization.jsonObject(with: Data(google.output.utf8)) as? [String: Any]
            )
            #expect(answer["id_token"] as? String == token.token && answer["success"] as? Bool == true)
            let signedOut = try await stage.authctl("kube-credential", "idle")
            #expect(signedOut.end == .exited(5) && signedOut.errors.contains("'idle' is signed out"), "\(signedOut)")
            let failed = try await stage.authctl("google-executable", "idle")
            #expect(failed.end == .exited(0) && failed.errors.isEmpty)
            #expect(failed.output.contains(#""success":false"#) && failed.output.contains("'idle'"))
        }
    }

    @Test func `git gets the token of the account with the longest address, and is told to stop by one without`()
        async throws
    {
        try await withTools(profile: "git_username: x-git\n") { stage, _ in
            let token = try await stage.acquire("work")
            let end = token.expiresAtUSec / 1_000_000
            let answer = "username=x-git\npassword=\(token.accessToken)\npassword_expiry_utc=\(end)"
            #expect(try await git(stage, "get").output == answer)
            let elsewhere = "protocol=https\nhost=git.example.org\npath=teams/app.git\n"
            let stopped = try await git(stage, "get", input: elsewhere)
            #expect(stopped.output == "quit=1" && stopped.end == .exited(5) && stopped.errors.contains("authctl "))
            for input in ["protocol=https\nhost=example.org\n", "protocol=http\nhost=git.example.org\npath=team/x\n"] {
                let silent = try await git(stage, "get", input: input)
                #expect(silent == CommandOutcome(output: "", errors: "", end: .exited(0)), "\(input)")
            }
            let spaces = "protocol=https\nhost=git.example.org\npath=team/My Project/app.git\n"
            #expect(try await git(stage, "get", input: spaces).output == answer, "git takes escapes out of paths")
            _ = try await stage.authctl("account", "edit", "work", "--username", "jane")
            #expect(try await git(stage, "get").output.hasPrefix("username=jane\n"))
            let other = try await git(stage, "get", input: Self.question + "username=joe\n")
            #expect(other.output == "quit=1", "the account of the whole host fits then")
        }
    }

    @Test func `the token of a named account goes only to an address where nobody reads it on the way`() async throws {
        try await withTools { stage, _ in
            let token = try await stage.acquire("work").accessToken
            let question = { (scheme: String) in "protocol=\(scheme)\nhost=other.example.org\n" }
            for scheme in ["https", "HTTPS", "imaps", "smtp"] {
                let given = try await git(stage, "--account", "work", "get", input: question(scheme))
                #expect(given.output.contains("password=\(token)\n"), "\(scheme): \(given)")
            }
            for scheme in ["http", "ftp", "git", "imap", "ssh", "file", "https ", "ht"] {
                let refused = try await git(stage, "--account", "work", "get", input: question(scheme))
                #expect(refused.output.isEmpty && refused.end == .exited(0), "\(scheme): \(refused)")
                #expect(refused.errors.contains("it could be read on the way"), "\(scheme): \(refused)")
            }
        }
    }

    @Test func `git gets a header if it and the profile support one`() async throws {
        try await withTools(profile: "git_authorization: bearer\n") { stage, _ in
            let token = try await stage.acquire("work").accessToken
            let header = try await git(stage, "get", input: "capability[]=authtype\n" + Self.question)
            #expect(header.output.contains("authtype=Bearer\ncredential=\(token)\nephemeral=1\n"), "\(header.output)")
            #expect(try await git(stage, "get").output.hasPrefix("username=oauth2\npassword=\(token)\n"))
        }
    }

    @Test func `an overlong request of git or docker gets an error and no answer`() async throws {
        let stage = try DaemonStage()
        let long = String(repeating: "a", count: StandardInput.inputBytesMax + 1)
        let git = try await stage.authctl("git-credential", "get", input: long)
        #expect(git.end == .exited(65) && git.output.isEmpty && git.errors.contains("longer than"))
        let docker = try await stage.authctl("docker-credential", "get", input: long)
        #expect(docker.end == .exited(1) && docker.output.contains("longer than"))
    }

    @Test func `a token rejected by git is replaced, if it is ours`() async throws {
        try await withTools { stage, issuer in
            let token = try await stage.acquire("work").accessToken
            let before = await issuer.counters.refreshes
            for password in ["another", token + "x", ""] {
                let erased = try await git(stage, "erase", input: Self.question + "password=\(password)\n")
                #expect(erased == CommandOutcome(output: "", errors: "", end: .exited(0)))
            }
            #expect(await issuer.counters.refreshes == before)
            let erased = try await git(stage, "erase", input: Self.question + "username=oauth2\npassword=\(token)\n")
            #expect(erased == CommandOutcome(output: "", errors: "", end: .exited(0)))
            let next = try await git(stage, "get").output
            #expect(next.contains("password=") && !next.contains(token), "however young the refused one was")
            // Another program's report about the same token comes too late to replace the new one.
            _ = try await git(stage, "erase", input: Self.question + "password=\(token)\n")
            #expect(try await git(stage, "get").output == next)
            #expect(await issuer.counters.refreshes == before + 1)
        }
    }

    @Test func `docker's tools get the token by the registry's address, and the list of addresses`() async throws {
        try await withTools { stage, issuer in
            let token = try await stage.acquire("work").accessToken
            let docker = { (operation: String, input: String) in
                try await stage.authctl(["docker-credential", operation], input: input)
            }
            let edit = [
                "account", "edit", "work", "--url", "http://localhost:5000", "--url", "https://ghcr.example.org/",
            ]
            _ = try await stage.authctl(edit + ["--username", "<token>"])
            for server in ["ghcr.example.org", "https://ghcr.example.org/v2/", "localhost:5000"] {
                let answer = try await docker("get", server)
                #expect(
                    answer.output == #"{"ServerURL":"\#(server)","Username":"<token>","Secret":"\#(token)"}"#,
                    "\(answer)"
                )
            }
            for server in ["quay.example.org", "http://ghcr.example.org", "git.example.org:5000", "registry:5000/x"] {
                let answer = try await docker("get", server)
                #expect(answer.output == "credentials not found in native keychain" && answer.end == .exited(1))
            }
            let list = try await docker("list", "")
            #expect(
                list.output
                    == #"{"http://localhost:5000":"<token>","https://ghcr.example.org/":"<token>","https://git.example.org/":"oauth2accesstoken"}"#
            )
            #expect(try await docker("erase", "ghcr.example.org").end == .exited(0))
            #expect(try await stage.acquire("work").accessToken != token)
            #expect(await issuer.counters.refreshes == 1)
            // A token that an account does not have is none that could be refused.
            let idle = try await docker("erase", "git.example.org")
            #expect(idle == CommandOutcome(output: "", errors: "", end: .exited(0)))
            let stored = try await docker("store", #"{"ServerURL":"ghcr.example.org","Username":"x","Secret":"y"}"#)
            #expect(stored.end == .exited(1) && stored.output.contains("stores no passwords"))
        }
    }

    @Test func `an unlisted program gets nothing by the account's address either`() async throws {
        try await withTools { stage, _ in
            _ = try await stage.authctl("account", "edit", "work", "--allow-unit", "nobody.service", "--yes")
            let refused = try await git(stage, "get")
            #expect(refused.output == "quit=1" && refused.end == .exited(77), "\(refused)")
            let docker = try await stage.authctl("docker-credential", "get", input: "git.example.org/team")
            #expect(
                docker.end == .exited(1) && docker.output.contains("not permitted") || docker.output.contains("work")
            )
            #expect(!docker.output.contains("Secret"))
        }
    }
}
