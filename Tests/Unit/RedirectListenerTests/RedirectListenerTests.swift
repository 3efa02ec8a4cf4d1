import Glibc
import NIOCore
import NIOPosix
@testable import authrefreshd
import TestSupport
import Testing

@testable import Basics

/// The loopback redirect server, as browsers and attackers see it.
@Suite struct RedirectListenerTests {
    private static let page = RedirectPage(.success, title: "Signed in", text: "The account <work> & all is signed in.")

    /// A listener that shows one page, whatever is delivered.
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

    @Test(arguments: ["127.0.0.1", "localhost", "[::1]", "[0:0:0:0:0:0:0:1]"])
    func `a browser's query is delivered, and it is shown a page`(host: String) async throws {
        try await listening { listener, deliveries in
            let reply = try await RawWeb.get("http://\(host):\(listener.port)/callback?code=x&state=y")
            #expect(deliveries.all == ["code=x&state=y"])
            #expect(reply.status == 200)
            #expect(reply.body.contains("The account &lt;work&gt; &amp; all is signed in."))
        }
    }

    @Test func `the port is free again after its listener made room`() async throws {
        var listener = try await RedirectListener.open(port: nil, path: "/") { _, _ in }
        // If two listeners could share a port, they would do so now and then.
        var losses = 0
        for _ in 0..<100 {
            let port = listener.port
            listener.close()
            do {
                listener = try await RedirectListener.open(port: port, path: "/") { _, _ in }
                #expect(listener.port == port)
            } catch .portTaken {
                // A connection of another test may take the port at this very moment.
                losses += 1
                listener = try await RedirectListener.open(port: nil, path: "/") { _, _ in }
            }
        }
        listener.close()
        #expect(losses < 10)
    }

    @Test(arguments: ["GET", "POST"]) func `a browser is redirected if the page says so`(method: String) async throws {
        var page = Self.page
        page.location = "https://login.example.org/authorize?p=reset&state=s"
        let listener = try await RedirectListener.open(port: nil, path: "/") { [page] _, show in show(page) }
        defer { listener.close() }
        let url = "http://127.0.0.1:\(listener.port)/"
        let reply = try await method == "GET" ? RawWeb.get(url + "?error=x") : RawWeb.post(url, "error=x")
        // The browser follows with GET, so that no form is sent on. The previous address, with its state, is not sent
        // as referrer.
        #expect(reply.status == 303 && reply.headers["location"] == page.location)
        #expect(reply.headers["referrer-policy"] == "no-referrer" && reply.headers["cache-control"] == "no-store")
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
            for directive in ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "sandbox"] {
                #expect(policy.split(separator: "; ").contains { $0 == directive }, "\(policy)")
            }
            // Browsers show an error instead of a page that has both this header and a sandbox.
            #expect(reply.headers["cross-origin-opener-policy"] == nil)
            let nonce = try #require(policy.firstMatch(of: /'nonce-([\w-]{22})'/)?.1)
            #expect(reply.body.contains("<style nonce=\"\(nonce)\">"))
            #expect(!reply.body.contains("<script") && !reply.body.contains("http"))
            #expect(!reply.body.contains("sesame"))
        }
    }

    @Test func `no two random texts are the same`() {
        #expect(Set((0..<100).map { _ in RandomText.text(bits: 128) }).count == 100)
    }

    @Test(arguments: [
        ("GET /callback?code=x HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        ("GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1.evil.example:PORT\r\n\r\n", 421),
        ("GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", 421),
        ("GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.01:PORT\r\n\r\n", 421),
        ("GET /callback?code=x HTTP/1.1\r\nHost: [::ffff:127.0.0.1]:PORT\r\n\r\n", 421),
        ("GET /callback?code=x HTTP/1.1\r\nHost: [::1]\r\n\r\n", 421),
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
    func `a request that is not a returning browser delivers nothing`(request: String, status: Int) async throws {
        try await listening { listener, deliveries in
            let text = request.replacing("PORT", with: "\(listener.port)")
            let reply = try await RawWeb.send(text, to: "http://127.0.0.1:\(listener.port)/")
            #expect(reply.status == status)
            #expect(reply.headers["cache-control"] == "no-store")
            #expect(deliveries.count == 0)
        }
    }

    @Test func `a document that a browser navigates to is accepted`() async throws {
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
    func `an unfinished request is closed after its time`(beginning: String) async throws {
        var limits = RedirectLimits()
        limits.redirectTimeout = .milliseconds(200)
        try await listening(limits: limits) { listener, deliveries in
            let reply = try await RawWeb.send(beginning, to: "http://127.0.0.1:\(listener.port)/")
            #expect(reply.status == nil)
            #expect(deliveries.count == 0)
        }
    }

    @Test func `a missing answer is given up after its time`() async throws {
        var limits = RedirectLimits()
        limits.redirectAnswerTimeout = .milliseconds(200)
        let listener = try await RedirectListener.open(port: nil, path: "/", limits: limits) { _, _ in }
        let reply = try await RawWeb.get("http://127.0.0.1:\(listener.port)/?code=x")
        #expect(reply.status == nil)
        listener.close()
    }

    @Test func `for one connection too many, the oldest silent one is closed`() async throws {
        var limits = RedirectLimits()
        limits.redirectConnectionsMax = 2
        try await listening(limits: limits) { listener, _ in
            let port = listener.port
            let first = try await onOwnThread { try WebConnection("127.0.0.1", port: port) }
            let second = try await onOwnThread { try WebConnection("127.0.0.1", port: port) }
            #expect(try await RawWeb.get("http://127.0.0.1:\(port)/callback?code=x").status == 200)
            #expect(try await onOwnThread { try first.readToEnd() } == "")
            let text = try await onOwnThread {
                second.send("GET /callback?code=y HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
                return try second.readToEnd()
            }
            #expect(text.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `if all connections have sent something, one too many is closed`() async throws {
        var limits = RedirectLimits()
        limits.redirectConnectionsMax = 1
        let pending = EventLog<@Sendable (RedirectPage) -> Void>()
        let listener = try await RedirectListener.open(port: nil, path: "/", limits: limits) { _, show in
            pending.append(show)
        }
        let url = "http://127.0.0.1:\(listener.port)/?code=x"
        async let reply = RawWeb.get(url)
        let show = try await pending.first("the delivery") { _ in true }
        #expect(try await RawWeb.get(url).status == nil)
        show(Self.page)
        #expect(try await reply.status == 200)
        listener.close()
    }

    @Test func `a connection that has ended makes room for the next`() async throws {
        var limits = RedirectLimits()
        limits.redirectConnectionsMax = 1
        try await listening(limits: limits) { listener, _ in
            let url = "http://127.0.0.1:\(listener.port)/callback?code=x"
            for _ in 0..<3 {
                let reply = try await RawWeb.get(url)
                #expect(reply.status == 200)
            }
        }
    }

    // MARK: the user at the other end

    @Test(.enabled(if: isRoot, "needs root, to be another user"), arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
    func `another user is not heard, gets no answer, and takes no room`(address: String) async throws {
        var limits = RedirectLimits()
        limits.redirectConnectionsMax = 1
        try await listening(limits: limits) { listener, deliveries in
            let port = listener.port
            let request = "GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
            let ask: @Sendable (WebConnection) throws -> String = { connection in
                connection.send(request)
                return try connection.readToEnd()
            }
            let own = try await onOwnThread { try WebConnection(address, port: port) }
            let others = try await onOwnThread {
                try asUser(65_534) { try (0..<16).map { _ in try WebConnection(address, port: port) } }
            }
            for other in others { #expect(try await onOwnThread { try ask(other) } == "") }
            #expect(deliveries.count == 0)
            // If the others counted, this connection would have been the first to be closed.
            #expect(try await onOwnThread { try ask(own) }.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `a connection's owner is unknown after its other end was closed`() throws {
        let listener = try LoopbackSocket.listening()
        var other: LoopbackSocket? = try LoopbackSocket.connected(to: listener)
        let accepted = try listener.accept()
        #expect(LoopbackPeer.owner(of: accepted.descriptor) == geteuid())
        #expect(LoopbackPeer.isOwn(accepted.descriptor))
        #expect(other != nil)
        other = nil
        #expect(LoopbackPeer.owner(of: accepted.descriptor) == nil)
        #expect(!LoopbackPeer.isOwn(accepted.descriptor))
        // A socket that is not connected has no peer, and neither has a descriptor that is no socket.
        #expect(LoopbackPeer.owner(of: listener.descriptor) == nil)
        #expect(LoopbackPeer.owner(of: -1) == nil)
    }

    // MARK: ports

    @Test func `after the end nobody listens, and an awaited page is still shown`() async throws {
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

    @Test func `a taken port is reported, and a configured port can be reused at once`() async throws {
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

    @Test func `a program on the other loopback address is found before a browser reaches it`() async throws {
        let squatter = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "::1", port: 0).get()
        let port = squatter.localAddress?.port ?? 0
        await #expect(throws: RedirectListenerError.portTaken(port)) {
            try await RedirectListener.open(port: port, path: "/") { _, show in show(Self.page) }
        }
        try await squatter.close()
    }

    @Test func `without a descriptor for the second address nobody listens on the first`() async throws {
        await #expect(processExitsWith: .success) {
            // The event loops already have their descriptors.
            let other = try await RedirectListener.open(port: nil, path: "/") { _, _ in }
            leaveOneDescriptor()
            await #expect(throws: RedirectListenerError.cannotListen(port: 0, errno: EMFILE)) {
                // Whichever port was free on the first address.
                do throws(RedirectListenerError) {
                    _ = try await RedirectListener.open(port: nil, path: "/") { _, _ in }
                } catch .cannotListen(port: _, let errno) {
                    throw RedirectListenerError.cannotListen(port: 0, errno: errno)
                }
            }
            other.close()
        }
    }

    /// Opens a listener on the port. The previous listener closes on its own event loop, and this waits for it.
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

/// Uses up all but one of this process's descriptors.
private func leaveOneDescriptor() {
    var limit = rlimit(rlim_cur: 256, rlim_max: 256)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var last: Int32 = -1
    while case let next = unsafe open("/dev/null", O_RDONLY), next >= 0 { last = next }
    close(last)
}

/// A TCP socket on 127.0.0.1, which is closed when the value is released.
private final class LoopbackSocket {
    let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    static func listening() throws -> LoopbackSocket {
        let listener = LoopbackSocket(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        try unsafe named { unsafe bind(listener.descriptor, $0, $1) }
        guard listen(listener.descriptor, 1) == 0 else { throw TestFault.system("listen", errno: errno) }
        return listener
    }

    static func connected(to listener: LoopbackSocket) throws -> LoopbackSocket {
        var name = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let other = LoopbackSocket(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let result = unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(listener.descriptor, $0, &length) == 0
                    ? connect(other.descriptor, $0, length) : -1
            }
        }
        guard result == 0 else { throw TestFault.system("connect", errno: errno) }
        return other
    }

    func accept() throws -> LoopbackSocket {
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else { throw TestFault.system("accept", errno: errno) }
        return LoopbackSocket(accepted)
    }

    private static func named(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        let result = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw TestFault.system("bind", errno: errno) }
    }
}
