import Foundation
import RefreshCore
import Testing

@testable import AccountStorage

/// Where the store's key is found, created, moved to and destroyed.
struct StoreKeyringTests {
    private let folder: TemporaryFolder
    private let service = FakeSecretService()

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("credentials"),
            withIntermediateDirectories: false
        )
    }

    private var source: StoreKeySource {
        StoreKeySource(credentialsDirectory: folder.file("credentials"), stateDirectory: folder.path)
    }

    private var withSecretService: StoreKeyring { service.keyring(source) }
    private var withoutSecretService: StoreKeyring { service.keyring(source, isUsed: false) }

    /// Passes a key as systemd does.
    private func pass(_ key: StoreKey, as name: String = "store-key") throws {
        let contents = unsafe key.fileContents.withBytes { unsafe Data($0) }
        try contents.write(to: URL(fileURLWithPath: folder.file("credentials/\(name)")))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o440],
            ofItemAtPath: folder.file("credentials/\(name)")
        )
    }

    private func withdraw(_ name: String) throws {
        try FileManager.default.removeItem(atPath: folder.file("credentials/\(name)"))
    }

    private var keyFiles: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("store-key") }
        }
    }

    /// Opens the store. A new store gets one account.
    private func open(_ keyring: StoreKeyring) throws -> AccountStore {
        let store = try keyring.openStore(at: folder.store)
        if try store.counts().total == 0 { _ = try store.add(Sample.scheduled("a", due: 1)) }
        #expect(
            try store.tokens.refreshToken(of: AccountID(1), generation: Generation(1)) == Sample.refreshToken("a-1")
        )
        return store
    }

    /// Changes the store's key to the one that `keyring` gives, from beginning to end.
    private func rekey(_ keyring: StoreKeyring) throws -> HeldKey {
        let store = try open(keyring)
        let next = try keyring.next(after: store.rekeying.keyIdentifier)
        try store.rekeying.begin(to: next.key)
        while try !store.rekeying.reseal(limit: 9).isLast {}
        try store.close()
        try keyring.settle(on: next.key.identifier)
        return next
    }

    @Test func `the first start creates the key in the first available place`() throws {
        try open(withSecretService).close()
        #expect(service.identifiers.count == 1)
        #expect(try keyFiles == [])
        try FileManager.default.removeItem(atPath: folder.store)
        try open(withoutSecretService).close()
        #expect(try keyFiles == ["store-key"])
        try FileManager.default.removeItem(atPath: folder.store)
        let key = StoreKey.random()
        try pass(key)
        #expect(try open(withSecretService).rekeying.keyIdentifier == key.identifier)
    }

    @Test func `a key from another place opens the store without asking the Secret Service`() throws {
        try open(withoutSecretService).close()
        service.fail(with: .secretServiceLocked)
        try pass(StoreKey.random())
        try open(withSecretService).close()
        #expect(service.calls == 0)
    }

    @Test func `a locked Secret Service has its own error, which is temporary`() throws {
        try open(withSecretService).close()
        service.fail(with: .secretServiceLocked)
        #expect(throws: StoreError.key(.secretServiceLocked)) { try open(withSecretService) }
        #expect(StoreKeyError.secretServiceLocked.isPassing)
        service.fail(with: nil)
        try open(withSecretService).close()
    }

    @Test func `if a configured Secret Service lacks the key, the error is one to wait for`() throws {
        let store = try open(withSecretService)
        let identifier = store.rekeying.keyIdentifier
        try store.close()
        try withSecretService.secretService.removeOthers("none")
        let nowhere = StoreError.key(.secretServiceLacksKey(identifier: nil))
        #expect(throws: nowhere) { try open(withSecretService) }
        #expect(throws: StoreKeyError.secretServiceLacksKey(identifier: identifier)) {
            try withSecretService.locate(identifier)
        }
        _ = try withSecretService.secretService.create()
        try pass(StoreKey.random())
        let another = StoreKeyError.secretServiceLacksKey(identifier: identifier)
        #expect(throws: StoreError.key(another)) { try open(withSecretService) }
        #expect(another.isAwaited && StoreKeyError.secretServiceRefused(reason: "no").isAwaited)
        #expect(!StoreKeyError.keyMissing(path: "/k").isAwaited)
        // Without the option there is no keyring.
        #expect(throws: StoreError.self) { try open(withoutSecretService) }
        #expect(throws: StoreKeyError.keyMissing(path: folder.file("store-key"))) {
            try withoutSecretService.locate(identifier)
        }
    }

    @Test func `a key is located where the next start finds it`() throws {
        let store = try open(withSecretService)
        #expect(try withSecretService.locate(store.rekeying.keyIdentifier) == .secretService)
        #expect(try withoutSecretService.locate(store.rekeying.keyIdentifier) == .secretService)
        service.fail(with: .secretServiceLocked)
        #expect(throws: StoreKeyError.keyMissing(path: folder.file("store-key"))) {
            try withoutSecretService.locate(store.rekeying.keyIdentifier)
        }
        let file = try source.createFile()
        #expect(try withSecretService.locate(file.key.identifier) == .file)
    }

    @Test func `without the option the Secret Service is asked only if the start would fail otherwise`() throws {
        let missing = StoreError.key(.keyMissing(path: folder.file("store-key")))
        try open(withSecretService).close()
        try open(withoutSecretService).close()
        service.fail(with: .secretServiceUnavailable(reason: "no bus"))
        #expect(throws: missing) { try open(withoutSecretService) }
        service.fail(with: .secretServiceRefused(reason: "no"))
        #expect(throws: missing) { try open(withoutSecretService) }
        // A key that is found nowhere is missing, and not locked.
        service.fail(with: .secretServiceLocked)
        #expect(throws: missing) { try open(withoutSecretService) }
        service.fail(with: nil)
        _ = try rekey(withoutSecretService)
        let calls = service.calls
        try open(withoutSecretService).close()
        #expect(service.calls == calls)
    }

    @Test func `moving away from the Secret Service can be interrupted after any step`() throws {
        try open(withSecretService).close()
        var store = try open(withoutSecretService)
        let old = store.rekeying.keyIdentifier
        let next = try withoutSecretService.next(after: old)
        func startAgain() throws {
            try store.close()
            store = try open(withoutSecretService)
        }
        try startAgain()
        #expect(store.rekeying.keyIdentifier == old)
        try store.rekeying.begin(to: next.key)
        try store.close()
        // Both keys are needed, and one of them may be unavailable for a while.
        let away = StoreKeyError.secretServiceUnavailable(reason: "not yet")
        service.fail(with: away)
        let lacking = StoreError.wrongKey(path: folder.store, expected: old, given: next.key.identifier)
        #expect(throws: lacking) { try open(withoutSecretService) }
        service.fail(with: nil)
        store = try open(withoutSecretService)
        #expect(store.rekeying.isBeingResealed)
        while try !store.rekeying.reseal(limit: 1).isLast { try startAgain() }
        try startAgain()
        #expect(try store.rekeying.retiredKeyIdentifier() == old)
        service.fail(with: away)
        #expect(throws: away) { try withoutSecretService.settle(on: next.key.identifier) }
        service.fail(with: nil)
        #expect(service.identifiers == [old])
        for _ in 0..<2 {
            try withoutSecretService.settle(on: next.key.identifier)
            #expect(service.identifiers == [])
            #expect(try source.files() == [HeldKey(next.key, in: .file)])
            try startAgain()
        }
        try store.close()
    }

    @Test func `an old key that was in a file is not looked for in a Secret Service after a crash`() throws {
        let keyring = withoutSecretService
        var store = try open(keyring)
        let next = try keyring.next(after: store.rekeying.keyIdentifier)
        try store.rekeying.begin(to: next.key)
        while try !store.rekeying.reseal(limit: 9).isLast {}
        let retired = try #require(try store.rekeying.retiredKeyIdentifier())
        #expect(try store.rekeying.retiredKeyPlace() == nil)
        try store.rekeying.setRetiredKeyPlace(keyring.place(of: retired))
        service.fail(with: .secretServiceUnavailable(reason: "there is no session bus"))
        for _ in 0..<2 {
            try keyring.settle(on: next.key.identifier, retiredFrom: store.rekeying.retiredKeyPlace())
            #expect(try source.files() == [HeldKey(next.key, in: .file)])
            // The daemon ends before it has recorded this.
            try store.close()
            store = try open(keyring)
        }
        try store.rekeying.forgetRetiredKey()
        #expect(try store.rekeying.retiredKeyPlace() == nil)
        try store.close()
    }

    @Test func `no key is destroyed while the new one cannot be found`() throws {
        let gone = StoreKey.random().identifier
        try open(withSecretService).close()
        let kept = try source.createFile()
        let items = service.identifiers
        #expect(throws: StoreKeyError.secretServiceLacksKey(identifier: gone)) {
            try withSecretService.settle(on: gone)
        }
        #expect(throws: StoreKeyError.keyMissing(path: folder.file("store-key"))) {
            try withoutSecretService.settle(on: gone)
        }
        #expect(service.identifiers == items)
        #expect(try source.files() == [kept])
    }

    @Test func `a changed key replaces the key file`() throws {
        try open(withoutSecretService).close()
        let before = try source.files()
        let next = try rekey(withoutSecretService)
        #expect(try source.files() == [HeldKey(next.key, in: .file)])
        #expect(try source.files() != before)
        #expect(try keyFiles == ["store-key"])
        #expect(try open(withoutSecretService).rekeying.keyIdentifier == next.key.identifier)
    }

    @Test func `the target of a key file's symbolic link is replaced in place`() throws {
        try FileManager.default.createDirectory(atPath: folder.file("vault"), withIntermediateDirectories: false)
        try StoreKeyFile.own(folder.file("vault/key")).create(StoreKey.random())
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("store-key"),
            withDestinationPath: folder.file("vault/key")
        )
        let next = try rekey(withoutSecretService)
        #expect(try StoreKeyFile.own(folder.file("vault/key")).read() == next.key)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("store-key"))
                == folder.file("vault/key")
        )
    }

    @Test func `the key moves from the file into the Secret Service, and back`() throws {
        try open(withoutSecretService).close()
        var keyring = withSecretService
        let there = try rekey(keyring)
        #expect(there.place == .secretService)
        #expect(service.identifiers == [there.key.identifier])
        #expect(try keyFiles == [])
        keyring.useSecretService(false)
        // The daemon has the store open while the configuration changes.
        let store = try open(withSecretService)
        let back = try keyring.next(after: store.rekeying.keyIdentifier)
        try store.rekeying.begin(to: back.key)
        while try !store.rekeying.reseal(limit: 9).isLast {}
        try store.close()
        try keyring.settle(on: back.key.identifier)
        #expect(service.identifiers == [])
        #expect(try source.files() == [HeldKey(back.key, in: .file)])
    }

    @Test func `a key in the Secret Service is changed there`() throws {
        let first = try open(withSecretService)
        let before = first.rekeying.keyIdentifier
        try first.close()
        let next = try rekey(withSecretService)
        #expect(service.identifiers == [next.key.identifier])
        #expect(next.key.identifier != before)
    }

    @Test func `the key moves from the file to a credential`() throws {
        try open(withoutSecretService).close()
        let key = StoreKey.random()
        try pass(key)
        #expect(try rekey(withoutSecretService) == HeldKey(key, in: .credential))
        #expect(try keyFiles == [])
    }

    @Test func `the owner's second credential replaces the first`() throws {
        try pass(StoreKey.random())
        let store = try open(withoutSecretService)
        #expect(throws: StoreKeyError.credentialHasNoSuccessor) {
            try withoutSecretService.next(after: store.rekeying.keyIdentifier)
        }
        try store.close()
        let next = StoreKey.random()
        try pass(next, as: "store-key.next")
        #expect(try rekey(withoutSecretService) == HeldKey(next, in: .nextCredential))
        // Until the new key has replaced the old credential, changing again would change back.
        let reopened = try open(withoutSecretService)
        #expect(throws: StoreKeyError.successorNotInPlace) {
            try withoutSecretService.next(after: reopened.rekeying.keyIdentifier)
        }
        try reopened.close()
        try withdraw("store-key.next")
        try pass(next)
        #expect(try open(withoutSecretService).rekeying.keyIdentifier == next.identifier)
    }

    @Test func `after a stop before the new key is in place the store opens, and settling continues later`() throws {
        let keyring = withoutSecretService
        let store = try open(keyring)
        let old = try source.files()[0]
        let next = try keyring.next(after: store.rekeying.keyIdentifier)
        #expect(try source.files() == [old, next])
        try store.rekeying.begin(to: next.key)
        while try !store.rekeying.reseal(limit: 9).isLast {}
        try store.close()
        let reopened = try open(keyring)
        #expect(reopened.rekeying.keyIdentifier == next.key.identifier)
        #expect(try reopened.rekeying.retiredKeyIdentifier() == old.key.identifier)
        for _ in 0..<2 {
            try keyring.settle(on: next.key.identifier)
            #expect(try source.files() == [HeldKey(next.key, in: .file)])
        }
    }

    @Test func `a key in use that could not be put in its place is not written over by the next change`() throws {
        let keyring = withoutSecretService
        let store = try open(keyring)
        let old = try source.files()
        let next = try keyring.next(after: store.rekeying.keyIdentifier)
        try store.rekeying.begin(to: next.key)
        while try !store.rekeying.reseal(limit: 9).isLast {}
        // Nothing can be put into the place of the key, because a folder is where the draft would be.
        let obstacle = folder.file("store-key.new")
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        #expect(throws: StoreKeyError.self) { try keyring.settle(on: next.key.identifier) }
        for _ in 0..<2 {
            #expect(throws: StoreKeyError.self) { try keyring.next(after: next.key.identifier) }
            #expect(try source.files() == old + [next])
        }
        try store.close()
        let again = try open(keyring)
        #expect(again.rekeying.keyIdentifier == next.key.identifier)
        try FileManager.default.removeItem(atPath: obstacle)
        let third = try keyring.next(after: next.key.identifier)
        #expect(try source.files() == [HeldKey(next.key, in: .file), third])
        try again.close()
    }

    @Test func `no place that holds a key in use is written or emptied`() throws {
        let (used, other) = (StoreKey.random(), StoreKey.random())
        let file = StoreKeyFile.own(folder.file("key"))
        try file.create(used)
        let refusal = StoreKeyError.inUse(path: folder.file("key"), identifier: used.identifier)
        #expect(throws: refusal) { try file.replace(with: other, sparing: [used.identifier]) }
        #expect(throws: refusal) { try file.destroy(sparing: [used.identifier]) }
        try file.replace(with: used, sparing: [used.identifier])
        #expect(try file.read() == used)
        try file.replace(with: other, sparing: [other.identifier])
        #expect(try file.read() == other)
        // Nobody can say what this one holds.
        try Data("half a key".utf8).write(to: URL(fileURLWithPath: folder.file("key")))
        #expect(throws: StoreKeyError.self) { try file.replace(with: used, sparing: []) }
        #expect(throws: StoreKeyError.self) { try file.destroy(sparing: []) }
        #expect(try String(contentsOfFile: folder.file("key"), encoding: .utf8) == "half a key")
    }

    @Test func `neither a store nor a key is made where the last daemon had one`() throws {
        let keyring = withoutSecretService
        let memory = StoreMemory(folder: folder.file("run"))
        try keyring.openStore(at: folder.store, rememberedIn: memory).close()
        let record = try #require(memory.record(of: folder.store))
        for name in ["accounts.sqlite", "store-key"] {
            try FileManager.default.moveItem(atPath: folder.file(name), toPath: folder.file("away-\(name)"))
        }
        let missing = StoreError.missing(path: folder.store, record: record)
        for _ in 0..<2 {
            #expect(throws: missing) { try keyring.openStore(at: folder.store, rememberedIn: memory) }
            #expect(!FileManager.default.fileExists(atPath: folder.store))
            #expect(try keyFiles == [])
            // An earlier start may have been cut off here.
            try Data().write(to: URL(fileURLWithPath: folder.store))
            #expect(throws: missing) { try keyring.openStore(at: folder.store, rememberedIn: memory) }
            try FileManager.default.removeItem(atPath: folder.store)
        }
        // A store at another path is made, and so is one whose note somebody has removed.
        try keyring.openStore(at: folder.file("other.sqlite"), rememberedIn: memory).close()
        try FileManager.default.removeItem(atPath: record)
        try keyring.openStore(at: folder.store, rememberedIn: memory).close()
    }

    @Test func `the old key is overwritten and not only unlinked`() throws {
        try open(withoutSecretService).close()
        // A second name keeps the old file readable.
        try FileManager.default.linkItem(atPath: folder.file("store-key"), toPath: folder.file("seen"))
        _ = try rekey(withoutSecretService)
        #expect(try isOverwritten("seen"))
    }

    @Test func `a linked key is destroyed at its target, also after a crash in between`() throws {
        let vault = folder.file("vault")
        try StoreKeyFile.own(vault).create(StoreKey.random())
        try FileManager.default.linkItem(atPath: vault, toPath: folder.file("seen"))
        let link = folder.file("store-key")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: vault)
        let next = StoreKey.random()
        try pass(next)
        try withoutSecretService.settle(on: next.identifier)
        #expect(try keyFiles == [])
        #expect(!FileManager.default.fileExists(atPath: vault))
        #expect(try isOverwritten("seen"))
        // State after the crash: the target is gone, and the link is not.
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: vault)
        try withoutSecretService.settle(on: next.identifier)
        #expect(try keyFiles == [])
    }

    @Test func `a draft left by a crash is overwritten, too`() throws {
        try open(withoutSecretService).close()
        for name in ["store-key.new", "store-key.next.new"] {
            try StoreKeyFile.own(folder.file(name)).create(StoreKey.random())
            try FileManager.default.linkItem(atPath: folder.file(name), toPath: folder.file("seen-\(name)"))
        }
        _ = try rekey(withoutSecretService)
        #expect(try keyFiles == ["store-key"])
        #expect(try isOverwritten("seen-store-key.new") && isOverwritten("seen-store-key.next.new"))

        let last = folder.file("store-key.new")
        try StoreKeyFile.own(last).create(StoreKey.random())
        try FileManager.default.linkItem(atPath: last, toPath: folder.file("seen"))
        let next = StoreKey.random()
        try pass(next)
        try withoutSecretService.settle(on: next.identifier)
        #expect(try keyFiles == [])
        #expect(try isOverwritten("seen"))
    }

    @Test func `a draft that is the key file under a second name is only unlinked`() throws {
        let key = try source.createFile()
        try FileManager.default.linkItem(atPath: folder.file("store-key"), toPath: folder.file("store-key.new"))
        #expect(throws: StoreKeyError.cannotCreate(path: folder.file("store-key"), code: EEXIST)) {
            try source.createFile()
        }
        #expect(try source.files() == [key])
        #expect(try keyFiles == ["store-key"])
    }

    private func isOverwritten(_ name: String) throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: folder.file(name))) == Data(repeating: 0, count: 65)
    }
}
