import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing

/// What web pages in a browser and other programs on the machine can do to a sign-in in progress, at a real daemon.
struct LoopbackAttackTests {
    // MARK: pages of other sites

    @Test func `forged answers change nothing, and the real one is still accepted`() async throws {
        try await withSignInStage { stage, _, issuer in
            let call = try stage.signIn()
            let started = try await call.started()
            let uri = try #require(started.redirectUri)
            let crossSite = ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: document"]
            for query in ["code=stolen", "code=stolen&state=guess", "error=access_denied&state=guess", "%zz", ""] {
                let pages = [
                    try await RawWeb.get(uri + "?" + query),
                    try await RawWeb.get(uri + "?" + query, headers: crossSite),
                    try await RawWeb.post(uri, query, headers: crossSite),
                ]
                #expect(pages.allSatisfy { $0.status == 200 && !$0.body.contains("Signed in") }, "\(query)")
            }
            #expect(try await RawWeb.get(uri + "favicon.ico").status == 404)
            let location = try await Person().decide(at: try #require(started.url))
            #expect(try await RawWeb.get(location).body.contains("Signed in"))
            try await call.completed()
            #expect(await issuer.exchanges == [.opened])
        }
    }

    @Test func `even the real answer is refused from a page's fetch, or under another name of this machine`()
        async throws
    {
        try await withSignInStage { stage, _, issuer in
            let call = try stage.signIn()
            let started = try await call.started()
            let location = try await Person().decide(at: try #require(started.url))
            let target = location.replacing(/^http:\/\/[^\/]*/, with: "")
            let host = location.replacing("http://", with: "").prefix { $0 != "/" }
            let port = host.split(separator: ":").last ?? ""
            for name in [
                "evil.example:\(port)", "127.0.0.1.evil.example:\(port)", "[::ffff:127.0.0.1]:\(port)", "127.0.0.1",
            ] {
                let rebound = "GET \(target) HTTP/1.1\r\nHost: \(name)\r\n\r\n"
                #expect(try await RawWeb.send(rebound, to: location).status == 421, "\(name)")
            }
            for destination in ["empty", "image", "script", "style", "iframe", "frame", "object", "embed", "worker"] {
                let fetched = try await RawWeb.get(location, headers: ["Sec-Fetch-Dest: \(destination)"])
                #expect(fetched.status == 403, "\(destination)")
            }
            for method in ["PUT", "HEAD", "OPTIONS", "DELETE"] {
                let asked = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 0\r\n\r\n"
                #expect(try await RawWeb.send(asked, to: location).status == 405, "\(method)")
            }
            #expect(await issuer.exchanges == [])
            #expect(try await RawWeb.get(location).body.contains("Signed in"))
            try await call.completed()
        }
    }

    // MARK: oversized and slow requests

    @Test func `a too large answer is refused, and the sign-in continues`() async throws {
        try await withSignInStage { stage, _, issuer in
            let call = try stage.signIn()
            let location = try await Person().decide(at: try #require(call.started().url))
            let filler = String(repeating: "a", count: 40_000)
            #expect(try await RawWeb.get("\(location)&filler=\(filler)").status == 413)
            #expect(try await RawWeb.get(location, headers: ["Cookie: \(filler)"]).status == 413)
            #expect(await issuer.exchanges == [])
            #expect(try await RawWeb.get(location).body.contains("Signed in"))
            try await call.completed()
        }
    }

    @Test func `silent and slow connections are closed, and block no browser`() async throws {
        try await withSignInStage { stage, _, _ in
            let call = try stage.signIn()
            let started = try await call.started()
            let location = try await Person().decide(at: try #require(started.url))
            let port = try #require(Int(location.firstMatch(of: /:(\d+)/)?.1 ?? ""))
            let form = "Host: 127.0.0.1:\(port)\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9"
            let path = try #require(location.firstMatch(of: /:\d+(\/[^?]*)/)?.1)
            let beginnings = ["", "GET \(path) HTTP/1.1\r\n", "POST \(path) HTTP/1.1\r\n\(form)\r\n\r\ncode="]
            // As many connections as are accepted at once.
            let idle = try await onOwnThread {
                try (0..<16).map { number in
                    let connection = try WebConnection(number.isMultiple(of: 2) ? "127.0.0.1" : "::1", port: port)
                    connection.send(beginnings[number % beginnings.count])
                    return connection
                }
            }
            #expect(try await onOwnThread { try idle.map { try $0.readToEnd() } } == Array(repeating: "", count: 16))
            #expect(try await RawWeb.get(location).body.contains("Signed in"))
            try await call.completed()
        }
    }

    // MARK: other users

    @Test(.enabled(if: isRoot, "needs root, to be another user"))
    func `another user's connections block no browser, bring no answer and learn of no account`() async throws {
        try await withSignInStage { stage, _, issuer in
            let call = try stage.signIn()
            let location = try await Person().decide(at: try #require(call.started().url))
            let target = location.replacing(/^http:\/\/[^\/]*/, with: "")
            let port = try #require(Int(location.firstMatch(of: /:(\d+)/)?.1 ?? ""))
            let others = try await onOwnThread {
                try asUser(65_534) {
                    try (0..<32).map { try WebConnection($0 % 2 == 0 ? "127.0.0.1" : "::1", port: port) }
                }
            }
            // The right answer, whoever stole it, a forged end, and a question.
            // The last connections ask: the first of so many would be closed anyway, whoever they belonged to.
            let paths = [target, "/?error=access_denied", "/", "/favicon.ico"]
            for (path, other) in zip(paths, others.suffix(paths.count)) {
                let told = try await onOwnThread {
                    other.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
                    return try other.readToEnd()
                }
                #expect(told == "", "\(path)")
            }
            #expect(await issuer.exchanges == [])
            #expect(try await RawWeb.get(location).body.contains("Signed in"))
            try await call.completed()
            withExtendedLifetime(others) {}
        }
    }

    @Test func `the browser's start address works once for this user, and never for another`()
        async throws
    {
        try await withSignInStage { stage, _, issuer in
            let pipe = stage.folder.path + "/opened"
            #expect(unsafe mkfifo(pipe, 0o600) == 0)
            try stage.folder.write("#!/bin/sh\necho \"$*\" > '\(pipe)'\n", to: "browser", mode: 0o700)
            let environment = stage.environment.merging(["BROWSER": stage.folder.path + "/browser"]) { $1 }
            let login = try Program("authctl", ["login", "work"], environment: environment)
            let reader = try Program("/bin/cat", [pipe], environment: [:])
            #expect(try await reader.ended() == .exited(0))
            let way = reader.outputText.filter { !$0.isNewline }
            let parts = try #require(way.wholeMatch(of: /http:\/\/127\.0\.0\.1:(\d+)(\/[0-9a-f]+-[0-9a-f]+)/))
            let (port, path) = (try #require(Int(parts.1)), String(parts.2))
            if isRoot {
                let told = try await onOwnThread {
                    let stranger = try asUser(65_534) { try WebConnection("127.0.0.1", port: port) }
                    stranger.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
                    return try stranger.readToEnd()
                }
                #expect(told == "")
            }
            // As browsers open them in advance.
            let idle = try await onOwnThread { try (0..<16).map { _ in try WebConnection("127.0.0.1", port: port) } }
            #expect(try await RawWeb.get("http://127.0.0.1:\(port)/").status == 404)
            let onward = try await RawWeb.get(way)
            #expect(onward.status == 303 && onward.headers["referrer-policy"] == "no-referrer")
            let address = try #require(onward.headers["location"])
            let state = try #require(address.firstMatch(of: /[?&]state=([^&]+)/)?.1)
            let lists = try argumentLists()
            #expect(!lists.contains { $0.contains(state) })
            let again = try? await RawWeb.get(way)
            #expect(again?.status == nil)
            #expect(try await RawWeb.get(try await Person().decide(at: address)).body.contains("Signed in"))
            #expect(try await login.ended() == .exited(0), "\(login.errorText)")
            #expect(login.errorText.contains("\n\n  \(address)\n\n"), "\(login.errorText)")
            #expect(await issuer.exchanges == [.opened])
            withExtendedLifetime(idle) {}
        }
    }

    // MARK: programs that race for the port or the scheme

    @Test func `during a sign-in no other program can listen on its port`() async throws {
        try await withSignInStage { stage, _, _ in
            let call = try stage.signIn()
            let uri = try #require(try await call.started().redirectUri)
            let port = try #require(UInt16(uri.firstMatch(of: /:(\d+)/)?.1 ?? ""))
            for address in [in_addr_t(INADDR_LOOPBACK), in_addr_t(INADDR_ANY)] {
                #expect(Squatter.listen(on: address, port) == EADDRINUSE)
            }
            for address in [in6addr_loopback, in6addr_any] {
                #expect(Squatter.listen(on: address, port) == EADDRINUSE)
            }
            _ = try await RawWeb.get(try await Person().decide(at: try #require(call.started().url)))
            try await call.completed()
        }
    }

    @Test func `if another program has the registered port, no browser is opened`() async throws {
        let squatter = try HeldEndpoint()
        try await withSignInStage(profile: "redirect_port: \(squatter.port)\n") { stage, _, issuer in
            let call = try stage.signIn()
            let failed = try await call.refusal(SignInFailedError.self)
            #expect(failed.kind == "misconfigured")
            #expect(failed.reason.contains("another program listens on port \(squatter.port)"))
            #expect(call.news.count == 0)
            #expect(await issuer.entries().isEmpty)
        }
    }

    @Test func `another program's callback is refused, and the real one is accepted`() async throws {
        try await withSignInStage(profile: "redirect_scheme: org.example.demo\n") { stage, _, issuer in
            let call = try stage.signIn(flow: "scheme")
            let started = try await call.started()
            let location = try await Person().decide(at: try #require(started.url))
            for forged in [
                location.replacing(/state=[^&]*/, with: "state=guess"),
                location.replacing(/&state=[^&]*/, with: ""),
                try #require(started.url),
            ] {
                let outcome = try await stage.authctl("callback", forged)
                #expect(outcome.end == .exited(65), "\(forged): \(outcome)")
                #expect(outcome.output == "")
            }
            #expect(await issuer.exchanges == [])
            #expect(try await stage.authctl("callback", location).end == .exited(0))
            try await call.completed()
        }
    }

    @Test(.enabled(if: isRoot, "needs root, to be another user"))
    func `another user can bring no answer and begin no sign-in, even if the folders allow access`()
        async throws
    {
        try await withSignInStage(profile: "redirect_scheme: org.example.demo\n") { stage, _, issuer in
            let call = try stage.signIn(flow: "scheme")
            let location = try await Person().decide(at: try #require(call.started().url))
            let folders = [stage.folder.path, stage.folder.path + "/run", stage.folder.path + "/run/authrefreshd"]
            for folder in folders { try #require(unsafe chmod(folder, 0o755) == 0) }
            try #require(unsafe chmod(stage.socket, 0o666) == 0)
            for arguments in [["callback", location], ["login", "work"], ["status"], ["token", "work"]] {
                let words = ["--reuid=65534", "--regid=65534", "--clear-groups", Program.products + "/authctl"]
                let other = try Program("/usr/bin/setpriv", words + arguments, environment: stage.environment)
                #expect(try await other.ended() == .exited(77), "\(arguments): \(other.errorText)")
                #expect(
                    other.errorText.contains("the daemon serves its own user and root, not uid 65534"),
                    "\(other.errorText)"
                )
                #expect(other.outputText == "")
            }
            #expect(await issuer.exchanges == [])
            #expect(try await stage.authctl("callback", location).end == .exited(0))
            try await call.completed()
        }
    }
}

/// The arguments of each process on this machine, which every user can read.
private func argumentLists() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { $0.allSatisfy(\.isNumber) }.compactMap {
        pid in
        FileManager.default.contents(atPath: "/proc/\(pid)/cmdline").map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A program that tries to listen at the browser's target with all means of an ordinary user.
private enum Squatter {
    /// - Returns: why it cannot; 0 if it can.
    static func listen(on address: in_addr_t, _ port: UInt16) -> Int32 {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = address.bigEndian
        return listen(AF_INET, &name)
    }

    static func listen(on address: in6_addr, _ port: UInt16) -> Int32 {
        var name = sockaddr_in6()
        name.sin6_family = sa_family_t(AF_INET6)
        name.sin6_port = port.bigEndian
        name.sin6_addr = address
        return listen(AF_INET6, &name)
    }

    private static func listen<Name>(_ family: Int32, _ name: inout Name) -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var on: Int32 = 1
        for option in [SO_REUSEADDR, SO_REUSEPORT] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        let result = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<Name>.size))
            }
        }
        return result == 0 && Glibc.listen(descriptor, 1) == 0 ? 0 : errno
    }
}
