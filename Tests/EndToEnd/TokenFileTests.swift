import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// The files that hold accounts' tokens.
struct TokenFileTests {
    /// Runs `body` with one account, `work`, whose token is in the file `work`.
    private func withFile(
        environment: (DaemonStage) -> [String: String] = { _ in [:] },
        _ body: (DaemonStage, DaemonProcess, DemoIssuer) async throws -> Void
    ) async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            let daemon = try await stage.start(environment: environment(stage))
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            let edited = try await stage.authctl("account", "edit", "work", "--token-file")
            #expect(edited.end == .exited(0), "\(edited.errors)")
            try await body(stage, daemon, issuer)
            // A test that ends this daemon also ends the next one.
            guard daemon.isRunning else { return }
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func folder(_ stage: DaemonStage) -> String { stage.folder.path + "/run/authrefreshd/tokens" }

    private func content(_ stage: DaemonStage, _ name: String = "work") -> String? {
        try? String(contentsOfFile: folder(stage) + "/" + name, encoding: .utf8)
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    /// The status of the token file, once `isWanted` accepts it. Each answer of the daemon comes after the batch in
    /// progress or a later turn.
    private func status(_ stage: DaemonStage, until isWanted: (TokenFileStatus) -> Bool) async throws -> TokenFileStatus
    {
        let end = ContinuousClock.now + .patience
        while ContinuousClock.now < end {
            if let file = try await stage.status("work").tokenFile, isWanted(file) { return file }
        }
        throw TestFault.timedOut(waitingFor: "the token file")
    }

    /// Refreshes, and waits until the file is written again.
    private func refresh(_ stage: DaemonStage) async throws -> String {
        let before = try await stage.status("work").tokenFile?.writtenAtUSec ?? 0
        let token = try await stage.acquire("work", force: true).accessToken
        _ = try await status(stage) { $0.writtenAtUSec ?? 0 > before && $0.trouble == nil && content(stage) == token }
        return token
    }

    @Test func `the file follows every refresh, is private, and is removed at the sign-out`() async throws {
        try await withFile { stage, _, _ in
            #expect(content(stage) == (try await stage.acquire("work").accessToken))
            #expect(try mode(folder(stage)) == 0o700)
            #expect(try mode(folder(stage) + "/work") == 0o600)
            let next = try await refresh(stage)
            #expect(content(stage) == next)
            let shown = try await stage.authctl("status", "work")
            #expect(shown.output.contains("work: token file \(folder(stage))/work, written "), "\(shown)")
            // The owner chooses the name of the file; it is not the account's name.
            #expect(try await stage.authctl("account", "rename", "work", "job").end == .exited(0))
            #expect(content(stage) == next)
            #expect(try await stage.authctl("logout", "job").end == .exited(0))
            #expect(content(stage) == nil)
            #expect(try await stage.status("job").tokenFile?.writtenAtUSec == nil)
        }
    }

    @Test func `a restart writes the files again, and removes those without an account`() async throws {
        try await withFile { stage, daemon, _ in
            let token = content(stage)
            #expect(try await daemon.kill() == .signalled(9))
            try stage.folder.write("stale", to: "run/authrefreshd/tokens/other")
            try stage.folder.write("half", to: "run/authrefreshd/tokens/.work")
            try FileManager.default.removeItem(atPath: folder(stage) + "/work")
            let again = try await stage.start()
            _ = try await status(stage) { $0.writtenAtUSec != nil }
            #expect(content(stage) == token)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder(stage))
            #expect(Set(names) == [".made by authrefreshd", "work"])
            #expect(try await stage.authctl("account", "edit", "work", "--clear", "token-file").end == .exited(0))
            #expect(content(stage) == nil)
            #expect(try await stage.authctl("account", "edit", "work", "--token-file", "w").end == .exited(0))
            #expect(content(stage, "w") == token)
            #expect(try await stage.authctl("account", "remove", "work", "--yes").end == .exited(0))
            #expect(content(stage, "w") == nil)
            #expect(try await again.terminate() == .exited(0))
        }
    }

    @Test func `each kind of file has the content that its readers parse`() async throws {
        try await withFile { stage, _, _ in
            let token = try await stage.acquire("work").accessToken
            func edit(_ kind: String) async throws {
                let edited = try await stage.authctl("account", "edit", "work", "--token-file-kind", kind)
                #expect(edited.end == .exited(0), "\(edited.errors)")
            }
            try await edit("json")
            let printed = try await stage.authctl("token", "work", "--json").output
            let written = content(stage)
            // The stage removes the last line break.
            #expect(written == printed + "\n")
            try await edit("bearer-header")
            #expect(content(stage) == "Authorization: Bearer \(token)\n")
            try await edit("id")
            #expect(content(stage) == nil)
            let status = try await stage.authctl("status", "work")
            #expect(status.output.contains("there is no ID token: sign in with the scope 'openid'"), "\(status)")
            try await edit("access")
            #expect(content(stage) == token)
        }
    }

    @Test func `two accounts never share a file, and an account with confirmation has none`() async throws {
        try await withFile { stage, _, _ in
            let issuer = try await stage.status("work").issuer
            try await stage.add("home", issuer: issuer)
            let refused = try await stage.authctl("account", "edit", "home", "--token-file", "work")
            #expect(refused.end != .exited(0))
            #expect(refused.errors.contains("'work' is already the token file of 'work'"), "\(refused.errors)")
            let confirmed = try await stage.authctl("account", "edit", "work", "--confirm")
            #expect(
                confirmed.end != .exited(0) && confirmed.errors.contains("the daemon cannot ask you"),
                "\(confirmed)"
            )
            #expect(try await stage.authctl("account", "edit", "home", "--confirm").end == .exited(0))
            #expect(try await stage.authctl("account", "edit", "home", "--token-file").end != .exited(0))
            let listed = try await stage.authctl("account", "edit", "work", "--allow-unit", "mail.service", "--yes")
            #expect(listed.end == .exited(0))
            #expect(
                listed.errors.contains("warning: every program of yours can read the token file 'work'"),
                "\(listed)"
            )
        }
    }

    @Test func `with the server down the file stays until its token expires`() async throws {
        try await withFile { stage, _, issuer in
            let token = try await stage.acquire("work", force: true)
            _ = try await status(stage) { _ in content(stage) == token.accessToken }
            await issuer.shutdown()
            #expect(try await stage.authctl("refresh", "work").end == .exited(75))
            #expect(content(stage) == token.accessToken)
            try await stage.pass(until: token.expiresAtUSec)
            _ = try await status(stage) { $0.writtenAtUSec == nil }
            #expect(content(stage) == nil)
        }
    }

    @Test func `a removed folder is created again with the next refresh`() async throws {
        try await withFile { stage, _, _ in
            try FileManager.default.removeItem(atPath: folder(stage))
            let next = try await refresh(stage)
            #expect(content(stage) == next)
        }
    }

    @Test(arguments: ["link", "file"])
    func `a foreign object in the folder's place is not used, is reported once, and delays nobody`(
        kind: String
    ) async throws {
        try await withFile { stage, daemon, _ in
            try FileManager.default.removeItem(atPath: folder(stage))
            let elsewhere = stage.folder.path + "/elsewhere"
            try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
            if kind == "link" {
                try FileManager.default.createSymbolicLink(atPath: folder(stage), withDestinationPath: elsewhere)
            } else {
                try stage.folder.write("", to: "run/authrefreshd/tokens")
            }
            for _ in 0..<2 {
                try await stage.acquire("work", force: true)
                _ = try await status(stage) { $0.trouble != nil }
            }
            let told = try await daemon.log.first("the journal's line") {
                $0.contains("a token file could not be written")
            }
            #expect(told.contains("symbolic link"))
            #expect(daemon.logText.components(separatedBy: "a token file could not be written").count == 2)
            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
            #expect(try await stage.authctl("status").output.contains("its token file has a problem"))
            try FileManager.default.removeItem(atPath: folder(stage))
            let next = try await refresh(stage)
            #expect(content(stage) == next)
            try await daemon.log.first("the end") { $0.contains("all token files are written again") }
        }
    }

    @Test func `on a full disk the old token stays until the next one can be written completely`() async throws {
        let faulty: (DaemonStage) -> [String: String] = { stage in
            [
                "LD_PRELOAD": Program.products + "/libFaultyFiles.so",
                "FAULTY_FILES": stage.folder.path + "/run/authrefreshd/tokens",
                "FAULTY_FILES_ORDER": stage.folder.path + "/order",
            ]
        }
        try await withFile(environment: faulty) { stage, daemon, _ in
            let old = try #require(content(stage))
            // ENOSPC.
            try stage.folder.write("errno 28", to: "order")
            let token = try await stage.acquire("work", force: true).accessToken
            let file = try await status(stage) { $0.trouble != nil }
            #expect(file.trouble?.contains("No space left on device") == true)
            #expect(content(stage) == old && token != old)
            try FileManager.default.removeItem(atPath: stage.folder.path + "/order")
            let next = try await refresh(stage)
            #expect(content(stage) == next)
            try await daemon.log.first("the end") { $0.contains("all token files are written again") }
        }
    }

    @Test func `a link leads to the file where a program looks for it, and replaces nothing`() async throws {
        try await withFile { stage, _, _ in
            let link = stage.folder.path + "/run/bt 1%"
            let settings = stage.folder.path + "/config/user-tmpfiles.d/authrefresh-work.conf"
            let made = try await stage.authctl("account", "link-token-file", "work", link)
            #expect(made.end == .exited(0), "\(made)")
            #expect(try String(contentsOfFile: link, encoding: .utf8) == content(stage))
            #expect(
                try String(contentsOfFile: settings, encoding: .utf8).hasSuffix(
                    "\nL \"%t/bt 1%%\" - - - - %t/authrefreshd/tokens/work\n"
                )
            )
            // Linking again is not an error.
            #expect(try await stage.authctl("account", "link-token-file", "work", link).end == .exited(0))
            if FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-tmpfiles") {
                try FileManager.default.removeItem(atPath: link)
                let words = ["--user", "--create", settings]
                let program = try Program("/usr/bin/systemd-tmpfiles", words, environment: stage.environment)
                #expect(try await program.ended() == .exited(0))
                #expect(try String(contentsOfFile: link, encoding: .utf8) == content(stage))
            }
            let gone = try await stage.authctl("account", "link-token-file", "work", link, "--remove")
            #expect(gone.end == .exited(0), "\(gone)")
            #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == nil)
            #expect(!FileManager.default.fileExists(atPath: settings))

            try stage.folder.write("foreign", to: "run/taken")
            let taken = try await stage.authctl("account", "link-token-file", "work", stage.folder.path + "/run/taken")
            #expect(taken.end != .exited(0) && taken.errors.contains("never replaced"), "\(taken)")
            #expect(!FileManager.default.fileExists(atPath: settings))
            try stage.folder.write("foreign", to: "config/user-tmpfiles.d/authrefresh-work.conf")
            #expect(try await stage.authctl("account", "link-token-file", "work", link).end != .exited(0))
            #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == nil)
        }
    }

    @Test func `figures are replaced atomically, and every user may read them`() async throws {
        try await withFile { stage, _, _ in
            let file = stage.folder.path + "/figures.prom"
            try stage.folder.write("old", to: "figures.prom")
            #expect(try await stage.authctl("metrics", "--output", file).end == .exited(0))
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("authrefresh_accounts{state=\"fresh\"} 1\n"))
            #expect(text.contains("authrefresh_refreshes_total 1\n"))
            #expect(try mode(file) == 0o644)
            let names = try FileManager.default.contentsOfDirectory(atPath: stage.folder.path)
            #expect(names.filter { $0.hasPrefix("figures") } == ["figures.prom"])
            #expect(try await stage.authctl("metrics", "--output", "/nowhere/x.prom").end != .exited(0))
        }
    }

    @Test func `without a service manager no command is run, and the journal says so once`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            try stage.configure("on_change: [/bin/true]\n")
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await daemon.log.first("the line") { $0.contains("the on_change command was not run") }
            try await stage.acquire("work", force: true)
            #expect(try await stage.authctl("logout", "work").end == .exited(0))
            #expect(try await daemon.terminate() == .exited(0))
            #expect(daemon.logText.components(separatedBy: "the on_change command was not run").count == 2)
        }
    }
}
