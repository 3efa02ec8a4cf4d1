import Glibc
import RefreshCore

/// A file that holds a key: a credential that systemd made, or one of our own.
struct StoreKeyFile {
    let path: String
    /// Permission bits that nobody may have given.
    private let forbidden: UInt32
    private let isOwn: Bool

    /// A file of this user's, mode 0600.
    static func own(_ path: String) -> StoreKeyFile {
        StoreKeyFile(path: path, forbidden: 0o077, isOwn: true)
    }

    /// systemd lets the user in by an access control list, whose mask shows as the group's read bit.
    static func credential(_ path: String) -> StoreKeyFile {
        StoreKeyFile(path: path, forbidden: 0o007, isOwn: false)
    }

    /// The key in it; nil if there is nothing at the path.
    func read() throws(StoreKeyError) -> StoreKey? {
        guard let link = try status() else { return nil }
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
        guard !isOwn || contents.status.owner == ourselves else {
            throw .notOurs(path: path, owner: contents.status.owner)
        }
        guard contents.status.mode & forbidden == 0 else { throw .tooOpen(path: path, mode: contents.status.mode) }
        guard let key = StoreKey(fileContents: contents.bytes) else {
            throw .malformed(path: path, count: contents.bytes.count)
        }
        return key
    }

    /// Makes the file with `key` in it, complete or not at all; on disk when this returns.
    ///
    /// - Throws: `cannotCreate`, also if there is something at the path already.
    func create(_ key: StoreKey) throws(StoreKeyError) {
        do throws(PosixError) {
            try PosixFile.createFolder(PosixFile.parent(of: path))
        } catch {
            throw .cannotCreate(path: path, code: error.code)
        }
        try write(key) { draft throws(PosixError) in
            try PosixFile.link(draft, as: path)
            try PosixFile.remove(draft)
        }
    }

    /// Puts `key` in place of what is in the file, if there is one: whenever the machine stops, one of the two is there.
    ///
    /// What the file held is overwritten before it is let go of, so far as the file system writes in place. Of a symbolic link it is the
    /// target that is replaced.
    func replace(with key: StoreKey) throws(StoreKeyError) {
        let target = StoreKeyFile(path: PosixFile.resolved(path), forbidden: forbidden, isOwn: isOwn)
        let old = PosixFile.Opened(writing: target.path)
        try target.write(key) { draft throws(PosixError) in try PosixFile.rename(draft, to: target.path) }
        old?.overwrite()
    }

    /// Removes the file and overwrites what it held, so far as the file system writes in place; one that is not there is no error.
    func destroy() throws(StoreKeyError) {
        let old = PosixFile.Opened(writing: path)
        do throws(PosixError) {
            guard try PosixFile.status(of: path) != nil else { return }
            try PosixFile.remove(path)
            try PosixFile.syncFolder(of: path)
            // Not before: a process that ends in between would leave a file that is no key.
            old?.overwrite()
        } catch {
            throw .cannotRemove(path: path, code: error.code)
        }
    }

    private func write(_ key: StoreKey, putting place: (String) throws(PosixError) -> Void) throws(StoreKeyError) {
        var contents = key.fileContents
        defer { contents.erase() }
        let draft = path + ".new"
        do throws(PosixError) {
            // Left behind by a crash: never used, or it would be at its place.
            try PosixFile.remove(draft)
            try PosixFile.create(draft, holding: contents)
            try place(draft)
            try PosixFile.syncFolder(of: path)
        } catch {
            throw .cannotCreate(path: path, code: error.code)
        }
    }

    private func status() throws(StoreKeyError) -> PosixFile.Status? {
        do {
            return try PosixFile.status(of: path)
        } catch {
            throw .unreadable(path: path, code: error.code)
        }
    }
}
