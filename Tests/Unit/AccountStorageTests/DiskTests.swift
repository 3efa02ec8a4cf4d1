import Foundation
@testable import RefreshCore
import TestSupport
import Testing

@testable import AccountStorage

/// The effects of a full or read-only disk, tested on a tiny file system.
@Suite(.enabled(if: isRoot, "needs root, to mount a small tmpfs"), .serialized)
struct DiskTests {
    private let folder: TemporaryFolder
    private let mounted: String

    init() throws {
        folder = try TemporaryFolder()
        mounted = folder.file("mounted")
        try FileManager.default.createDirectory(atPath: mounted, withIntermediateDirectories: false)
    }

    @Test func `a full disk refuses a write, which succeeds when there is room again`() async throws {
        try await withTemporaryMount(at: mounted, size: "1m") {
            let path = "\(mounted)/accounts.sqlite"
            let store = try AccountStore(path: path, key: Sample.key())
            let id = try store.add(Sample.scheduled("a", due: 1)).account.id
            let filler = URL(fileURLWithPath: "\(mounted)/filler")
            fill(filler)
            #expect(throws: StoreError.diskFull(path: path)) { try store.probe() }

            let state = RefreshState(generation: Generation(2), phase: .scheduled, deadline: Sample.start)
            let tokens = StoredTokens(
                accessToken: Sample.accessToken(String(repeating: "x", count: 100_000)),
                refreshToken: Sample.refreshToken("a-2")
            )
            let write = StateWrite(account: id, base: Generation(1), state: state, tokens: .store(tokens))
            for _ in 1...3 {
                #expect(throws: StoreError.diskFull(path: path)) { try store.commit([write]) }
            }
            #expect(try store.record(id)?.state.generation == Generation(1))
            #expect(try store.tokens.refreshToken(of: id, generation: Generation(1)) == Sample.refreshToken("a-1"))

            try makeRoom(filler)
            try store.probe()
            try store.commit([write])
            try store.close()
            let reopened = try AccountStore(path: path, key: Sample.key())
            #expect(try reopened.tokens.refreshToken(of: id, generation: Generation(2)) == Sample.refreshToken("a-2"))
            try reopened.close()
        }
    }

    @Test func `creating a store on a full disk fails with that error`() async throws {
        try await withTemporaryMount(at: mounted, size: "64k") {
            fill(URL(fileURLWithPath: "\(mounted)/filler"))
            let path = "\(mounted)/accounts.sqlite"
            #expect(throws: StoreError.diskFull(path: path)) { try AccountStore(path: path, key: Sample.key()) }
        }
    }

    @Test(arguments: [1, 3, 6, 12, 24, 32])
    func `a half-made store is completed when there is room`(pages: Int) async throws {
        try await withTemporaryMount(at: mounted, size: "1m") {
            let filler = URL(fileURLWithPath: "\(mounted)/filler")
            fill(filler)
            let handle = try FileHandle(forWritingTo: filler)
            try handle.truncate(atOffset: handle.seekToEnd() - UInt64(pages * 4096))
            try handle.close()
            let path = "\(mounted)/accounts.sqlite"
            #expect(throws: StoreError.diskFull(path: path)) { try AccountStore(path: path, key: Sample.key()) }
            try makeRoom(filler)
            try AccountStore(path: path, key: Sample.key()).close()
        }
    }

    @Test func `a backup onto a full disk leaves no file and the store as it was`() async throws {
        let store = try folder.open()
        _ = try store.add((0..<200).map { try Sample.scheduled("a\($0)", due: 1) })
        try await withTemporaryMount(at: mounted, size: "64k") {
            let path = "\(mounted)/backup"
            #expect(throws: StoreError.diskFull(path: path)) { try store.backup(to: path) }
            let left = try FileManager.default.contentsOfDirectory(atPath: mounted)
            #expect(left == [])
        }
        try store.rename(AccountID(1), to: Sample.name("still-works"))
    }

    @Test func `a read-only folder is refused`() async throws {
        try await withTemporaryMount(at: mounted, size: "1m") {
            let path = "\(mounted)/accounts.sqlite"
            try AccountStore(path: path, key: Sample.key()).close()
            try remountReadOnly(mounted)
            #expect(throws: StoreError.readOnly(path: path)) { try AccountStore(path: path, key: Sample.key()) }
            let fresh = "\(mounted)/other.sqlite"
            #expect(throws: StoreError.readOnly(path: fresh)) { try AccountStore(path: fresh, key: Sample.key()) }
        }
    }

    /// Frees the room that `fill` took. It works at once, even if a process that another suite just started still holds
    /// the file.
    private func makeRoom(_ file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.close()
    }

    /// Writes until there is no room for another page.
    private func fill(_ file: URL) {
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        guard let handle = try? FileHandle(forWritingTo: file) else { return }
        let page = Data(repeating: 1, count: 4096)
        while (try? handle.write(contentsOf: page)) != nil {}
        try? handle.close()
    }
}
