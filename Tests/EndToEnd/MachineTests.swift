import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing

/// Events around a running daemon: a new configuration, a vanished socket, a full disk.
struct MachineTests {
    @Test func `SIGHUP applies a valid configuration, and keeps the old one if the new one is invalid`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("first", issuer: url)

            let seen = stage.notify.messages.count
            try stage.configure("max_accounts: one\n")
            daemon.signal(SIGHUP)
            let rejected = try await daemon.log.first("the rejection") {
                $0.contains("the new configuration is invalid; the previous one stays in force")
            }
            #expect(rejected.contains("line 1, key 'max_accounts'"))
            try await stage.add("second", issuer: url)
            try await stage.notify.messages.first("the end of the reload", from: seen) { $0.contains("READY=1") }
            #expect(stage.notify.status?.hasPrefix("the new configuration is invalid, ") == true)

            let rejectedAt = stage.notify.messages.count
            try stage.configure("max_accounts: 2\nrequest_timeout: 20s\n")
            daemon.signal(SIGHUP)
            let reloaded = try await daemon.log.first("the reload") { $0.contains("configuration reloaded") }
            #expect(reloaded.contains("request_timeout: takes effect with a restart"))
            try await stage.notify.messages.first("its end", from: rejectedAt) { $0.contains("READY=1") }
            await #expect {
                try await stage.add("third", issuer: url)
            } throws: { error in
                guard case TestFault.refused(LimitExceededError.name, let parameters) = error else { return false }
                return parameters.contains(#""limit":"accounts""#)
            }
            #expect(stage.notify.status?.hasPrefix("2 accounts") == true)
            // For each reload, the service manager was told the beginning and the end.
            let messages = stage.notify.messages.all
            #expect(messages.filter { $0.contains("RELOADING=1") && $0.contains("MONOTONIC_USEC=") }.count == 2)
            #expect(messages.filter { $0.contains("READY=1") }.count == 3)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test(.enabled(if: isRoot, "needs root, to mount a small tmpfs"))
    func `on a full disk valid tokens are served, and a rotated one is stored when there is room`()
        async throws
    {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            let folder = stage.folder.path + "/mounted"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try await withTemporaryMount(at: folder, size: "2m") {
                let daemon = try await stage.start(["--state-dir", folder])
                let feed = try await ChangeFeed(stage)
                let grant = try await issuer.issueGrant(clientID: "app")
                try await stage.add("work", issuer: url, grant: grant)
                try await feed.next("token-refreshed", of: "work")
                let token = try await stage.acquire("work")

                // The disk becomes full during the second refresh, so its answer cannot be stored.
                let sequence = await issuer.lastSequence
                try await issuer.script(.delayAfter(.seconds(3600)))
                try await stage.passToNextAttempt(of: "work")
                let served = try await issuer.waitForRequest(after: sequence) { $0.outcome == .rotated }
                let filler = Filler(folder + "/filler")
                #expect(try await stage.acquire("work") == token)
                await issuer.endDelays()
                try await daemon.log.first("the journal's line") { $0.contains("the store cannot be used; retrying") }
                #expect(try await stage.info().trouble?.contains("no space is left for the store") == true)
                try await stage.notify.messages.first("the status") { $0.contains("STATUS=trouble: ") }
                // An issued token is returned whether it could be stored or not.
                let unsaved = try await stage.acquire("work", minimumValiditySec: 1800)
                #expect(unsaved != token)
                #expect(try await stage.status("work").generation == Int64(served.generation ?? 0) + 1)
                #expect(await issuer.entries(after: served.sequence).filter { $0.path == "/token" } == [])

                let told = feed.changes.count
                filler.remove()
                try await daemon.log.first("the recovery") { $0.contains("the store can be used again") }
                #expect(try await stage.info().trouble == nil)
                try await feed.next("token-refreshed", of: "work", from: told)
                #expect(await issuer.counters.spentTokenUses == 0)
                #expect(try await daemon.terminate() == .exited(0))
            }
        }
    }

    @Test(.enabled(if: isRoot, "needs root, to mount a small tmpfs"))
    func `the daemon's end waits for an answer that cannot be stored yet`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let folder = stage.folder.path + "/mounted"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try await withTemporaryMount(at: folder, size: "2m") {
                let first = try await stage.start(["--state-dir", folder])
                try await issuer.script(.delayAfter(.seconds(3600)))
                try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
                _ = try await issuer.waitForRequest { $0.outcome == .rotated }
                let filler = Filler(folder + "/filler")
                first.signal(SIGTERM)
                try await first.says("authrefreshd is stopping")
                await issuer.endDelays()
                try await first.log.first("the journal's line") { $0.contains("the store cannot be used; retrying") }
                // The answer is nowhere else.
                #expect(first.isRunning)
                filler.remove()
                #expect(try await first.ended() == .exited(0))

                let second = try await stage.start(["--state-dir", folder])
                #expect(try await stage.status("work").state == "fresh")
                try await stage.acquire("work", force: true)
                #expect(await issuer.counters.spentTokenUses == 0)
                #expect(try await second.terminate() == .exited(0))
            }
        }
    }
}

/// Fills a file system up to the last page.
private struct Filler {
    private let path: String

    init(_ path: String) {
        self.path = path
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        guard let handle = FileHandle(forWritingAtPath: path) else { return }
        for size in [64 << 10, 4 << 10, 512] {
            while (try? handle.write(contentsOf: Data(repeating: 1, count: size))) != nil {}
        }
        try? handle.close()
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
