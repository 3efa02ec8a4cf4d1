import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing

/// A journal, or a service manager, that does not read what the daemon sends.
struct UnreadLogTests {
    @Test func `an unread log delays nobody, and does not delay the daemon's end`() async throws {
        let stage = try DaemonStage()
        let log = stage.folder.path + "/log"
        let made = unsafe mkfifo(log, 0o600)
        #expect(made == 0)
        // A reader that does not read. The pipe holds 64 KiB.
        let reader = unsafe open(log, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        let daemon = try stage.spawn(logFile: log)
        try await daemon.ready()
        try await stage.add("account-0", issuer: "http://127.0.0.1:9/" + String(repeating: "x", count: 15_000))
        // Each renaming writes a line of 15 KB.
        for round in 0..<100 {
            let (old, new) = round % 2 == 0 ? ("account-0", "renamed") : ("renamed", "account-0")
            let parameters = RenameAccount.Parameters(account: old, newName: new)
            _ = try await stage.ask(.renameAccount, parameters, for: RenameAccount.Reply.self)
        }
        #expect(try await stage.info().accounts == 1)
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a service manager that does not read delays nobody`() async throws {
        let stage = try DaemonStage()
        let path = stage.folder.path + "/deaf"
        let manager = try UnixSocket.bound(to: path, SOCK_DGRAM)
        defer { close(manager) }
        // As many datagrams as the kernel holds for it.
        let sender = try UnixSocket.connected(to: path, SOCK_DGRAM)
        defer { close(sender) }
        var sent = 0
        while unsafe send(sender, "x", 1, Int32(MSG_DONTWAIT)) == 1 { sent += 1 }
        #expect(sent > 0)

        let daemon = try stage.spawn(environment: ["NOTIFY_SOCKET": path])
        try await daemon.log.first("the start") { $0.contains("authrefreshd has started") }
        try await stage.add("work", issuer: "http://127.0.0.1:9/")
        #expect(try await stage.info().accounts == 1)
        #expect(try await daemon.terminate() == .exited(0))
    }
}
