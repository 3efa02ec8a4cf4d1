import Basics
import Glibc
import RefreshCore

/// A file with a key: a systemd credential, or our own file.
struct StoreKeyFile {
    let path: String
    /// Permission bits that must not be set.
    private let forbidden: UInt32
    private let isOwn: Bool

    /// Our own file, mode 0600.
    static func own(_ path: String) -> StoreKeyFile {
        StoreKeyFile(path: path, forbidden: 0o077, isOwn: true)
    }

    /// A credential. systemd grants access by an access control list, whose mask appears as the group's read bit.
    static func credential(_ path: String) -> StoreKeyFile {
        StoreKeyFile(path: path, forbidden: 0o007, isOwn: false)
    }

    /// Reads the key; nil if nothing is at the path, or if a link's target is missing, because it may not be mounted.
    func read() throws(StoreKeyError) -> StoreKey? {
        guard let link = try status() else { return nil }
        let ourselves = geteuid()
        if link.isSymbolicLink, link.owner != ourselves {
            throw .foreignSymbolicLink(path: path, owner: link.owner)
        }
        guard link.isSymbolicLink || link.isRegularFile else { throw .notAFile(path: path) }
        let (contents, status): (Secret, PosixFile.Status)
        do {
            (contents, status) = try PosixFile.read(path, limit: StoreKeySource.longestFile)
        } catch {
            if error.code == ENOENT { return nil }
            throw .unreadable(path: path, code: error.code)
        }
        guard status.isRegularFile else { throw .notAFile(path: path) }
        guard !isOwn || status.owner == ourselves else { throw .notOurs(path: path, owner: status.owner) }
        guard status.mode & forbidden == 0 else { throw .tooOpen(path: path, mode: status.mode) }
        guard let key = StoreKey(contents: contents) else { throw .malformed(path: path, count: contents.count) }
        return key
    }

    /// Creates the file with `key`, completely or not at all. When it returns, the file is on disk.
    ///
    /// - Throws: `cannotCreate`, also if there is something at the path already.
    func create(_ key: StoreKey) throws(StoreKeyError) {
        do throws(FileError) {
            try PosixFile.createFolder(PosixFile.parent(of: path))
        } catch {
            throw .cannotCreate(path: path, code: error.code)
        }
        try write(key) { draft throws(FileError) in
            // Unlike a rename, a link never replaces a file.
            try PosixFile.link(draft, as: path)
            try PosixFile.remove(draft)
        }
    }

    /// Makes sure that the file may be written or removed.
    ///
    /// This is the only place for that rule: a file with a key in use is never written, and neither is one of which
    /// nobody can say what it holds.
    ///
    /// - Parameter used: identifies the keys that something is sealed with.
    /// - Throws: `inUse`; the error of reading the file.
    private func checkIsFree(of used: [String]) throws(StoreKeyError) {
        if let held = try read(), used.contains(held.identifier) {
            throw .inUse(path: path, identifier: held.identifier)
        }
    }

    /// Replaces the content of the file with `key`, unless that is there already. Whenever the machine stops, either the
    /// old or the new key is there.
    ///
    /// The old content is overwritten before it is released, if the file system writes in place. If the file is a
    /// symbolic link, its target is replaced.
    ///
    /// - Parameter used: identifies the keys that something is sealed with.
    func replace(with key: StoreKey, sparing used: [String]) throws(StoreKeyError) {
        if try read() == key { return }
        try checkIsFree(of: used)
        let target = target
        let old = PosixFile.Opened(writing: target.path)
        try target.write(key) { draft throws(FileError) in try PosixFile.rename(draft, to: target.path) }
        old?.overwrite()
    }

    /// Removes the file, its draft and the target of a symbolic link, and overwrites their contents, if the file system
    /// writes in place. A missing file is not an error.
    ///
    /// - Parameter used: identifies the keys that something is sealed with.
    func destroy(sparing used: [String]) throws(StoreKeyError) {
        try checkIsFree(of: used)
        let target = target
        // The link comes last. After a crash, a link without a target is found again; a target without a link is not.
        for path in [target.draft, target.path, path] {
            do throws(FileError) {
                try Self.discard(path)
            } catch {
                throw .cannotRemove(path: path, code: error.code)
            }
        }
    }

    /// Where `write` assembles the key.
    private var draft: String { path + ".new" }

    /// The target of a symbolic link; the file itself if it is not a link.
    private var target: StoreKeyFile {
        StoreKeyFile(path: PosixFile.resolved(path), forbidden: forbidden, isOwn: isOwn)
    }

    private func write(_ key: StoreKey, putting place: (String) throws(FileError) -> Void) throws(StoreKeyError) {
        do throws(FileError) {
            try discardDraft()
            do throws(FileError) {
                try PosixFile.create(draft, holding: key.fileContents)
                try place(draft)
                try PosixFile.syncFolder(of: path)
            } catch {
                try? discardDraft()
                throw error
            }
        } catch {
            throw .cannotCreate(path: path, code: error.code)
        }
    }

    /// Destroys the draft of an earlier, failed `write`. It may hold a key that is now in use.
    private func discardDraft() throws(FileError) {
        // If the process ended between `link` and `remove`, the draft is the file itself under a second name.
        if let file = NamedFile.Identity(at: path), file == NamedFile.Identity(at: draft) {
            return try PosixFile.remove(draft)
        }
        try Self.discard(draft)
    }

    private static func discard(_ path: String) throws(FileError) {
        guard try PosixFile.status(of: path) != nil else { return }
        let old = PosixFile.Opened(writing: path)
        try PosixFile.remove(path)
        try PosixFile.syncFolder(of: path)
        // The old content is overwritten only now. If it were overwritten earlier and the process ended in between, the
        // file would not contain a key.
        old?.overwrite()
    }

    private func status() throws(StoreKeyError) -> PosixFile.Status? {
        do {
            return try PosixFile.status(of: path)
        } catch {
            throw .unreadable(path: path, code: error.code)
        }
    }
}
