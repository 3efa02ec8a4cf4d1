import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import RedirectListener

/// The loopback redirect server, as browsers and as attackers meet it.
@Suite struct RedirectListenerTests {
    private static let page = RedirectPage(.success, title: "Signed in", text: "The account <work> & all is signed in.")

    /// A listener that shows one page for whatever is delivered.
    private func listening(
        limits: RedirectLimits = RedirectLimits(),
        _ body: (RedirectListener, EventLog<String>) async throws -> Void
    ) async throws {
        let deliveries = EventLog<String>()
        let listener = try await RedirectListener.open(port: nil, path: "/callback", limits: limits) { form, show in
            deliveries.append(String(decoding: form, as: UTF8.self))
            show(Self.page)
        }
        try await body(listener, deliveries)
        listener.close()
    }

    @Test(arguments: ["127.0.0.1", "localhost", "[::1]"])
    func `what a browser is sent back with is delivered, and its page is shown`(host: String) async throws {
        try await listening { listener, deliveries in
            let reply = try await RawWeb.get("http://\(host):\(listener.port)/callback?code=x&state=y")
            #expect(deliveries.all == ["code=x&state=y"])
            #expect(reply.status == 200)
            #expect(reply.body.contains("The account &lt;work&gt; &amp; all is signed in."))
        }
    }

    @Test func `the port is free again for whom the one before made room`() async throws {
        var listener = try await RedirectListener.open(port: nil, path: "/") { _, _ in }
        // Now and then they would meet, if they met.
        for _ in 0..<100 {
            listener.close()
            listener = try await RedirectListener.open(port: listener.port, path: "/") { _, _ in }
        }
        listener.close()
    }

    @Test func `a form is delivered like a query`() async throws {
        try await listening { listener, deliveries in
            let reply = try await RawWeb.post("http://127.0.0.1:\(listener.port)/callback", "code=x&state=y")
            #expect(deliveries.all == ["code=x&state=y"])
            #expect(reply.status == 200)
        }
    }

    @Test func `the page lets nothing in, nothing out and nothing run`() async throws {
        try await listening { listener, _ in
            let reply = try await RawWeb.get("http://127.0.0.1:\(listener.port)/callback?code=sesame")
            #expect(reply.headers["cache-control"] == "no-store")
            #expect(reply.headers["referrer-policy"] == "no-referrer")
            #expect(reply.headers["x-content-type-options"] == "nosniff")
            #expect(reply.headers["connection"] == "close")
            let policy = try #require(reply.headers["content-security-policy"])
            #expect(policy.hasPrefix("default-src 'none'; style-src 'nonce-"))
            #expect(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'none'"))
            let nonce = try #require(policy.firstMatch(of: /'nonce-([0-9a-f]{32})'/)?.1)
            #expect(reply.body.contains("<style nonce=\"\(nonce)\">"))
            #expect(!reply.body.contains("<script") && !reply.body.contains("http"))
            #expect(!reply.body.contains("sesame"))
        }
    }

    @Test func `no two pages share a nonce`() {
        #expect(Set((0..<100).map { _ in PageNonce.make() }).count == 100)
    }

    @Test(arguments: [
        ("GET /callback?code=x HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        ("GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1.evil.example:PORT\r\n\r\n", 421),
        ("GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", 421),
        ("GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: 127.0.0.1:PORT\r\n\r\n", 421),
        ("GET /callback?code=x HTTP/1.1\r\n\r\n", 421),
        ("GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 404),
        ("GET /callback/?code=x HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 404),
        ("GET /Callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", 404),
        ("GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nSec-Fetch-Dest: image\r\n\r\n", 403),
        ("GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nSec-Fetch-Dest: empty\r\n\r\n", 403),
        ("PUT /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 0\r\n\r\n", 405),
        (
            "POST /callback HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Type: text/plain\r\n"
                + "Content-Length: 6\r\n\r\ncode=x", 415
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", 400),
    ])
    func `what is not a browser sent back to us delivers nothing`(request: String, status: Int) async throws {
        try await listening { listener, deliveries in
            let text = request.replacing("PORT", with: "\(listener.port)")
            let reply = try await RawWeb.send(text, to: "http://127.0.0.1:\(listener.port)/")
            #expect(reply.status == status)
            #expect(reply.headers["cache-control"] == "no-store")
            #expect(deliveries.count == 0)
        }
    }

    @Test func `a document that a browser navigates to is taken`() async throws {
        try await listening { listener, deliveries in
            let url = "http://127.0.0.1:\(listener.port)/callback?code=x"
            _ = try await RawWeb.get(url, headers: ["Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate"])
            #expect(deliveries.count == 1)
        }
    }

    // MARK: limits

    @Test(arguments: [true, false]) func `a request that is too large is refused`(isForm: Bool) async throws {
        var limits = RedirectLimits()
        limits.redirectBytesMax = 4096
        try await listening(limits: limits) { listener, deliveries in
            let url = "http://127.0.0.1:\(listener.port)/callback"
            let filler = String(repeating: "a", count: 3000)
            let small = isForm ? try await RawWeb.post(url, filler) : try await RawWeb.get("\(url)?\(filler)")
            #expect(small.status == 200)
            let large =
                isForm ? try await RawWeb.post(url, filler + filler) : try await RawWeb.get("\(url)?\(filler)\(filler)")
            #expect(large.status == 413)
            #expect(deliveries.count == 1)
        }
    }

    @Test(arguments: ["", "GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1\r\n", "POST /callback HTTP/1.1\r\n"])
    func `a request that does not come to its end is closed after its time`(beginning: String) async throws {
        var limits = RedirectLimits()
        limits.redirectTimeout = .milliseconds(200)
        try await listening(limits: limits) { listener, deliveries in
            let reply = try await RawWeb.send(beginning, to: "http://127.0.0.1:\(listener.port)/")
            #expect(reply.status == nil)
            #expect(deliveries.count == 0)
        }
    }

    @Test func `an answer that does not come is given up after its time`() async throws {
        var limits = RedirectLimits()
        limits.redirectAnswerTimeout = .milliseconds(200)
        let listener = try await RedirectListener.open(port: nil, path: "/", limits: limits) { _, _ in }
        let reply = try await RawWeb.get("http://127.0.0.1:\(listener.port)/?code=x")
        #expect(reply.status == nil)
        listener.close()
    }

    @Test func `one connection too many is closed, and one that ends makes room`() async throws {
        var limits = RedirectLimits()
        limits.redirectConnectionsMax = 2
        try await listening(limits: limits) { listener, deliveries in
            let url = "http://127.0.0.1:\(listener.port)/callback?code=x"
            let port = listener.port
            let first = try await onOwnThread { try WebConnection("127.0.0.1", port: port) }
            let second = try await onOwnThread { try WebConnection("127.0.0.1", port: port) }
            #expect(try await RawWeb.get(url).status == nil)
            let host = "127.0.0.1:\(port)"
            for connection in [first, second] {
                let text = try await onOwnThread {
                    connection.send("GET /callback?code=y HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                    return try connection.readToEnd()
                }
                #expect(text.hasPrefix("HTTP/1.1 200"))
            }
            _ = try await deliveries.first("the second", from: 1) { _ in true }
            // Both have ended.
            #expect(try await RawWeb.get(url).status == 200)
        }
    }

    // MARK: ports

    @Test func `after its end nobody listens, and a page that was waited for is still shown`() async throws {
        let pending = EventLog<@Sendable (RedirectPage) -> Void>()
        let listener = try await RedirectListener.open(port: nil, path: "/") { _, show in pending.append(show) }
        let url = "http://127.0.0.1:\(listener.port)/?code=x"
        async let reply = RawWeb.get(url)
        let show = try await pending.first("the delivery") { _ in true }
        listener.close()
        show(Self.page)
        #expect(try await reply.status == 200)
        await #expect(throws: TestFault.self) { try await RawWeb.get(url) }
    }

    @Test func `a port that another program has is told, and a configured one is had again at once`() async throws {
        let first = try await RedirectListener.open(port: nil, path: "/") { _, show in show(Self.page) }
        let port = first.port
        await #expect(throws: RedirectListenerError.portTaken(port)) {
            try await RedirectListener.open(port: port, path: "/") { _, show in show(Self.page) }
        }
        _ = try await RawWeb.get("http://127.0.0.1:\(port)/?code=x")
        first.close()
        let second = try await Self.reopen(port)
        #expect(try await RawWeb.get("http://[::1]:\(port)/?code=x").status == 200)
        second.close()
    }

    @Test func `a program on the other loopback address is found before a browser meets it`() async throws {
        let squatter = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "::1", port: 0).get()
        let port = squatter.localAddress?.port ?? 0
        await #expect(throws: RedirectListenerError.portTaken(port)) {
            try await RedirectListener.open(port: port, path: "/") { _, show in show(Self.page) }
        }
        try await squatter.close()
    }

    /// The listener before closes on its own event loop: that is waited for.
    private static func reopen(_ port: Int) async throws -> RedirectListener {
        for _ in 0..<100 {
            if let listener = try? await RedirectListener.open(port: port, path: "/", deliver: { $1(Self.page) }) {
                return listener
            }
            await Task.yield()
        }
        return try await RedirectListener.open(port: port, path: "/") { _, show in show(Self.page) }
    }
}
