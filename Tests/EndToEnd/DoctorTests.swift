import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// `authctl doctor` with a real daemon and a real issuer.
struct DoctorTests {
    private struct Answer: Decodable {
        let findings: [Finding]
        let exitStatus: Int32
    }

    private func diagnose(_ stage: DaemonStage, _ arguments: String...) async throws -> (Answer, ProgramEnd) {
        let outcome = try await stage.authctl(["doctor", "--json"] + arguments)
        #expect(outcome.errors.isEmpty)
        let answer = try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
        #expect(outcome.end == .exited(answer.exitStatus))
        return (answer, outcome.end)
    }

    private func find(_ check: Finding.Check, in answer: Answer) throws -> Finding {
        try #require(answer.findings.first { $0.check == check.rawValue }, "\(answer.findings.map(\.check))")
    }

    @Test func `a healthy daemon has nothing worse than a note, and no secret is shown`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app")
            try await stage.add("work", issuer: url, grant: grant)
            let token = try await stage.acquire("work")
            let exchanges = await issuer.counters.tokenRequests

            let (answer, end) = try await diagnose(stage)
            #expect(end == .exited(0), "\(answer.findings.filter { !["ok", "note"].contains($0.level) })")
            for check in [Finding.Check.program, .configuration, .network, .store, .key, .accounts, .discovery] {
                #expect(try find(check, in: answer).level == "ok", "\(check)")
            }
            #expect(await issuer.counters.tokenRequests == exchanges)
            let plain = try await stage.authctl("doctor")
            #expect(plain.end == .exited(0))
            #expect(plain.output.contains("nothing is wrong"))
            let key = try String(contentsOfFile: stage.key, encoding: .utf8).trimmingCharacters(
                in: .whitespacesAndNewlines
            )
            for secret in [token.accessToken, grant.refreshToken, key] {
                #expect(!plain.output.contains(secret))
            }
            #expect(try await stage.authctl("doctor", "nobody").end == .exited(4))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `with the daemon down doctor says so, and exits with 69`() async throws {
        let (answer, end) = try await diagnose(try DaemonStage())
        #expect(end == .exited(69))
        let finding = try find(.daemon, in: answer)
        #expect(finding.level == "error")
        #expect(finding.needs == "start")
        #expect(finding.advice?.contains("systemctl --user start authrefreshd") == true)
    }

    @Test func `a missing server is reported, and needs nobody`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        // The port of the discard service: nobody listens there, and no program gets it by chance.
        try await stage.add("work", issuer: "http://127.0.0.1:9")
        let (answer, end) = try await diagnose(stage)
        #expect(end == .exited(75))
        #expect(try find(.discovery, in: answer).needs == "time")
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `metadata of another issuer is reported`() async throws {
        // Below the ports that the system assigns by itself, so nobody else listens there by chance.
        let port = Int.random(in: 20_000..<32_000)
        try await withIssuer(issuer: "https://other.example", port: port) { _, _ in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: "http://127.0.0.1:\(port)")
            let (answer, end) = try await diagnose(stage, "work")
            #expect(end == .exited(78))
            let finding = try find(.discovery, in: answer)
            #expect(finding.level == "error")
            #expect(finding.text.contains("https://other.example"))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a clock that is an hour off is reported`() async throws {
        try await withIssuer { issuer, url in
            await issuer.setDateOffset(.seconds(3_630))
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url)
            let (answer, end) = try await diagnose(stage)
            #expect(end == .exited(78))
            let finding = try #require(answer.findings.first { $0.check == "clock" && $0.subject == url })
            #expect(finding.level == "error")
            #expect(finding.text == "its clock is 60 min ahead of this machine's")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an untrusted certificate is reported, and no request is sent`() async throws {
        let stage = try DaemonStage()
        let (key, certificate) = (stage.folder.path + "/key.pem", stage.folder.path + "/certificate.pem")
        let making = try Program(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2", "-keyout", key, "-out",
                certificate,
            ],
            environment: stage.environment
        )
        #expect(try await making.ended() == .exited(0))
        let port = Int.random(in: 20_000..<32_000)
        let server = try Program(
            "/usr/bin/openssl",
            ["s_server", "-accept", "127.0.0.1:\(port)", "-key", key, "-cert", certificate, "-www"],
            environment: stage.environment
        )
        defer { server.signal(9) }
        try await server.output.first("the server") { $0 == "ACCEPT" }
        let daemon = try await stage.start()
        try await stage.add("work", issuer: "https://127.0.0.1:\(port)")
        let (answer, end) = try await diagnose(stage)
        #expect(end == .exited(78))
        let finding = try find(.tls, in: answer)
        #expect(finding.level == "error")
        #expect(finding.text.contains("no certificate authority that this machine trusts"))
        #expect(!answer.findings.contains { $0.check == "discovery" })
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a server without TLS is reported if TLS is expected`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url.replacing("http://", with: "https://"))
            let (answer, end) = try await diagnose(stage)
            #expect(end == .exited(78))
            #expect(try find(.tls, in: answer).level == "error")
            #expect(await issuer.counters.tokenRequests == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `the running daemon reports a key that others can read, and a missing one`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: stage.key)
        let (open, _) = try await diagnose(stage)
        #expect(try find(.key, in: open).text.contains("can be read by other users"))
        #expect(try find(.key, in: open).advice?.contains("chmod 600") == true)
        try FileManager.default.removeItem(atPath: stage.key)
        let (gone, end) = try await diagnose(stage)
        #expect(try find(.key, in: gone).text.contains("is missing: this daemon still works"))
        #expect(end == .exited(78))
        // The advised command helps.
        #expect(try await stage.authctl("store", "rekey").end == .exited(0))
        #expect(try find(.key, in: try await diagnose(stage).0).level == "ok")
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a configuration that became invalid since the start is reported`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        try stage.configure("max_accounts: one\n")
        let (answer, end) = try await diagnose(stage)
        #expect(end == .exited(78))
        #expect(try find(.configuration, in: answer).text.contains("line 1, key 'max_accounts'"))
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `an ended grant needs a person`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await stage.add("work", issuer: url, refreshToken: "never-issued")
            try await feed.next("interaction-required", of: "work")
            let (answer, end) = try await diagnose(stage)
            #expect(end == .exited(3))
            let finding = try find(.account, in: answer)
            #expect(finding.subject == "work")
            #expect(finding.advice == "authctl login work")
            #expect(!answer.findings.contains { $0.text.contains("never-issued") })
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `one diagnosis too many gets the limit, and one that ends makes room`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        // A server that accepts connections and does not answer.
        let held = try HeldEndpoint()
        try await stage.add("work", issuer: "http://127.0.0.1:\(held.port)")
        try await fillWithDiagnoses(stage) {
            await #expect {
                _ = try await stage.ask(.diagnose, Diagnose.Parameters(), for: Diagnose.Reply.self)
            } throws: { error in
                guard case TestFault.refused(LimitExceededError.name, let parameters) = error else { return false }
                return parameters.contains("diagnoses")
            }
        }
        let removal = RemoveAccount.Parameters(account: "work")
        _ = try await stage.ask(.removeAccount, removal, for: RemoveAccount.Reply.self)
        // The daemon notices after a while that callers have left. Each question gives it time.
        let end = ContinuousClock.now + .patience
        var reply: Diagnose.Reply?
        while reply == nil, ContinuousClock.now < end {
            reply = try? await stage.ask(.diagnose, Diagnose.Parameters(), for: Diagnose.Reply.self)
        }
        #expect(reply?.findings.contains { $0.check == "store" } == true)
        #expect(try await daemon.terminate() == .exited(0))
    }

    /// Runs `body` while as many callers of this process wait for a diagnosis as it may have: half of all.
    private func fillWithDiagnoses(_ stage: DaemonStage, _ body: () async throws -> Void) async throws {
        let callers = try RawConnection.open(2, to: stage.socket)
        for caller in callers {
            try caller.send(#"{"method":"io.authrefresh.Diagnose","parameters":{},"more":true}"# + "\0")
            // The first finding shows that the diagnosis has begun.
            #expect(try await onOwnThread { try caller.receive() }.contains("configuration"))
        }
        try await body()
        for caller in callers { caller.finish() }
    }
}
