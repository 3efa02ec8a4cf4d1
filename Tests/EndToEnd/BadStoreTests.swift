import AuthRefreshInterface
import Foundation
import TestSupport
import Testing

/// Stores and keys that cannot be used: the refusal is readable, and nothing is lost.
struct BadStoreTests {
    private func bytes(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private func replace(_ path: String, by data: Data, while body: () async throws -> Void) async throws {
        let original = try bytes(path)
        try data.write(to: URL(fileURLWithPath: path))
        try await body()
        #expect(try bytes(path) == data)
        try original.write(to: URL(fileURLWithPath: path))
    }

    @Test func `a key that others can read is refused`() async throws {
        try await FreshAccount.with { account in
            let key = account.stage.key
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
            try await account.expectRefusal(status: 77, says: "'\(key)' can be read by other users (mode 0644)")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        }
    }

    @Test func `another store's key is refused`() async throws {
        try await FreshAccount.with { account in
            try await replace(account.stage.key, by: Data(repeating: 7, count: 32)) {
                try await account.expectRefusal(status: 78, says: "was encrypted with key ")
            }
        }
    }

    @Test func `an unreadable key is refused, and so is a missing one`() async throws {
        try await FreshAccount.with { account in
            let key = account.stage.key
            try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
            try await account.expectRefusal(status: 77, says: "the store's key '\(key)' is missing")
            // Nobody can read a folder as a file, not even root.
            try FileManager.default.createDirectory(atPath: key, withIntermediateDirectories: false)
            try await account.expectRefusal(status: 77, says: "the store's key '\(key)' is not a file")
            try FileManager.default.removeItem(atPath: key)
            try FileManager.default.moveItem(atPath: key + ".away", toPath: key)
        }
    }

    @Test func `a failed start says why and exits with its status, even with a watchdog`() async throws {
        try await FreshAccount.with { account in
            let key = account.stage.key
            try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
            let refused = try account.stage.spawn(environment: ["WATCHDOG_USEC": "30000000"])
            #expect(try await refused.ended() == .exited(77))
            #expect(refused.logText.contains("the store's key '\(key)' is missing"), "\(refused.logText)")
            try FileManager.default.moveItem(atPath: key + ".away", toPath: key)
        }
    }

    @Test func `a damaged store, or another file, is refused and left unchanged`() async throws {
        try await FreshAccount.with { account in
            let store = account.stage.store
            let good = try bytes(store)
            let torn = good.prefix(100) + Data(repeating: 0xff, count: good.count - 100)
            try await replace(store, by: torn) {
                try await account.expectRefusal(status: 78, says: store)
            }
            try await replace(store, by: Data("this was a letter to a friend, saved under the wrong name\n".utf8)) {
                try await account.expectRefusal(status: 78, says: store)
            }
        }
    }

    @Test func `a second daemon on the same store says which process has it`() async throws {
        try await FreshAccount.with { account in
            let first = try await account.stage.start()
            let elsewhere = account.stage.folder.path + "/run/other"
            try await account.expectRefusal(["--socket", elsewhere], status: 78, says: "process \(first.pid)")
            #expect(try await account.stage.status("work").state == "fresh")
            #expect(try await first.terminate() == .exited(0))
        }
    }

    @Test(.enabled(if: isRoot, "needs root, to mount a small tmpfs"))
    func `a state folder that cannot be written is refused`() async throws {
        let stage = try DaemonStage()
        let folder = stage.folder.path + "/mounted"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try await withTemporaryMount(at: folder, size: "4m") {
            let arguments = ["--state-dir", folder]
            let first = try await stage.start(arguments)
            #expect(try await first.terminate() == .exited(0))
            try remountReadOnly(folder)
            let refused = try stage.spawn(arguments)
            #expect(try await refused.ended() == .exited(78))
            #expect(refused.logText.contains("'\(folder)/accounts.sqlite' cannot be written to"), "\(refused.logText)")
        }
    }
}
