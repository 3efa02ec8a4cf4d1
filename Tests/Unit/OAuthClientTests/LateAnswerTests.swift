import Foundation
import NIOSSL
import RefreshCore
import Synchronization
import TestSupport
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Answers that come after the time limit of their request.
struct LateAnswerTests {
    /// Reports a refresh as overdue when it has passed its time limit. Only then does the server answer.
    @Test func `a rotated token is accepted from an answer after the time limit`() async throws {
        let server = try SlowServer()
        let overdue = Atomic(0)
        let outcome = try await withClient({ ($0.totalTimeout, $0.answerTimeout) = (.seconds(3), .seconds(60)) }) {
            await $0.refresh(try refreshRequest(to: server.origin)) {
                overdue.add(1, ordering: .sequentiallyConsistent)
                server.answer(#"{"access_token":"late","refresh_token":"next","token_type":"bearer"}"#)
            }
        }
        #expect(outcome.response?.refreshToken == RefreshToken(Secret("next")))
        #expect(overdue.load(ordering: .sequentiallyConsistent) == 1)
    }

    @Test func `an answer of a server that does not rotate is not awaited after the time limit`() async throws {
        let server = try SlowServer()
        let outcome = try await withClient({ ($0.totalTimeout, $0.answerTimeout) = (.seconds(3), .seconds(60)) }) {
            var request = try refreshRequest(to: server.origin)
            request.mayRotate = false
            return await $0.refresh(request) { Issue.record("nobody waits on") }
        }
        #expect(outcome.failure?.failureClass == .unanswered)
        #expect(outcome.failure?.detail.summary == "the server did not answer in time")
    }

    @Test func `a request that cannot be sent before the time limit is not sent after it`() async throws {
        // The server accepts the connection and never begins TLS.
        let server = try SlowServer()
        let outcome = try await withClient({ ($0.totalTimeout, $0.answerTimeout) = (.seconds(3), .seconds(60)) }) {
            let origin = server.origin.replacingOccurrences(of: "http:", with: "https:")
            return await $0.refresh(try refreshRequest(to: origin)) { Issue.record("nothing was sent") }
        }
        #expect(outcome.failure?.failureClass == .unreachable)
        #expect(outcome.failure?.detail.summary == "the server could not be reached in time")
    }

    @Test func `a machine that sleeps while it connects does not send the token when it wakes`() async throws {
        let authority = try TestAuthority()
        let tls = try authority.server(for: "DNS:auth.example.test")
        let slept = Mutex(Duration.zero)
        let script: LoopbackServer.Script = { request, _ in
            guard request.line.hasPrefix("CONNECT") else { return [LoopbackServer.json(200, issuedTokens)] }
            slept.withLock { $0 = .seconds(3600) }
            return [.openTunnel(tls)]
        }
        try await withServer(script) { server in
            let outcome = try await withClient {
                $0.proxy = ProxySettings(environment: ["HTTPS_PROXY": "http://127.0.0.1:\(server.port)"])
                $0.caFile = authority.caFile
                $0.uptime = { ContinuousClock.now + slept.withLock { $0 } }
            } _: {
                await $0.refresh(try refreshRequest(to: "https://auth.example.test"))
            }
            #expect(outcome.failure?.failureClass == .unreachable)
            // Not even a part of the request was sent.
            #expect(server.requests.map(\.line) == ["CONNECT auth.example.test:443"])
        }
        try authority.remove()
    }

    @Test func `the kernel probes a connection while an answer is awaited`() async throws {
        let server = try SlowServer()
        let timer = Mutex("")
        _ = try await withClient({ ($0.totalTimeout, $0.answerTimeout) = (.seconds(3), .seconds(60)) }) {
            await $0.refresh(try refreshRequest(to: server.origin)) {
                timer.withLock { $0 = (try? server.timerOfClient()) ?? "" }
                server.answer(issuedTokens)
            }
        }
        // proc(5), tcp: 02 is the keepalive timer.
        #expect(timer.withLock { $0 }.hasPrefix("02:"))
    }
}

/// A server that reads, and does not answer before it is told to.
private final class SlowServer: Sendable {
    private let listener: Int32
    private let port: UInt16
    private let connection = Mutex<Int32?>(nil)

    var origin: String { "http://127.0.0.1:\(port)" }

    init() throws {
        (listener, port) = try LoopbackSocket.listening()
    }

    deinit {
        close(listener)
        connection.withLock { if let connection = $0 { close(connection) } }
    }

    /// Answers the one request that has arrived.
    func answer(_ body: String) {
        let text =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: \(body.utf8.count)\r\n\r\n" + body
        connection.withLock { connection in
            let taken = connection ?? accept(listener, nil, nil)
            connection = taken
            _ = unsafe write(taken, text, text.utf8.count)
        }
    }

    /// The timer of the client's end of the connection, as /proc/net/tcp shows it.
    func timerOfClient() throws -> String {
        let remote = "0100007F:" + String(format: "%04X", port)
        let table = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/tcp"))
        defer { try? table.close() }
        // Read in parts, because the kernel generates the file during the read and it has no length.
        var text = Data()
        while let part = try table.read(upToCount: 4096), !part.isEmpty { text += part }
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ")
            // 01 means an open connection. Another test's connection to the same port may be about to close.
            if fields.count > 5, fields[2] == remote, fields[3] == "01" { return String(fields[5]) }
        }
        return ""
    }
}
