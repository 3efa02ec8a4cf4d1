import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// Callers that ask for something that does not exist, or send something that cannot be understood.
struct BadCallTests {
    @Test func `invalid account settings are refused with the reason`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        let unknown = try await stage.authctl("token", "nobody")
        #expect(unknown.end == .exited(4))
        #expect(unknown.output == "")
        #expect(unknown.errors.contains("authctl: error: "))

        let plain = try await stage.authctl(
            "account",
            "add",
            "work",
            "--issuer",
            "http://login.example.com",
            "--client-id",
            "app"
        )
        #expect(plain.end == .exited(65) || plain.end == .exited(64), "\(plain)")
        #expect(plain.errors.contains("is not https"))
        let metadata = "http://login.example.com/.well-known/openid-configuration"
        let copied = try await stage.authctl("account", "add", "work", "--issuer", metadata, "--client-id", "app")
        #expect(copied.errors.contains("'\(metadata)' is not https"), "\(copied.errors)")

        let secret = "rt-0123456789abcdef0123456789abcdef"
        let typed = try await stage.authctl(
            "account",
            "add",
            "work",
            "--issuer",
            "https://login.example.com",
            "--client-id",
            "app",
            "--refresh-token",
            secret
        )
        #expect(typed.end == .exited(64))
        #expect(!typed.errors.contains(secret))
        #expect(typed.errors.contains("--refresh-token-file"))
        #expect(try await stage.statuses() == [])
        #expect(try await daemon.terminate() == .exited(0))
        #expect(!daemon.logText.contains(secret))
    }

    @Test func `a server that publishes another issuer is never sent the token`() async throws {
        try await withIssuer { issuer, published in
            // The same server by another name, which its document does not name.
            let url = published.replacingOccurrences(of: "127.0.0.1", with: "localhost")
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let change = try await feed.next("misconfigured", of: "work")
            #expect(change.accounts.first?.state == "misconfigured")
            let refusal = try await stage.refusal(of: "work", as: MisconfiguredError.self)
            #expect(refusal.reason.contains("issuer"), "\(refusal.reason)")
            let token = try await stage.authctl("token", "work")
            #expect(token.end == .exited(78))
            #expect(await issuer.counters.tokenRequests == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `no method accepts an unknown parameter`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        for method in Method.allCases {
            let answer = try await onOwnThread { [socket = stage.socket] in
                let connection = try RawConnection(socket)
                let call = #"{"method":"\#(method.rawValue)","more":true,"parameters":{"acount":"work"}}"#
                try connection.send(call + "\0")
                return try connection.receive()
            }
            #expect(answer.contains("org.varlink.service.InvalidParameter"), "\(method): \(answer)")
        }
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `malformed, oversized and truncated messages harm nobody but their sender`() async throws {
        try await FreshAccount.with { account in
            let stage = account.stage
            let daemon = try await stage.start()
            let feed = try await ChangeFeed(stage)
            let messages = [
                "this is not JSON\0", "[1,2,3]\0", "\0", "{\"method\":7}\0", "{}\0",
                "{\"method\":\"io.authrefresh.GetStatus\",\"parameters\":{\"accounts\":7}}\0",
                "{\"method\":\"io.authrefresh.NoSuchMethod\"}\0", "{\"method\":\"other.interface.Method\"}\0",
                String(repeating: "[", count: 100_000) + "\0", String(repeating: "x", count: (1 << 20) + 10) + "\0",
            ]
            for message in messages {
                let answer = try await onOwnThread { [socket = stage.socket] in
                    let connection = try RawConnection(socket)
                    try connection.send(message)
                    return try connection.receive()
                }
                #expect(answer.contains("\"error\":\""), "\(message.prefix(80)) → \(answer)")
            }
            // The beginning of a call, followed by nothing, or by the end of the connection.
            let (half, silent) = try await onOwnThread { [socket = stage.socket] in
                let half = try RawConnection(socket)
                try half.send("{\"method\":\"io.authrefresh.GetIn")
                half.finish()
                _ = try half.receive()
                let silent = try RawConnection.open(20, to: socket)
                for connection in silent { try connection.send("{\"method\":") }
                return (half, silent)
            }
            #expect(try await stage.acquire("work") == account.token)
            #expect(feed.changes.all.filter { $0.event != "present" }.map(\.event) == ["ready"])
            _ = (half, silent)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}
