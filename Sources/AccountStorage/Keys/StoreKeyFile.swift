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

    /// The key in it; nil if there is nothing at the path, or a link that leads to nothing: what it leads into may not be mounted.
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
            // Unlike a rename it replaces nothing.
            try PosixFile.link(draft, as: path)
            try PosixFile.remove(draft)
        }
    }

    /// Puts `key` in place of what is in the file, if there is one: whenever the machine stops, one of the two is there.
    ///
    /// What the file held is overwritten before it is let go of, so far as the file system writes in place. Of a symbolic link it is the
    /// target that is replaced.
    func replace(with key: StoreKey) throws(StoreKeyError) {
        let target = target
        let old = PosixFile.Opened(writing: target.path)
        try target.write(key) { draft throws(PosixError) in try PosixFile.rename(draft, to: target.path) }
        old?.overwrite()
    }

    /// Removes the file, its draft and, if it is a symbolic link, the target too, and overwrites what they held, so far as the file
    /// system writes in place; one that is not there is no error.
    func destroy() throws(StoreKeyError) {
        let target = target
        // The link comes last: one that leads nowhere is found again after a crash, a key that nothing leads to is not.
        for path in [target.draft, target.path, path] {
            do throws(PosixError) {
                try Self.discard(path)
            } catch {
                throw .cannotRemove(path: path, code: error.code)
            }
        }
    }

    /// Where `write` puts the key together.
    private var draft: String { path + ".new" }

    /// The file that a symbolic link leads to; itself if it is none.
    private var target: StoreKeyFile {
        StoreKeyFile(path: PosixFile.resolved(path), forbidden: forbidden, isOwn: isOwn)
    }

    private func write(_ key: StoreKey, putting place: (String) throws(PosixError) -> Void) throws(StoreKeyError) {
        do throws(PosixError) {
            try discardDraft()
            do throws(PosixError) {
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

    /// Destroys what an earlier `write` could not put in its place: it may hold a key that was tried again with more luck.
    private func discardDraft() throws(PosixError) {
        // Left behind between `link` and `remove`, it is the file itself under a second name.
        if let file = PosixFile.identity(of: path), file == PosixFile.identity(of: draft) {
            return try PosixFile.remove(draft)
        }
        try Self.discard(draft)
    }

    private static func discard(_ path: String) throws(PosixError) {
        guard try PosixFile.status(of: path) != nil else { return }
        let old = PosixFile.Opened(writing: path)
        try PosixFile.remove(path)
        try PosixFile.syncFolder(of: path)
        // Not before: a process that ends in between would leave a file that is no key.
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
