import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing

/// Web sessions: a real daemon, `authctl` as a program would start it, and a browser that the test controls.
struct WebSessionTests {
    private static let page = "https://login.example.org/start"

    private func withStage(_ body: (DaemonStage, DaemonProcess) async throws -> Void) async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        try await body(stage, daemon)
        #expect(try await daemon.terminate() == .exited(0))
    }

    /// Begins a session, which waits for its callback.
    private func begin(
        _ stage: DaemonStage,
        _ callback: String,
        _ more: String...,
        page: String = page
    ) async throws -> (program: Program, callback: String) {
        let words = ["web-session", page, "--callback", callback, "--no-open", "--json"] + more
        let program = try Program("authctl", words, environment: stage.environment)
        let line = try await program.output.first("the beginning: \(program.errorText)") { $0.contains("started") }
        return (program, try reply(line).callback)
    }

    private func reply(_ line: String) throws -> StartWebSession.Reply {
        try JSONDecoder().decode(StartWebSession.Reply.self, from: Data(line.utf8))
    }

    /// The address with which a session has ended.
    private func end(_ program: Program) async throws -> String? {
        #expect(try await program.ended() == .exited(0), "\(program.errorText)")
        return try program.output.all.last.flatMap { try reply($0).url }
    }

    // MARK: Callbacks

    @Test func `a callback on loopback is printed completely, even without a code`() async throws {
        try await withStage { stage, daemon in
            let session = try await begin(stage, "http://127.0.0.1/done")
            let address = session.callback + "?token=sesame&user=jane&x=1&x=2"
            let page = try await RawWeb.get(address)
            #expect(page.status == 200 && page.body.contains("Done here"))
            #expect(try await end(session.program) == address)
            // Nobody listens any more.
            await #expect(throws: TestFault.self) { try await RawWeb.get(address) }
            let plain = try Program(
                "authctl",
                ["web-session", "-", "--callback", session.callback, "--no-open"],
                environment: stage.environment,
                input: "\(Self.page)?redirect_uri={callback}\n"
            )
            try await plain.errors.first("the address") { $0.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A") }
            _ = try await RawWeb.get(session.callback)
            #expect(try await plain.ended() == .exited(0), "\(plain.errorText)")
            #expect(plain.output.all == [session.callback])
            #expect(!daemon.logText.contains("sesame"))
        }
    }

    @Test func `authctl callback passes on a callback with a scheme`() async throws {
        try await withStage { stage, _ in
            let session = try await begin(stage, "com.example.app://auth")
            let other = try await begin(stage, "com.example.other:/done")
            let unknown = try await stage.authctl("callback", "com.example.app://author?token=abc")
            #expect(unknown.end == .exited(65), "\(unknown)")
            let brought = try await stage.authctl("callback", "com.example.app://auth?token=abc#rest")
            #expect(brought.end == .exited(0) && brought.output.contains("handed on"), "\(brought)")
            #expect(try await end(session.program) == "com.example.app://auth?token=abc#rest")
            #expect(other.program.isRunning)
            let again = try await stage.authctl("callback", "com.example.app://auth?token=abc")
            #expect(again.end == .exited(65))
            other.program.signal(SIGINT)
            #expect(try await other.program.ended() == .exited(130))
        }
    }

    @Test func `a caller's own page passes its address on`() async throws {
        try await withStage { stage, _ in
            let session = try await begin(stage, "https://app.example/back")
            let address = "https://app.example/back?code=c&state=s"
            #expect(try await stage.authctl("callback", "io.authrefresh:\(address)").end == .exited(0))
            #expect(try await end(session.program) == address)
        }
    }

    @Test func `an error of the server is printed, and shown by the exit status`() async throws {
        try await withStage { stage, _ in
            let session = try await begin(stage, "http://localhost/done")
            _ = try await RawWeb.get(session.callback + "?error=access_denied")
            #expect(try await session.program.ended() == .exited(77))
            #expect(try session.program.output.all.last.map(reply)?.url == session.callback + "?error=access_denied")
            #expect(session.program.errorText.contains("access_denied"))
        }
    }

    @Test func `an answer with a sign-in's state belongs to that sign-in, wherever it arrives`() async throws {
        try await withSignInStage(profile: "redirect_scheme: org.example.demo\n") { stage, _, _ in
            let session = try await begin(stage, "org.example.demo:/callback")
            let call = try stage.signIn(flow: "scheme")
            let location = try await Person().decide(at: try #require(call.started().url))
            #expect(try await stage.authctl("callback", location).output.contains("work"))
            try await call.completed()
            #expect(session.program.isRunning)
            let other = "org.example.demo:/callback?code=c&state=another"
            #expect(try await stage.authctl("callback", other).end == .exited(0))
            #expect(try await end(session.program) == other)
        }
    }

    // MARK: One session at a time

    @Test func `a second session with the same callback is refused until the first has ended`() async throws {
        try await withStage { stage, _ in
            for callback in ["com.example.app:/done", try await begin(stage, "http://127.0.0.1/done").callback] {
                let first = callback.hasPrefix("com") ? try await begin(stage, callback).program : nil
                let words = ["web-session", Self.page, "--callback", callback, "--no-open"]
                let refused = try await stage.authctl(words)
                #expect(refused.end == .exited(75) && refused.output.isEmpty, "\(refused)")
                #expect(refused.errors.contains("another web session"), "\(refused.errors)")
                guard let first else { continue }
                #expect(try await stage.authctl("callback", callback).end == .exited(0))
                #expect(try await first.ended() == .exited(0))
                let second = try await begin(stage, callback).program
                #expect(try await stage.authctl("callback", callback).end == .exited(0))
                #expect(try await second.ended() == .exited(0))
            }
        }
    }

    @Test(arguments: [SIGKILL, SIGTERM, SIGINT])
    func `the caller's end frees the port, however it ends`(signal: Int32) async throws {
        try await withStage { stage, _ in
            let first = try await begin(stage, "http://127.0.0.1/done")
            first.program.signal(signal)
            _ = try await first.program.ended()
            // The daemon notices it after a while. Until then, each refusal is an answer.
            let words = ["web-session", Self.page, "--callback", first.callback, "--no-open", "--json"]
            let limit = ContinuousClock.now + .patience
            while ContinuousClock.now < limit {
                let next = try Program("authctl", words, environment: stage.environment)
                guard let line = try? await next.output.first("the beginning", where: { $0.contains("started") }) else {
                    continue
                }
                #expect(try reply(line).callback == first.callback)
                _ = try await RawWeb.get(first.callback + "?token=abc")
                #expect(try await end(next) == first.callback + "?token=abc")
                return
            }
            Issue.record("the port is not free again")
        }
    }

    // MARK: Ends

    @Test func `a session without an answer times out`() async throws {
        try await withStage { stage, _ in
            let session = try await begin(stage, "http://127.0.0.1/done", "--timeout", "3s")
            #expect(try await session.program.ended() == .exited(75))
            #expect(session.program.errorText.contains("timed out"), "\(session.program.errorText)")
            #expect(session.program.output.count == 1)
            await #expect(throws: TestFault.self) { try await RawWeb.get(session.callback) }
        }
    }

    @Test func `a stopping daemon says so`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let session = try await begin(stage, "com.example.app:/done")
        #expect(try await daemon.terminate() == .exited(0))
        #expect(try await session.program.ended() == .exited(75))
        #expect(session.program.errorText.contains("stopping"), "\(session.program.errorText)")
    }

    @Test func `an impossible callback is refused before anything is opened`() async throws {
        try await withStage { stage, _ in
            for (callback, status) in [
                ("http://app.example/done", 65), ("javascript:alert(1)", 65), ("https://app.example/?x", 65),
                ("1done", 65),
            ] as [(String, Int32)] {
                let refused = try await stage.authctl("web-session", Self.page, "--callback", callback, "--no-open")
                #expect(refused.end == .exited(status) && refused.output.isEmpty, "\(callback): \(refused)")
                #expect(!refused.errors.contains("login.example.org"), "\(refused.errors)")
            }
        }
    }

    // MARK: Attacks

    @Test func `requests to another path or name do not end a session`() async throws {
        try await withStage { stage, _ in
            let session = try await begin(stage, "http://127.0.0.1/done")
            let parts = try #require(session.callback.wholeMatch(of: /http:\/\/127\.0\.0\.1:(\d+)\/done/))
            let port = String(parts.1)
            for path in ["/", "/Done", "/done/", "//done", "/favicon.ico"] {
                #expect(try await RawWeb.get("http://127.0.0.1:\(port)\(path)?token=forged").status == 404, "\(path)")
            }
            for host in ["evil.example:\(port)", "127.0.0.1.evil.example:\(port)", "[::ffff:127.0.0.1]:\(port)"] {
                let get = "GET /done?token=forged HTTP/1.1\r\nHost: \(host)\r\n\r\n"
                #expect(try await RawWeb.send(get, to: session.callback).status == 421, "\(host)")
                let post = """
                    POST /done HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 12\r\n\
                    Content-Type: application/x-www-form-urlencoded\r\n\r\ntoken=forged
                    """
                #expect(try await RawWeb.send(post, to: session.callback).status == 421, "\(host)")
            }
            for destination in ["empty", "image", "script", "iframe"] {
                let headers = ["Sec-Fetch-Dest: \(destination)"]
                #expect(try await RawWeb.get(session.callback + "?token=forged", headers: headers).status == 403)
            }
            for brought in ["http://127.0.0.1:\(port)/?token=forged", "http://localhost:\(port)/done", "token=forged"] {
                #expect(try await stage.authctl("callback", brought).end == .exited(65), "\(brought)")
            }
            #expect(session.program.isRunning)
            _ = try await RawWeb.get(session.callback + "?token=true")
            #expect(try await end(session.program) == session.callback + "?token=true")
        }
    }

    @Test(.enabled(if: isRoot, "needs root, to be another user"))
    func `another user cannot answer a web session`() async throws {
        try await withStage { stage, _ in
            let session = try await begin(stage, "http://127.0.0.1/done")
            let port = try #require(Int(session.callback.firstMatch(of: /:(\d+)/)?.1 ?? ""))
            let told = try await onOwnThread {
                let stranger = try asUser(65_534) { try WebConnection("127.0.0.1", port: port) }
                stranger.send("GET /done?token=forged HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
                return try stranger.readToEnd()
            }
            #expect(told == "")
            let folders = [stage.folder.path, stage.folder.path + "/run", stage.folder.path + "/run/authrefreshd"]
            for folder in folders { try #require(unsafe chmod(folder, 0o755) == 0) }
            try #require(unsafe chmod(stage.socket, 0o666) == 0)
            for arguments in [
                ["callback", session.callback + "?token=forged"],
                ["web-session", Self.page, "--callback", "com.example.app:/done", "--no-open"],
            ] {
                let words = ["--reuid=65534", "--regid=65534", "--clear-groups", Program.products + "/authctl"]
                let other = try Program("/usr/bin/setpriv", words + arguments, environment: stage.environment)
                #expect(try await other.ended() == .exited(77), "\(arguments): \(other.errorText)")
                #expect(other.outputText == "")
            }
            #expect(session.program.isRunning)
            _ = try await RawWeb.get(session.callback + "?token=true")
            #expect(try await end(session.program) == session.callback + "?token=true")
        }
    }

    @Test func `the page's address is no longer among the arguments while the session waits`() async throws {
        try await withStage { stage, _ in
            let session = try await begin(stage, "com.example.app:/done", page: Self.page + "?state=sesame")
            let arguments = try String(contentsOfFile: "/proc/\(session.program.pid)/cmdline", encoding: .utf8)
            #expect(arguments.contains("authctl\0"))
            #expect(!arguments.contains("sesame") && !arguments.contains("example"))
            session.program.signal(SIGINT)
            #expect(try await session.program.ended() == .exited(130))
        }
    }

    @Test func `a process may have half of all sessions, and one more gets the limit`() async throws {
        try await withStage { stage, _ in
            let connections = try await onOwnThread { [socket = stage.socket] in
                let connections = try RawConnection.open(9, to: socket)
                for (number, connection) in connections.enumerated() {
                    let callback = #"{"callback":"com.example.app:/\#(number)"}"#
                    let method = AuthRefreshInterface.Method.startWebSession.rawValue
                    try connection.send(#"{"method":"\#(method)","more":true,"parameters":\#(callback)}"# + "\0")
                    let answer = try connection.receive()
                    #expect(answer.contains(number < 8 ? "started" : "has 8 of 16 web sessions"), "\(answer)")
                }
                return connections
            }
            let other = try await begin(stage, "com.example.app:/other")
            #expect(try await stage.authctl("callback", "com.example.app:/other?x").end == .exited(0))
            #expect(try await end(other.program) == "com.example.app:/other?x")
            withExtendedLifetime(connections) {}
        }
    }
}
