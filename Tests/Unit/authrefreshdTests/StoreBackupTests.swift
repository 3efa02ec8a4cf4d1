import AccountStorage
import DemoIssuer
import Dispatch
import Foundation
import RefreshCore
import TestSupport
import Testing
import Varlink

@testable import authrefreshd

private typealias Outcome = Result<FinishedCopy, StoreKeepingError>

extension RefreshCoordinator {
    /// Requests a backup as the service does. Returns the caller's number.
    fileprivate func backUp(
        _ tell: @escaping @Sendable (Outcome) -> Void
    ) throws(StoreError) -> Int {
        try receive(storeKeeping.backUp(tell))
    }

    fileprivate func forgetBackupCaller(_ number: Int) {
        carryOut(storeKeeping.forgetBackupCaller(number))
    }
}

extension CoordinatorRig {
    /// Requests a backup. Its result goes into `outcomes`.
    fileprivate func backUp(_ outcomes: EventLog<Outcome>) async throws {
        try await inside { coordinator in _ = try coordinator.backUp { outcomes.append($0) } }
    }

    fileprivate func backedUp() async throws -> FinishedCopy {
        let outcomes = EventLog<Outcome>()
        try await backUp(outcomes)
        return try await outcomes.first("the backup") { _ in true }.get()
    }

    /// The copies in the store's folder.
    fileprivate func copies() async throws -> [String] {
        let path = await inside { $0.store.path }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains("outgoing") }.sorted()
    }
}

/// Backups of a store in use.
struct StoreBackupTests {
    @Test func `a backup shares the queue, and a caller that leaves leaves nothing behind`() async throws {
        try await withFreshAccount { rig, _, _ in
            let gone = EventLog<Outcome>()
            try await rig.inside { coordinator in
                // The batches are smaller than the store, so that the first one is not the last.
                for _ in 1...3 { coordinator.storeKeeping.backups.batchSize.fit(to: .seconds(1)) }
                let first = try coordinator.backUp { gone.append($0) }
                let second = try coordinator.backUp { gone.append($0) }
                // Both are in progress, and nobody has waited for them.
                #expect(coordinator.storeKeeping.backups.underWay == first)
                coordinator.forgetBackupCaller(second)
                coordinator.forgetBackupCaller(first)
                #expect(coordinator.storeKeeping.backups.underWay == nil)
            }
            #expect(try await rig.copies() == [])
            // One caller leaves during the check of its copy, which cannot be interrupted.
            try await rig.inside { coordinator in
                // The whole store in one batch.
                for _ in 1...9 { coordinator.storeKeeping.backups.batchSize.fit(to: .zero) }
                let number = try coordinator.backUp { gone.append($0) }
                coordinator.forgetBackupCaller(number)
                #expect(coordinator.storeKeeping.backups.underWay == number)
            }
            let copy = try await rig.backedUp()
            #expect(try await rig.copies() == [URL(fileURLWithPath: copy.path).lastPathComponent])
            #expect(gone.all.isEmpty)
        }
    }

    @Test func `a caller that leaves does not affect the next one's backup`() async throws {
        try await withFreshAccount { rig, _, _ in
            let outcomes = EventLog<Outcome>()
            try await rig.inside { coordinator in
                for _ in 1...3 { coordinator.storeKeeping.backups.batchSize.fit(to: .seconds(1)) }
                let first = try coordinator.backUp { _ in Issue.record("it is told though it has gone") }
                // The next backup is copied in one batch, as soon as it begins. Then it is checked.
                for _ in 1...9 { coordinator.storeKeeping.backups.batchSize.fit(to: .zero) }
                let second = try coordinator.backUp { outcomes.append($0) }
                coordinator.forgetBackupCaller(first)
                #expect(coordinator.storeKeeping.backups.underWay == second)
            }
            let outcome = try await outcomes.first("the second backup") { _ in true }
            #expect(throws: Never.self) { try outcome.get() }
        }
    }

    @Test func `a copy is checked while the coordinator does something else`() async throws {
        try await withFreshAccount { rig, _, _ in
            let copy = await rig.inside { $0.store.path } + ".outgoing-1"
            let somethingElse = DispatchSemaphore(value: 0)
            async let busy: Void = rig.inside { coordinator in
                // The whole store in one batch.
                for _ in 1...9 { coordinator.storeKeeping.backups.batchSize.fit(to: .zero) }
                _ = try coordinator.backUp { _ in }
                somethingElse.wait()
            }
            // The check begins by turning the copy's log off (SQLite's file format, "File format version numbers").
            let isWithoutLog = { (try? Data(contentsOf: URL(fileURLWithPath: copy)))?.dropFirst(18).first == 1 }
            let end = ContinuousClock.now + .patience
            while !isWithoutLog(), .now < end { await Task.yield() }
            let isChecked = isWithoutLog()
            somethingElse.signal()
            try await busy
            #expect(isChecked)
        }
    }

    @Test func `unfetched copies are few, and are removed after their time`() async throws {
        try await withFreshAccount { rig, _, _ in
            #expect(await rig.inside { $0.storeKeeping.backups.kept } == CallerLimits.backupKept)
            for _ in 0..<6 { _ = try await rig.backedUp() }
            #expect(try await rig.copies().count == CallerLimits.backupsMax)
            await rig.inside { $0.storeKeeping.backups.kept = .milliseconds(500) }
            let copy = try await rig.backedUp()
            let removals = EventLog<Bool>()
            let watch = PathWatch(copy.path) { removals.append(true) }
            // If the file is gone already, no watch reports it any more.
            if FileManager.default.fileExists(atPath: copy.path) {
                try await removals.first("the removal") { _ in !FileManager.default.fileExists(atPath: copy.path) }
            }
            watch.cancel()
        }
    }

    @Test func `the end of the daemon removes copies, and so does the next start`() async throws {
        let rig = try CoordinatorRig()
        let left = await rig.inside { $0.store.path } + ".outgoing-7"
        try Data("left by a crash".utf8).write(to: URL(fileURLWithPath: left))
        try await rig.start()
        #expect(try await rig.copies() == [])
        let copy = try await rig.backedUp()
        let interrupted = EventLog<Outcome>()
        try await rig.backUp(interrupted)
        await rig.stop()
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        #expect(try await rig.copies() == [])
        #expect(interrupted.all.count == 1)
    }

    @Test func `a progressing key change refuses backups, and a stuck one does not`() async throws {
        try await withFreshAccount { rig, _, _ in
            // The state after damage.
            let both = try await rig.inside { coordinator in
                let old = coordinator.store.rekeying.keyIdentifier
                let next = try coordinator.storeKeeping.keyring.next(after: old).key
                try coordinator.store.rekeying.begin(to: next)
                return [old, next.identifier]
            }
            let halted = try await rig.backedUp()
            #expect(halted.keyIdentifiers == both)

            let news = EventLog<Rekeying.News>()
            let stuck = EventLog<Outcome>()
            try await rig.inside { (coordinator) throws in
                _ = coordinator.storeKeeping.noteFailure(.diskFull(path: "/"), at: coordinator.timebase.now())
                _ = coordinator.receive(coordinator.storeKeeping.rekey { news.append($0) })
                _ = try coordinator.backUp { stuck.append($0) }
                _ = coordinator.storeKeeping.noteSuccess()
                #expect(throws: StoreError.beingResealed(path: coordinator.store.path)) {
                    try coordinator.backUp { _ in }
                }
                // The key change continues from where it was.
                coordinator.carryOut(coordinator.storeKeeping.run(.reseal))
            }
            try await news.first("the end of the change") { news in
                if case .end(.success) = news { true } else { false }
            }
            // No copy that opens with the old key remains, neither a complete one nor one that was being made.
            #expect(!FileManager.default.fileExists(atPath: halted.path))
            #expect(throws: StoreKeepingError.self) { try stuck.all.first?.get() }
            #expect(try await rig.backedUp().keyIdentifiers == [both[1]])
            #expect(try await rig.copies().count == 1)
        }
    }
}
