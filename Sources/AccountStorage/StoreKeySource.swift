import Foundation
import Glibc
import RefreshCore

/// Where the store's key comes from: a systemd credential, else a key file beside the store.
package struct StoreKeySource: Sendable {
    /// The name of the credential, and of the key file.
    package static let name = "store-key"
    /// What is read of a key file at most; 64 digits and some white space fit well.
    package static let longestFile = 256

    /// `$CREDENTIALS_DIRECTORY`; nil if systemd passed none.
    package let credentialsDirectory: String?
    /// The folder that the store is in.
    package let stateDirectory: String

    package init(credentialsDirectory: String?, stateDirectory: String) {
        self.credentialsDirectory = credentialsDirectory
        self.stateDirectory = stateDirectory
    }

    /// The key for the store at `path`; made on first start, when there is neither a key nor a store.
    ///
    /// - Throws: why a key that is there may not be used, or `keyMissing` if there is a store but no key for it.
    package func load(forStoreAt path: String) throws(StoreKeyError) -> StoreKey {
        if let credentialsDirectory {
            let credential = credentialsDirectory + "/" + StoreKeySource.name
            // systemd lets the user in by an access control list, whose mask shows as the group's read bit.
            if let key = try key(at: credential, forbidden: 0o007, isOwnFile: false) { return key }
        }
        let file = stateDirectory + "/" + StoreKeySource.name
        if let key = try key(at: file, forbidden: 0o077, isOwnFile: true) { return key }
        let store = try status(of: path)
        guard (store?.size ?? 0) == 0 else { throw .keyMissing(path: file) }
        return try create(file)
    }

    /// The key at `path`; nil if there is nothing.
    private func key(at path: String, forbidden: UInt32, isOwnFile: Bool) throws(StoreKeyError) -> StoreKey? {
        guard let link = try status(of: path) else { return nil }
        let ourselves = geteuid()
        if link.isSymbolicLink, link.owner != ourselves {
            throw .foreignSymbolicLink(path: path, owner: link.owner)
        }
        guard link.isSymbolicLink || link.isRegularFile else { throw .notAFile(path: path) }
        var contents: (bytes: [UInt8], status: PosixFile.Status)
        do {
            contents = try PosixFile.read(path, limit: StoreKeySource.longestFile)
        } catch {
            throw .unreadable(path: path, code: error.code)
        }
        defer { contents.bytes.erase() }
        guard contents.status.isRegularFile else { throw .notAFile(path: path) }
        guard !isOwnFile || contents.status.owner == ourselves else {
            throw .notOurs(path: path, owner: contents.status.owner)
        }
        guard contents.status.mode & forbidden == 0 else { throw .tooOpen(path: path, mode: contents.status.mode) }
        guard let key = StoreKey(fileContents: contents.bytes) else {
            throw .malformed(path: path, count: contents.bytes.count)
        }
        return key
    }

    /// Makes a key and stores it at `path`, complete or not at all.
    private func create(_ path: String) throws(StoreKeyError) -> StoreKey {
        let key = StoreKey.random()
        var contents = key.fileContents
        defer { contents.erase() }
        let draft = path + ".new"
        do throws(PosixError) {
            try PosixFile.createFolder(stateDirectory)
            // Left behind by a crash of an earlier first start: never used, or it would be at `path`.
            try PosixFile.remove(draft)
            try PosixFile.create(draft, holding: contents)
            try PosixFile.link(draft, as: path)
            try PosixFile.remove(draft)
            try PosixFile.syncFolder(of: path)
        } catch {
            throw .cannotCreate(path: path, code: error.code)
        }
        return key
    }

    private func status(of path: String) throws(StoreKeyError) -> PosixFile.Status? {
        do {
            return try PosixFile.status(of: path)
        } catch {
            throw .unreadable(path: path, code: error.code)
        }
    }
}

extension StoreKey {
    /// The key in a file: 32 bytes as they are, or 64 hexadecimal digits, or base64, with white space around them.
    init?(fileContents bytes: [UInt8]) {
        if bytes.count == StoreKey.length {
            self.init(Secret(bytes))
            return
        }
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        let text = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        var decoded = StoreKey.decode(hexadecimal: Array(text)) ?? Data(base64Encoded: Data(text)).map(Array.init) ?? []
        defer { decoded.erase() }
        self.init(Secret(decoded))
    }

    private static func decode(hexadecimal text: [UInt8]) -> [UInt8]? {
        guard text.count == 2 * StoreKey.length else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = Character(UnicodeScalar(text[index])).hexDigitValue,
                let low = Character(UnicodeScalar(text[index + 1])).hexDigitValue
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

extension [UInt8] {
    /// Overwrites the bytes; not inlined, so that the compiler cannot see that nobody reads them again.
    @inline(never)
    fileprivate mutating func erase() {
        for index in indices { self[index] = 0 }
    }
}
