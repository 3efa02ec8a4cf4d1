import AuthRefreshInterface
@testable import authrefreshd
import Foundation
import TestSupport
import Testing
import Varlink

/// Web sessions of a coordinator without accounts, with real ports of this machine and a clock that the test moves.
struct WebSessionTests {
    private typealias Reports = EventLog<Result<StartWebSession.Reply, VarlinkError>>

    private let rig: CoordinatorRig

    init() async throws {
        rig = try CoordinatorRig()
        try await rig.start()
    }

    /// Begins a session, and waits until it accepts its callback.
    private func start(
        _ callback: String,
        timeout: Duration = .seconds(600),
        of process: Int32 = 1
    ) async throws -> (id: String, callback: String, reports: Reports) {
        let reports = Reports()
        let id = try await begin(callback, timeout: timeout, of: process, reports)
        let reply = try await reports.first("the beginning") { _ in true }.get()
        #expect(reply.attempt == id && reply.event == "started")
        return (id, reply.callback, reports)
    }

    /// Begins a session at a loopback port that the kernel never assigns by itself (`ip_local_port_range` begins at
    /// 32768), so that the port is free after the session.
    private func startAtPort(timeout: Duration = .seconds(600)) async throws -> (
        callback: String, reports: Reports, id: String
    ) {
        for port in (20_000..<32_000).shuffled().prefix(20) {
            guard let session = try? await start("http://127.0.0.1:\(port)/done", timeout: timeout) else { continue }
            return (session.callback, session.reports, session.id)
        }
        throw TestFault.unreadable("all ports are taken")
    }

    private func begin(
        _ callback: String,
        timeout: Duration = .seconds(600),
        of process: Int32 = 1,
        _ reports: Reports = Reports()
    ) async throws -> String {
        let address = try CallbackAddress(callback)
        return try await rig.inside {
            try $0.beginWebSession(at: address, timeout: timeout, of: process) { reports.append($0) }
        }
    }

    private func refusal(_ callback: String, of process: Int32 = 1) async throws -> VarlinkError? {
        do {
            _ = try await begin(callback, of: process)
            return nil
        } catch let refusal as VarlinkError {
            return refusal
        }
    }

    /// The `kind` of a session that did not begin.
    private func kind(_ refusal: VarlinkError?) throws -> String {
        let parameters = Data(try #require(refusal).parameters)
        return try JSONDecoder().decode(WebSessionNotStartedError.self, from: parameters).kind
    }

    private func bring(_ text: String, to id: String?) async throws -> Bool {
        try await rig.inside { try $0.webSessions.bring(text, to: id, at: $0.timebase.now()) }
    }

    /// Whether the session `id` refuses an address.
    private func isRefused(_ text: String, by id: String) async -> Bool {
        (try? await bring(text, to: id)) == nil
    }

    private func forget(_ id: String) async {
        await rig.inside { $0.webSessions.end(id, with: nil) }
    }

    /// The address with which the session ends; nil if it ends without one.
    private func end(_ reports: Reports) async throws -> String? {
        let end = try await reports.first("the end") { (try? $0.get())?.event != "started" }
        return try? end.get().url
    }

    /// Whether the session with this callback ended for `reason`, and its caller was told that last.
    private func hasEnded(_ reports: Reports, _ callback: String, _ reason: String) -> Bool {
        reports.all.last == .failure(WebSessionEndedError(callback: callback, reason: reason).error)
    }

    // MARK: Addresses

    @Test(
        arguments: [
            ("http://127.0.0.1/done", .loopback, "http://127.0.0.1/done"),
            ("HTTP://LocalHost:8400", .loopback, "HTTP://LocalHost:8400"),
            ("http://[::1]:8400/Done", .loopback, "http://[::1]:8400/Done"),
            ("http://[0::1]:8400/Done", .loopback, "http://[0::1]:8400/Done"),
            ("com.example.app:/done", .scheme, "com.example.app:/done"),
            ("MyApp://auth", .scheme, "MyApp://auth"), ("exampleauth", .scheme, "exampleauth"),
            ("https://App.example/back/", .page, "https://App.example/back/"),
        ] as [(String, CallbackAddress.Kind, String)]
    )
    func `the kind of a callback follows from its scheme and host`(
        text: String,
        kind: CallbackAddress.Kind,
        told: String
    ) throws {
        let address = try CallbackAddress(text)
        #expect(address.kind == kind)
        #expect(address.text == told)
    }

    @Test(
        arguments: [
            "", "/done", "http", "FILE", "1app", "http://app.example/done", "http://127.0.0.1.evil.example/",
            "https:///done",
            "https:done",
            "http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://127.0.0.1:+80/", "http://me@127.0.0.1/",
            "http://[::ffff:127.0.0.1]/", "http://[::2]/", "http://127.1/",
            "http://127.0.0.1/done?x=1", "com.example.app:/done#x", "com.example.app:", "javascript:alert(1)",
            "data:text/html,x", "file:///etc/passwd", "MAILTO:me@example.org", "1app:/done", "com.example.app:/a b",
            "com.example.app:/é", "com.example.app:/" + String(repeating: "a", count: 2048),
        ]
    )
    func `an address to which no browser can return is refused`(text: String) {
        #expect(throws: VarlinkError.self) { try CallbackAddress(text) }
    }

    @Test(
        arguments: [
            ("com.example.app:/done", "com.example.app:/done?token=1", true),
            ("com.example.app:/done", "COM.Example.App:/done#token=1", true),
            ("com.example.app:/done", "com.example.app:/Done?token=1", false),
            ("com.example.app:/done", "com.example.app:/done/?token=1", false),
            ("com.example.app:/done", "com.example.app:/donex", false),
            ("com.example.app:/done", "com.example.app2:/done", false),
            ("com.example.app:/done", "com.example.app://done", false),
            ("myapp://auth", "myapp://auth?token=1", true),
            ("myapp://auth", "myapp://auth/#token=1", true),
            ("myapp://auth", "myapp://author?token=1", false),
            ("exampleauth", "ExampleAuth://done/x?token=1", true), ("exampleauth", "exampleauth:?token=1", true),
            ("exampleauth", "exampleauths://done", false), ("exampleauth", "exampleauth", false),
            ("https://app.example/back", "https://APP.example:443/back?x", true),
            ("https://app.example/back", "https://app.example:444/back?x", false),
            ("https://app.example/back", "http://app.example/back?x", false),
            ("https://app.example/back", "https://app.example/back?u=https://evil.example/", true),
            ("https://app.example/back", "https://app.example@evil.example/back?x", false),
            ("https://app.example/back", "https://app.example\\@evil.example/back?x", false),
            ("http://127.0.0.1:8400/done", "http://127.0.0.1:8400/done", true),
            ("http://127.0.0.1:8400/done", "http://localhost:8400/done", false),
            ("http://127.0.0.1:80/done", "http://127.0.0.1/done?x", true),
            ("http://[0:0:0:0:0:0:0:1]:8400/done", "http://[::1]:8400/done?x", true),
        ]
    )
    func `scheme, host, port and path decide whether an address is the callback`(
        callback: String,
        url: String,
        isThere: Bool
    ) throws {
        #expect(try CallbackAddress(callback).isPlace(of: url) == isThere)
    }

    // MARK: Callbacks

    @Test(arguments: ["token=not-for-pages&x=1&x=2", "", "code=c&state=s", "error=access_denied"])
    func `whatever a browser brings back is passed to the caller once`(query: String) async throws {
        let session = try await start("http://127.0.0.1/done")
        let address = session.callback + (query.isEmpty ? "" : "?\(query)")
        let page = try await RawWeb.get(address)
        #expect(page.status == 200 && page.body.contains("Done here"))
        #expect(!page.body.contains("not-for-pages"))
        #expect(try await end(session.reports) == address)
        #expect(session.reports.count == 2)
        // Nobody listens any more.
        let late = try? await RawWeb.get(address)
        #expect(late?.status == nil)
    }

    @Test func `a form is passed on as a query of visible characters`() async throws {
        let session = try await start("http://localhost/done")
        _ = try await RawWeb.post(session.callback, "user=J\u{F6}\r\n&id_token=a.b.c#d")
        #expect(try await end(session.reports) == session.callback + "?user=J%C3%B6%0D%0A&id_token=a.b.c%23d")
    }

    @Test func `a callback with another path or another name of this machine is not accepted`() async throws {
        let session = try await start("http://127.0.0.1/done")
        let port = try #require(session.callback.firstMatch(of: /:(\d+)\//)?.1)
        for path in ["/", "/Done", "/done/", "/done/x", "//done", "/%64one"] {
            #expect(try await RawWeb.get("http://127.0.0.1:\(port)\(path)?token=forged").status == 404, "\(path)")
        }
        for host in ["evil.example:\(port)", "127.0.0.1.evil.example:\(port)", "127.0.0.1"] {
            let forged = "GET /done?token=forged HTTP/1.1\r\nHost: \(host)\r\n\r\n"
            #expect(try await RawWeb.send(forged, to: session.callback).status == 421, "\(host)")
        }
        let fetched = try await RawWeb.get(session.callback + "?token=forged", headers: ["Sec-Fetch-Dest: image"])
        #expect(fetched.status == 403)
        for brought in ["http://127.0.0.1:\(port)/?token=forged", "com.example.app:/done?token=forged", "token=forged"]
        {
            #expect(await isRefused(brought, by: session.id))
            #expect(try await !bring(brought, to: nil))
        }
        #expect(session.reports.count == 1)
        _ = try await RawWeb.get(session.callback + "?token=true")
        #expect(try await end(session.reports) == session.callback + "?token=true")
    }

    @Test func `an address from the desktop goes to the session with that callback`() async throws {
        let one = try await start("com.example.one:/done")
        let other = try await start("com.example.other://auth")
        #expect(try await !bring("com.example.third:/done?x=1", to: nil))
        #expect(await isRefused("com.example.other://auth?token=t#rest", by: one.id))
        #expect(try await bring("com.example.other://auth?token=t#rest", to: nil))
        #expect(try await end(other.reports) == "com.example.other://auth?token=t#rest")
        #expect(one.reports.count == 1)
        #expect(try await !bring("com.example.other://auth?token=t", to: nil))
        #expect(try await bring(" com.example.one:/do\n ne#access_token=t ", to: one.id))
        #expect(try await end(one.reports) == "com.example.one:/done#access_token=t")
    }

    @Test func `a caller's page passes its address on with our scheme`() async throws {
        let session = try await start("https://app.example/back")
        let address = "https://app.example/back?code=c#rest"
        #expect(try await !bring("io.authrefresh:https://evil.example/back?code=c", to: nil))
        #expect(try await bring("io.authrefresh:\(address)", to: nil))
        #expect(try await end(session.reports) == address)
    }

    @Test func `an address longer than a browser's is not accepted`() async throws {
        let session = try await start("com.example.app:/done")
        let long = "com.example.app:/done?x=" + String(repeating: "a", count: RedirectLimits().redirectBytesMax)
        #expect(await isRefused(long, by: session.id))
        #expect(session.reports.count == 1)
    }

    // MARK: One session at a time

    @Test(arguments: ["com.example.app:/done", "https://app.example/back"])
    func `a second session with the same callback is refused while one is under way`(callback: String) async throws {
        let first = try await start(callback)
        #expect(try kind(try await refusal(callback)) == "busy")
        let other = callback.uppercased().replacing("/DONE", with: "/done").replacing("/BACK", with: "/back")
        #expect(try kind(try await refusal(other, of: 2)) == "busy")
        await forget(first.id)
        #expect(try await refusal(callback) == nil)
    }

    @Test func `sessions do not share a port, and get their own if none is named`()
        async throws
    {
        let first = try await start("http://127.0.0.1/done")
        let port = try #require(Int(first.callback.firstMatch(of: /:(\d+)\//)?.1 ?? ""))
        #expect(try kind(try await refusal(first.callback)) == "busy")
        let reports = Reports()
        _ = try await begin("http://localhost:\(port)/other", reports)
        guard case .failure(let taken) = try await reports.first("a refusal", where: { _ in true }) else {
            Issue.record("\(reports.all)")
            return
        }
        #expect(try kind(taken) == "busy" && String(decoding: taken.parameters, as: UTF8.self).contains("\(port)"))
        let second = try await start("http://127.0.0.1/done")
        #expect(second.callback != first.callback)
    }

    // MARK: Ends

    @Test func `a session without an answer ends after its time`() async throws {
        let long = try await start("com.example.long:/done")
        let short = try await startAtPort(timeout: .seconds(60))
        rig.clock.pass(.seconds(60))
        await rig.inside { $0.webSessions.advance(at: $0.timebase.now()) }
        #expect(hasEnded(short.reports, short.callback, "timedOut"))
        #expect(long.reports.count == 1)
        _ = try await start(short.callback)
        // A late callback is refused although no timer has fired yet.
        rig.clock.pass(.seconds(540))
        #expect(try await !bring("com.example.long:/done?token=late", to: nil))
        #expect(try await end(long.reports) == nil)
    }

    @Test func `the timer ends a session by itself`() async throws {
        let session = try await start("com.example.app:/done", timeout: .milliseconds(50))
        #expect(try await end(session.reports) == nil)
    }

    @Test func `the caller's end frees the port and the callback`() async throws {
        let session = try await startAtPort()
        await forget(session.id)
        let again = try await start(session.callback)
        #expect(again.callback == session.callback)
        #expect(session.reports.count == 1)
    }

    @Test func `a stopping daemon ends all web sessions, and begins none`() async throws {
        let session = try await start("com.example.app:/done")
        await rig.stop()
        #expect(hasEnded(session.reports, session.callback, "stopping"))
        #expect(try kind(try await refusal("com.example.app:/done")) == "unavailable")
    }

    @Test func `webSessions of one process leave half for others, and one that ends makes room`() async throws {
        let maximum = CallerLimits.webSessionsMax
        let crowding = Shares.Crowding(capacity: maximum, process: 1, amount: maximum / 2)
        let tooMany = LimitExceededError(.webSessions, crowding).error
        var ids: [String] = []
        var process: Int32 = 1
        for number in 0..<maximum {
            while ids.count == number {
                do {
                    ids.append(try await begin("app.n\(number):/done", of: process))
                } catch let refusal as VarlinkError {
                    #expect(refusal == tooMany)
                    process += 1
                }
            }
        }
        // Half, a quarter, an eighth, and so on.
        #expect(process == 5)
        #expect(try await refusal("app.one:/more", of: 99) == tooMany)
        await forget(ids[0])
        #expect(try await refusal("app.one:/more", of: 99) == nil)
    }
}
