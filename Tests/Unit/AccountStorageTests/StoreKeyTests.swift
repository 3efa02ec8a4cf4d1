import Basics
import Foundation
import RefreshCore
import TestSupport
import Testing

@testable import AccountStorage

struct StoreKeyTests {
    private let folder: TemporaryFolder
    private let source: StoreKeySource
    private let keyFile: String

    init() throws {
        folder = try TemporaryFolder()
        source = StoreKeySource(credentialsDirectory: nil, stateDirectory: folder.path)
        keyFile = folder.file("store-key")
    }

    private func write(_ bytes: some Sequence<UInt8>, to path: String? = nil, mode: Int = 0o600) throws {
        let path = path ?? keyFile
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func load(_ source: StoreKeySource? = nil) throws -> StoreKey {
        let source = source ?? self.source
        if let key = try source.credentials().first ?? source.files().first { return key.key }
        return try source.createFile().key
    }

    @Test func `the first start creates a key, and the second one finds it`() throws {
        let state = folder.file("new/state")
        let source = StoreKeySource(credentialsDirectory: nil, stateDirectory: state)
        let key = try load(source)
        #expect(try load(source) == key)
        let mode = { (path: String) in
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode("\(state)/store-key") == 0o600)
        #expect(try mode(state) == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: state) == ["store-key"])
    }

    @Test func `two new keys differ, in their identifiers too`() {
        let (one, other) = (StoreKey.random(), StoreKey.random())
        #expect(one != other)
        #expect(one.identifier != other.identifier)
        #expect(one.identifier.count == 16)
    }

    @Test func `a key may be raw, hexadecimal or base64`() throws {
        let bytes = [UInt8](0..<32)
        let forms: [[UInt8]] = [
            bytes,
            Array("000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F\n".utf8),
            Array(" AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\r\n".utf8),
        ]
        let key = try #require(StoreKey(Secret(bytes)))
        for form in forms {
            try write(form)
            #expect(try load() == key)
        }
    }

    @Test(arguments: [0, 1, 31, 33, 63, 65, 256, 5000])
    func `contents of another length are refused`(count: Int) throws {
        try write(repeatElement(UInt8(ascii: "a"), count: count))
        let read = min(count, StoreKeySource.longestFile)
        #expect(throws: StoreKeyError.malformed(path: keyFile, count: read)) { try load() }
    }

    @Test func `text that is neither hexadecimal nor base64 is refused`() throws {
        try write(repeatElement(UInt8(ascii: "!"), count: 64))
        #expect(throws: StoreKeyError.malformed(path: keyFile, count: 64)) { try load() }
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o644, 0o660])
    func `a key file that others may touch is refused`(mode: Int) throws {
        try write([UInt8](0..<32), mode: mode)
        #expect(throws: StoreKeyError.tooOpen(path: keyFile, mode: UInt32(mode))) { try load() }
    }

    @Test func `a credential takes precedence over the key file, and is not changed`() throws {
        let credentials = folder.file("credentials")
        try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: false)
        let source = StoreKeySource(credentialsDirectory: credentials, stateDirectory: folder.path)
        let fromFile = try load(source)
        try write([UInt8](0..<32), to: "\(credentials)/store-key", mode: 0o440)
        let fromCredential = try load(source)
        #expect(fromCredential == StoreKey(Secret(0..<32)))
        #expect(fromCredential != fromFile)
        try write([UInt8](0..<32), to: "\(credentials)/store-key", mode: 0o444)
        #expect(throws: StoreKeyError.tooOpen(path: "\(credentials)/store-key", mode: 0o444)) { try load(source) }
    }

    @Test func `a missing key is not replaced if there is a store`() throws {
        let store = try AccountStore(path: folder.store, key: load())
        try store.close()
        try FileManager.default.removeItem(atPath: keyFile)
        #expect(throws: StoreError.key(.keyMissing(path: keyFile))) {
            try FakeSecretService().keyring(source, isUsed: false).openStore(at: folder.store)
        }
        #expect(!FileManager.default.fileExists(atPath: keyFile))
    }

    @Test func `a folder in the key's place is refused`() throws {
        try FileManager.default.createDirectory(atPath: keyFile, withIntermediateDirectories: false)
        #expect(throws: StoreKeyError.notAFile(path: keyFile)) { try load() }
    }

    @Test func `a symbolic link of our own is followed, and its target is checked`() throws {
        let target = folder.file("elsewhere")
        try write([UInt8](0..<32), to: target)
        try FileManager.default.createSymbolicLink(atPath: keyFile, withDestinationPath: target)
        #expect(try load() == StoreKey(Secret(0..<32)))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target)
        #expect(throws: StoreKeyError.tooOpen(path: keyFile, mode: 0o644)) { try load() }
        try FileManager.default.removeItem(atPath: target)
        #expect(try source.files() == [])
        #expect(throws: StoreKeyError.cannotCreate(path: keyFile, code: EEXIST)) { try source.createFile() }
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test(.enabled(if: isRoot, "needs root, to give files to another user"))
    func `a key of another user is refused`() throws {
        try write([UInt8](0..<32))
        try FileManager.default.setAttributes([.ownerAccountID: 12345], ofItemAtPath: keyFile)
        #expect(throws: StoreKeyError.notOurs(path: keyFile, owner: 12345)) { try load() }
    }

    @Test(.enabled(if: isRoot, "needs root, to give links to another user"))
    func `a symbolic link of another user is refused`() throws {
        let target = folder.file("elsewhere")
        try write([UInt8](0..<32), to: target)
        try FileManager.default.createSymbolicLink(atPath: keyFile, withDestinationPath: target)
        try changeOwner(ofLink: keyFile, to: 12345)
        #expect(throws: StoreKeyError.foreignSymbolicLink(path: keyFile, owner: 12345)) { try load() }
    }

    @Test func `every refusal says what to do, and shows no key`() {
        let errors: [StoreKeyError] = [
            .keyMissing(path: "/k"), .unreadable(path: "/k", code: 13), .tooOpen(path: "/k", mode: 0o644),
            .notOurs(path: "/k", owner: 1), .foreignSymbolicLink(path: "/k", owner: 1), .notAFile(path: "/k"),
            .malformed(path: "/k", count: 3), .cannotCreate(path: "/k", code: 30), .cannotRemove(path: "/k", code: 30),
        ]
        for error in errors {
            #expect(error.description.contains("'/k'"))
            #expect(!error.hint.isEmpty && error.hint.text != error.description)
        }
        #expect(StoreKeyError.unreadable(path: "/k", code: 13).description.hasSuffix("Permission denied"))
        #expect(StoreKeyError.tooOpen(path: "/k", mode: 0o644).description.contains("mode 0644"))
    }
}
