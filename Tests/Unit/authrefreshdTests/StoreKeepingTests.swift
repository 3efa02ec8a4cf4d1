import AccountStorage
import Foundation
import Logging
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// The store's maintenance alone, with a real store. The test runs the turns that it asks for.
struct StoreKeepingTests {
    private let folder: TemporaryFolder
    private let store: AccountStore
    private let keeping: StoreKeeping
    private let log = EventLog<String>()
    private let timebase: Timebase

    init() throws {
        folder = try TemporaryFolder()
        timebase = try Timebase.system()
        let keyring = StoreKeyring.onFiles(in: folder.path)
        store = try keyring.openStore(at: folder.path + "/accounts.sqlite")
        keeping = StoreKeeping(
            store: store,
            keyring: keyring,
            timebase: timebase,
            changeLog: ChangeLog(logger: Logger(label: "test") { [log] _ in CollectingLogHandler(log: log) })
        )
    }

    /// Runs the effects that are due at once, and returns those for later.
    private func perform(_ effects: [StoreKeeping.Effect]) async -> [StoreKeeping.Effect] {
        var (rest, left) = (effects[...], [StoreKeeping.Effect]())
        while let effect = rest.popFirst() {
            switch effect {
            case .turn(let turn, after: nil): rest += keeping.run(turn)
            case .block(_, let body):
                let turns = EventLog<StoreKeeping.Turn>()
                body { turns.append($0) }
                for turn in turns.all { rest += keeping.run(turn) }
            case .beginRekeying: rest += await keeping.beginRekeying()
            case .destroyRetiredKey: rest += await keeping.destroyRetiredKey()
            case .turn, .failed, .statusChanged, .wake: left.append(effect)
            }
        }
        return left
    }

    @Test func `store trouble is reported once, lasts until the store works, and says when to try again`() {
        let now = timebase.now()
        #expect(keeping.noteSuccess() == false)
        _ = keeping.noteFailure(.diskFull(path: store.path), at: now)
        _ = keeping.noteFailure(.diskFull(path: store.path), at: now)
        #expect(log.all.count == 1)
        #expect(keeping.trouble?.remaining(at: now) == StoreOutage.retryInterval)
        #expect(keeping.noteSuccess() == true)
        #expect(keeping.trouble == nil && log.all.count == 2)
    }

    @Test func `a lack of descriptors is reported as long as it lasts`() {
        keeping.descriptorsChanged(areLacking: true)
        #expect(keeping.degradation.texts == ["no file descriptor is left, callers are let in one at a time"])
        keeping.descriptorsChanged(areLacking: false)
        #expect(keeping.degradation.texts.isEmpty)
    }

    @Test func `a backup is copied, checked, reported, and scheduled for removal`() async throws {
        let told = EventLog<String>()
        let (_, effects) = try keeping.backUp { if case .success(let copy) = $0 { told.append(copy.path) } }
        let left = await perform(effects)
        let path = try #require(told.all.first)
        #expect(FileManager.default.fileExists(atPath: path))
        guard case .turn(.removeBackup(let number), after: .some)? = left.first else {
            Issue.record("\(left)")
            return
        }
        _ = keeping.run(.removeBackup(number))
        #expect(!FileManager.default.fileExists(atPath: path) && keeping.isIdle)
    }

    @Test func `the end interrupts a backup and a check, and nothing begins after it`() async throws {
        let told = EventLog<String>()
        for _ in 1...3 { keeping.backups.batchSize.fit(to: .seconds(1)) }
        let (_, backup) = try keeping.backUp { if case .failure(.interrupted) = $0 { told.append("backup") } }
        let follower = StoreChecking.Follower(wantsProgress: false) { news in
            if case .end(.failure(.interrupted)) = news { told.append("check") }
        }
        _ = try keeping.check(for: follower)
        var left = await perform(keeping.stop())
        #expect(told.all == ["backup"] && keeping.isIdle)
        left += await perform(backup)
        left += await perform(keeping.end())
        #expect(told.all == ["backup", "check"])
        #expect(left.allSatisfy { if case .wake = $0 { true } else { false } })
    }

    @Test func `a check with a complete copy reports to its end while the daemon stops`() throws {
        let ends = EventLog<Bool>()
        let follower = StoreChecking.Follower(wantsProgress: false) { news in
            if case .end(let end) = news { ends.append((try? end.get()) != nil) }
        }
        var effects = try keeping.check(for: follower).effects
        while case .turn(let turn, after: nil)? = effects.first { effects = keeping.run(turn) }
        guard case .block(_, let body)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        let turns = EventLog<StoreKeeping.Turn>()
        body { turns.append($0) }
        _ = keeping.stop()
        for turn in turns.all { _ = keeping.run(turn) }
        #expect(ends.all == [true])
        _ = keeping.end()
        #expect(ends.all == [true])
    }

    @Test func `a key change pauses while the store fails, and continues when it works`() async throws {
        let before = store.rekeying.keyIdentifier
        let ends = EventLog<Bool>()
        _ = keeping.noteFailure(.diskFull(path: store.path), at: timebase.now())
        let (_, effects) = keeping.rekey { if case .end(let end) = $0 { ends.append((try? end.get()) != nil) } }
        let left = await perform(effects)
        guard case .turn(.reseal, after: StoreOutage.retryInterval)? = left.first else {
            Issue.record("\(left)")
            return
        }
        #expect(ends.all.isEmpty && keeping.isRekeying)
        _ = keeping.noteSuccess()
        #expect(await perform(keeping.run(.reseal)).isEmpty)
        #expect(ends.all == [true] && store.rekeying.keyIdentifier != before && !keeping.isRekeying)
    }

    @Test func `a missing key is reported, and so is its return`() async throws {
        let text = { keeping.degradation.texts.joined() }
        #expect(text().isEmpty)
        let key = folder.path + "/" + "store.key"
        let source = keeping.keyring.source.keyFilePath
        try FileManager.default.moveItem(atPath: source, toPath: key + ".away")
        #expect(await perform(keeping.checkKey()).count == 1)
        #expect(text().contains("the store's key is gone"))
        try FileManager.default.moveItem(atPath: key + ".away", toPath: source)
        _ = await keeping.checkKey()
        #expect(text().isEmpty && log.all.count == 2)
    }
}
