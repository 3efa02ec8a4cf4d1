internal import Basics
internal import Glibc
internal import RefreshCore

/// The folder of the token files. Its calls block if the file system does, so call them in a piece of `BlockingWork`.
///
/// It must belong to this user and must not be a symbolic link, so that nobody else can influence what is written in
/// it. The user may have a folder of this name. A folder that has files and no mark of the daemon is left alone,
/// wherever it is.
struct TokenFolder: Sendable {
    let path: String

    /// The first character of the name of an incomplete file. No account name begins with it.
    private static let unfinished = "."
    /// The name of the file that marks the folder as a daemon's. It is neither the name of an account nor that of an
    /// incomplete file.
    static let mark = ".made by authrefreshd"

    /// Whether something with this name exists. It is next to the socket, which was just created, so this does not
    /// block.
    var isThere: Bool { unsafe faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 }

    /// Does `jobs`, and removes all files that are neither in them nor in `kept`.
    ///
    /// - Parameters:
    ///   - jobs: the new contents of files, by name; nil removes the file.
    ///   - kept: the files to keep; nil keeps all.
    /// - Returns: the errors, by file name.
    func carryOut(_ jobs: [String: Secret?], keeping kept: Set<String>?) -> [String: FileError] {
        let folder: Int32
        do throws(FileError) {
            guard let opened = try open(creating: jobs.values.contains { $0 != nil }) else { return [:] }
            folder = opened
        } catch {
            return jobs.mapValues { _ in error }
        }
        defer { close(folder) }
        if let kept { sweep(folder, keeping: kept) }
        var errors: [String: FileError] = [:]
        for (name, contents) in jobs {
            do throws(FileError) {
                if let contents {
                    try write(contents, to: name, in: folder)
                } else {
                    try remove(name, in: folder)
                }
            } catch {
                errors[name] = error
            }
        }
        return errors
    }

    /// Opens the folder.
    ///
    /// - Returns: nil if there is no folder of a daemon's, and none should be created.
    private func open(creating: Bool) throws(FileError) -> Int32? {
        var folder = openFolder()
        if folder < 0, errno == ENOENT {
            guard creating else { return nil }
            // Create the parent folder as well, if the socket's folder is gone.
            let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            unsafe mkdir(parent, 0o700)
            guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .failed(errno: errno) }
            folder = openFolder()
        }
        guard folder >= 0 else {
            let number = errno
            throw number == ENOTDIR || number == ELOOP ? .notOurFolder : .failed(errno: number)
        }
        do throws(FileError) {
            guard try check(folder, taking: creating) else {
                close(folder)
                return nil
            }
        } catch {
            close(folder)
            throw error
        }
        return folder
    }

    /// Makes sure that the folder is a daemon's, and closes it to others.
    ///
    /// - Parameter taking: whether to take the folder if it is empty.
    /// - Returns: whether the folder is a daemon's.
    private func check(_ folder: Int32, taking: Bool) throws(FileError) -> Bool {
        var status = stat()
        guard unsafe fstat(folder, &status) == 0, status.st_uid == geteuid() else { throw .notOurFolder }
        if unsafe faccessat(folder, Self.mark, F_OK, AT_SYMLINK_NOFOLLOW) != 0 {
            guard taking else { return false }
            guard let names = Self.names(in: folder) else { throw .failed(errno: errno) }
            guard names.isEmpty else { throw .folderOfOthers }
            let file = unsafe openat(folder, Self.mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw .failed(errno: errno) }
            close(file)
        }
        guard status.st_mode & 0o077 == 0 || fchmod(folder, 0o700) == 0 else { throw .notOurFolder }
        return true
    }

    private func openFolder() -> Int32 {
        unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }

    /// Writes a file atomically. Readers get the old token or the new one, but never a part.
    private func write(_ contents: Secret, to name: String, in folder: Int32) throws(FileError) {
        let temporary = Self.unfinished + name
        // Left over from a daemon that was killed.
        unsafe unlinkat(folder, temporary, 0)
        let file = unsafe openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .failed(errno: errno) }
        var failure = unsafe contents.withBytes { unsafe Self.write($0, to: file) }
        if close(file) != 0, failure == 0 { failure = errno }
        if failure == 0, unsafe renameat(folder, temporary, folder, name) != 0 { failure = errno }
        guard failure == 0 else {
            unsafe unlinkat(folder, temporary, 0)
            throw .failed(errno: failure)
        }
    }

    /// Writes all bytes.
    ///
    /// - Returns: the `errno`; 0 if everything was written.
    private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int32 {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = unsafe Glibc.write(file, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            written += count
        }
        return 0
    }

    private func remove(_ name: String, in folder: Int32) throws(FileError) {
        guard unsafe unlinkat(folder, name, 0) == 0 || errno == ENOENT else { throw .failed(errno: errno) }
    }

    private func sweep(_ folder: Int32, keeping kept: Set<String>) {
        for name in Self.names(in: folder) ?? [] where name != Self.mark && !kept.contains(name) {
            unsafe unlinkat(folder, name, 0)
        }
    }

    /// The names of what is in the folder; nil if it cannot be read, and then `errno` says why.
    private static func names(in folder: Int32) -> [String]? {
        // Another descriptor, because the listing closes its own one, and has a position in it.
        let again = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard again >= 0 else { return nil }
        guard let listing = unsafe fdopendir(again) else {
            close(again)
            return nil
        }
        defer { unsafe closedir(listing) }
        var names: [String] = []
        while true {
            // readdir(3): at the end, errno is unchanged.
            errno = 0
            guard let entry = unsafe readdir(listing) else { return errno == 0 ? names : nil }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
                unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }
}
