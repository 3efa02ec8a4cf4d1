import AccountStorage
import DemoIssuer
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// When a backup of a store is made whose key is being changed.
struct BackupWhileRekeyingTests {
    @Test func `a change that gets on keeps backups waiting, one that came to a halt does not`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            let account = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
            _ = await rig.waitForToken(of: account)

            // As damage leaves it.
            let both = try await rig.inside { coordinator in
                let store = coordinator.store
                let old = store.keyIdentifier
                let next = try coordinator.keyring.next(after: old).key
                try store.beginRekey(to: next)
                let (path, keys) = try coordinator.backUpStore()
                #expect(keys == [old, next.identifier])
                #expect(throws: StoreError.self) { try AccountStore(path: path, key: next) }
                return keys
            }

            let news = EventLog<Rekeying.News>()
            try await rig.inside { (coordinator) throws in
                _ = coordinator.rekey { news.append($0) }
                #expect(throws: StoreError.beingResealed(path: coordinator.store.path)) {
                    try coordinator.backUpStore()
                }
                coordinator.trouble = StoreTrouble(
                    error: .diskFull(path: "/"),
                    since: coordinator.timebase.now()
                )
                #expect(try coordinator.backUpStore().keys == both)
                coordinator.trouble = nil
            }
            try await news.first("the end of the change") { news in
                if case .end(.success) = news { true } else { false }
            }
            #expect(try await rig.inside { try $0.backUpStore().keys } == [both[1]])
            await rig.stop()
        }
    }
}
