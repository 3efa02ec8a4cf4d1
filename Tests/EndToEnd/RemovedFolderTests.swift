import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing

/// Folders that are removed while a daemon uses them.
struct RemovedFolderTests {
    @Test func `a socket whose folder is removed comes back`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        // The daemon may have made it again before the removal is complete, which is fine.
        try? FileManager.default.removeItem(atPath: stage.folder.path + "/run/authrefreshd")
        try await daemon.log.first("the path") { $0.contains("the socket was removed, and is back") }
        #expect(try await stage.info().accounts == 0)
        #expect(try await daemon.terminate() == .exited(0))
    }

    /// Starts a program in a user namespace without inotify instances, as if other programs had used them up.
    private static let withoutInotify = [
        "--user", "--map-root-user", "sh", "-c", "echo 0 >/proc/sys/user/max_inotify_instances && exec \"$@\"", "sh",
    ]
    private static let canTakeInotifyAway: Bool = {
        let trial = try? Program.run("/usr/bin/unshare", withoutInotify + ["/bin/true"])
        return trial?.end == .exited(0)
    }()

    @Test(.enabled(if: canTakeInotifyAway, "needs user namespaces"))
    func `without inotify a removed socket and a removed log are noticed all the same, and the journal says how`()
        async throws
    {
        let stage = try DaemonStage()
        let daemon = try Program(
            "/usr/bin/unshare",
            Self.withoutInotify + [Program.products + "/authrefreshd"],
            environment: stage.environment
        )
        defer { if daemon.isRunning { daemon.signal(SIGKILL) } }
        try await stage.notify.messages.first("READY=1") { $0.contains("READY=1") }
        try FileManager.default.removeItem(atPath: stage.store + "-wal")
        try? FileManager.default.removeItem(atPath: stage.folder.path + "/run/authrefreshd")
        try await daemon.errors.first("the path") { $0.contains("the socket was removed, and is back") }
        try await daemon.errors.first("the log") { $0.contains("the store's write-ahead log was removed") }
        #expect(try await stage.info().trouble == nil)
        daemon.signal(SIGTERM)
        #expect(try await daemon.ended() == .exited(0))
        let notices = daemon.errors.all.filter { $0.contains("the daemon cannot watch a part of the machine") }
        let paths = [(stage.store, "the store's files are"), (stage.socket, "the socket's path is")]
        #expect(notices.count == paths.count, "\(daemon.errorText)")
        for (path, what) in paths {
            #expect(
                notices.contains { $0.contains("inotify cannot watch '\(path)'") && $0.contains(what) },
                "\(notices)"
            )
        }
    }

    @Test func `without its store the daemon serves what it has, spends nothing, and continues when it is back`()
        async throws
    {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let token = try await stage.acquire("work")
            let away = stage.stateDirectory + ".away"
            try FileManager.default.moveItem(atPath: stage.stateDirectory, toPath: away)
            // No account was due, so the daemon noticed it by itself.
            let told = try await daemon.log.first("the journal's line") { $0.contains("the store cannot be used") }
            #expect(told.contains("was removed or replaced while it was open"))
            try await stage.notify.messages.first("the status") { $0.contains("STATUS=trouble: ") }
            #expect(try await stage.info().trouble?.contains("was removed or replaced") == true)

            #expect(try await stage.acquire("work") == token)
            #expect(try await stage.status("work").state == "fresh")
            let forced = try await stage.authctl("token", "work", "--force")
            #expect(forced.end == .exited(75))
            #expect(forced.errors.contains("was removed or replaced while it was open"), "\(forced.errors)")
            #expect(await issuer.counters.tokenRequests == 1)

            try FileManager.default.moveItem(atPath: away, toPath: stage.stateDirectory)
            try await daemon.log.first("the recovery") { $0.contains("the store can be used again") }
            #expect(try await stage.acquire("work", force: true) != token)
            #expect(try await daemon.terminate() == .exited(0))

            let again = try await stage.start()
            #expect(try await stage.status("work").generation == 3)
            #expect(try await again.terminate() == .exited(0))
        }
    }

    @Test func `a removed log is noticed at once, and a kill loses nothing`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let token = try await stage.acquire("work")
            try FileManager.default.removeItem(atPath: stage.store + "-wal")
            try await daemon.log.first("the journal's line") { $0.contains("the store's write-ahead log was removed") }
            #expect(try await stage.info().trouble == nil)
            #expect(try await daemon.kill() == .signalled(9))
            let again = try await stage.start()
            #expect(try await stage.acquire("work") == token)
            #expect(try await again.terminate() == .exited(0))
        }
    }

    @Test func `a daemon whose store another one covers says so, and ends to begin with that one`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let manager = FileManager.default
            let (folder, kept) = (stage.stateDirectory, stage.stateDirectory + ".kept")
            let first = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            #expect(try await first.terminate() == .exited(0))
            try manager.moveItem(atPath: folder, toPath: kept)

            // Its last daemon had a store, so this one makes no other.
            let second = try await stage.start()
            let answer = try await stage.authctl("status")
            #expect(answer.end == .exited(75))
            #expect(answer.errors.contains("is missing, and the last daemon had one there"), "\(answer.errors)")
            #expect(!manager.fileExists(atPath: folder))
            #expect(try await second.terminate() == .exited(0))

            // After a restart of the machine, nothing is remembered.
            let run = stage.folder.path + "/run/authrefreshd/"
            for name in try manager.contentsOfDirectory(atPath: run) where name.hasPrefix("had-store-") {
                try manager.removeItem(atPath: run + name)
            }
            let third = try await stage.start()
            try manager.moveItem(atPath: folder, toPath: folder + ".covered")
            try manager.moveItem(atPath: kept, toPath: folder)
            #expect(try await third.ended() == .exited(75))
            #expect(third.logText.contains("another file is there now"), "\(third.logText)")
            let fourth = try await stage.start()
            #expect(try await stage.status("work").state == "fresh")
            #expect(try await fourth.terminate() == .exited(0))
        }
    }

    @Test func `a replaced store is not written to`() async throws {
        try await FreshAccount.with { account in
            let stage = account.stage
            let daemon = try await stage.start()
            let copy = try Data(contentsOf: URL(fileURLWithPath: stage.store))
            let other = stage.store + ".other"
            try copy.write(to: URL(fileURLWithPath: other))
            try FileManager.default.removeItem(atPath: stage.store)
            try FileManager.default.moveItem(atPath: other, toPath: stage.store)
            try await daemon.log.first("the journal's line") {
                $0.contains("was removed or replaced while it was open")
            }
            #expect(try await stage.authctl("refresh", "work").end == .exited(75))
            #expect(try await daemon.terminate() == .exited(0))
            #expect(try Data(contentsOf: URL(fileURLWithPath: stage.store)) == copy)
        }
    }
}
