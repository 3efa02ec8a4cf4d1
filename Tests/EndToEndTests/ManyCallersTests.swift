import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing
import VarlinkClient

/// Many programs that want the same token at the same time.
struct ManyCallersTests {
    @Test func `32 callers on an expired token are answered by one request`() async throws {
        try await withIssuer(policy: EndedToken.policy) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let token = try await EndedToken(of: daemon, on: stage, issuer, url)
            let (outcomes, requests) = try await token.answers(to: 32) {
                try await stage.authctl("token", "work", "--min-validity", "1s")
            }
            let tokens = Set(outcomes.map(\.output))
            #expect(outcomes.filter { $0.end == .exited(0) }.count == 32, "\(Set(outcomes.map(\.errors)))")
            #expect(tokens.count == 1)
            #expect(!tokens.contains(token.old.accessToken))
            #expect(requests.map(\.outcome) == [.rotated])
            #expect(await issuer.counters.overlaps == 0)
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a thousand calls at once on as many connections as there may be cost one request`() async throws {
        try await withIssuer(policy: GrantPolicy(accessTokenLifetime: .seconds(60))) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await issuer.script(.delayAfter(.seconds(2)))
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))

            // Below the 480 connections that one user may have; each carries its calls one after the other, unread.
            let answers = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<200 {
                    group.addTask { try await Self.pipelined(5, to: stage.socket) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(answers.count == 1000)
            #expect(Set(answers).count == 1)
            #expect(await issuer.counters.tokenRequests == 1)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `one caller too many is told the limit, and those before it are served`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let limit = 480
        let (name, info) = try await onOwnThread { [socket = stage.socket] in
            let held = try RawConnection.open(limit, to: socket)
            // The last one that is let in answers, so all are in.
            try held[limit - 1].send(#"{"method":"org.varlink.service.GetInfo"}"# + "\0")
            _ = try held[limit - 1].receive()
            let refused = try RawConnection(socket).receive()
            try held[0].send(#"{"method":"io.authrefresh.GetInfo"}"# + "\0")
            return (refused, try held[0].receive())
        }
        #expect(name.contains("io.authrefresh.LimitExceeded"))
        #expect(name.contains(#""limit":"connectionsOfUser""#))
        #expect(name.contains(#""maximum":480"#))
        #expect(info.contains(#""accounts":0"#))
        #expect(try await daemon.terminate() == .exited(0))
    }

    /// The access tokens of `count` calls that are sent together.
    private static func pipelined(_ count: Int, to socket: String) async throws -> [String] {
        try await onOwnThread {
            var connection = try VarlinkConnection(path: socket)
            for _ in 0..<count {
                try connection.send(Method.acquireToken.rawValue, parameters: #"{"account":"work"}"#, mode: .one)
            }
            return try (0..<count).map { _ in
                let reply = try connection.receive(timeoutMilliseconds: 60_000)
                return reply.parameters["accessToken"]?.string ?? "error: \(reply.error ?? "none")"
            }
        }
    }
}
