import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing

/// Many programs that need the same token at the same time.
struct ManyCallersTests {
    /// The most connections that one process may have if no other has any: half of `connectionsMax`; see `Limits`.
    private static let connectionsOfProcess = 256

    @Test func `one request answers 32 callers of an expired token`() async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            let token = try await EndedToken(on: stage, issuer, url)
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

    @Test func `a thousand calls on all possible connections cause one request`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await issuer.script(.delayAfter(.seconds(3600)))
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))

            let connections = Self.connectionsOfProcess
            let held = try await onOwnThread { [socket = stage.socket] in
                let call = #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work"}}"# + "\0"
                let held = try RawConnection.open(connections, to: socket)
                // Each connection sends its calls one after the other, without reading.
                for connection in held { try connection.send(String(repeating: call, count: 4)) }
                return held
            }
            // The server answers when all calls have been sent.
            _ = try await issuer.waitForRequest { $0.path == "/token" }
            await issuer.endDelays()
            let answers = try await onOwnThread {
                try held.flatMap { connection in try (0..<4).map { _ in try connection.receive() } }
            }
            #expect(answers.count == connections * 4)
            let tokens = Set(answers.map { $0.firstMatch(of: /"accessToken":"([^"]+)"/)?.1 })
            #expect(tokens.count == 1 && tokens.first != .some(nil), "\(tokens)")
            #expect(await issuer.counters.tokenRequests == 1)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `connections of one process leave room for others, and refusal, journal and doctor name it`()
        async throws
    {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let limit = Self.connectionsOfProcess
        let (name, info, held) = try await onOwnThread { [socket = stage.socket] in
            let held = try RawConnection.open(limit, to: socket)
            // The last connection that is accepted answers, so all are accepted.
            try held[limit - 1].send(#"{"method":"org.varlink.service.GetInfo"}"# + "\0")
            _ = try held[limit - 1].receive()
            let refused = try RawConnection(socket).receive()
            try held[0].send(#"{"method":"io.authrefresh.GetInfo"}"# + "\0")
            return (refused, try held[0].receive(), held)
        }
        #expect(name.contains("io.authrefresh.LimitExceeded"))
        #expect(name.contains(#""limit":"connections""#))
        #expect(name.contains(#""maximum":512"#))
        let hoard = "(process \(getpid())) has \(limit) of 512 connections"
        #expect(name.contains(hoard), "\(name)")
        #expect(info.contains(#""accounts":0"#))
        try await daemon.log.first("the program with the most") { $0.contains(hoard) }
        // Every other program is served.
        let doctor = try await stage.authctl("doctor", "--json")
        #expect(doctor.output.contains(hoard), "\(doctor)")
        #expect(held.count == limit)
        #expect(try await daemon.terminate() == .exited(0))
    }
}
