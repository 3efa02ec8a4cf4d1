import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// The limits of the daemon as a whole, each reached by a real caller. The limits of a connection have tests of their
/// own.
struct LimitTests {
    /// The limit's name, if `body` is refused because of it; otherwise a description of what happened.
    private func refused(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "not refused"
        } catch TestFault.refused(LimitExceededError.name, let parameters) {
            return parameters
        } catch {
            return "\(error)"
        }
    }

    private func told(_ limit: Limit, _ maximum: Int) -> String {
        #"{"limit":"\#(limit.rawValue)","maximum":\#(maximum)}"#
    }

    @Test func `input that is too large is refused with the name of its limit`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let issuer = "http://127.0.0.1:9/"
        let long = String(repeating: "s", count: 1 << 14)
        #expect(await refused { try await stage.add("work", issuer: issuer + long) } == told(.settingsBytes, 1 << 14))
        let secret = String(repeating: "s", count: 1 << 16)
        #expect(
            await refused { try await stage.add("work", issuer: issuer, refreshToken: secret + "s") }
                == told(.secretBytes, 1 << 16)
        )
        #expect(try await stage.info().accounts == 0)
        try await stage.add("work", issuer: issuer, refreshToken: secret)

        let names = Array(repeating: "work", count: 501)
        #expect(
            await refused {
                _ = try await stage.ask(.getStatus, GetStatus.Parameters(accounts: names), for: GetStatus.Reply.self)
            } == told(.page, 500)
        )
        let page = GetStatus.Parameters(accounts: Array(names.dropLast()))
        #expect(try await stage.ask(.getStatus, page, for: GetStatus.Reply.self).accounts.count == 500)
        for number in 1...500 { try await stage.add("more-\(number)", issuer: issuer) }
        let all = ListAccounts.Parameters(limit: 501)
        let listed = try await stage.ask(.listAccounts, all, for: ListAccounts.Reply.self)
        #expect(listed.accounts.count == 500 && listed.next != nil)

        let refusal = try await onOwnThread { [socket = stage.socket] in
            let connection = try RawConnection(socket)
            let names = Array(repeating: #""work""#, count: 10_001).joined(separator: ",")
            try connection.send(
                #"{"method":"io.authrefresh.Subscribe","more":true,"parameters":{"accounts":[\#(names)]}}"#
            )
            try connection.send("\0")
            return try connection.receive()
        }
        #expect(refusal.contains(told(.subscribedAccounts, 10_000)), "\(refusal)")
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a page of large accounts is short, and leads to the next`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let names = (10..<50).map { "account-\($0)" }
        let issuer = "http://127.0.0.1:9/" + String(repeating: "x", count: 15_000)
        for name in names { try await stage.add(name, issuer: issuer) }
        var listed: [String] = []
        var pages = 0
        var next: String?
        repeat {
            let page = ListAccounts.Parameters(after: next)
            let reply = try await stage.ask(.listAccounts, page, for: ListAccounts.Reply.self)
            listed += reply.accounts.map(\.name)
            next = reply.next
            pages += 1
            // 512 KiB, and the account that exceeds it.
            #expect(reply.accounts.count <= 36)
        } while next != nil
        #expect(listed == names)
        #expect(pages == 2)
        #expect(try await stage.statuses().map(\.account) == names)
        #expect(
            await refused {
                let all = GetStatus.Parameters(accounts: names + names + names + names)
                _ = try await stage.ask(.getStatus, all, for: GetStatus.Reply.self)
            }.contains(#""limit":"page""#)
        )
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `one subscriber too many gets the limit, and one that leaves makes room`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        // Half of `heldCallsMax`. The other half is for other processes.
        let share = 128
        let answer = try await onOwnThread { [socket = stage.socket] in
            var subscribers = try (0..<share).map { _ in try Self.subscriber(socket) }
            for subscriber in subscribers { _ = try subscriber.receive() }
            let refused = try Self.subscriber(socket).receive()
            subscribers.removeLast()
            // The daemon notices after a while that a connection has ended. A refused caller asks again.
            let end = ContinuousClock.now + .patience
            while ContinuousClock.now < end {
                if try Self.subscriber(socket).receive().contains(#""event":"ready""#) { return refused }
            }
            return "no room was made"
        }
        #expect(answer.contains(#""limit":"heldCalls""#) && answer.contains(#""maximum":256"#), "\(answer)")
        #expect(answer.contains("has \(share) of 256"), "\(answer)")
        #expect(try await daemon.terminate() == .exited(0))
    }

    private static func subscriber(_ socket: String) throws -> RawConnection {
        let connection = try RawConnection(socket)
        try connection.send(#"{"method":"io.authrefresh.Subscribe","more":true}"# + "\0")
        return connection
    }
}
