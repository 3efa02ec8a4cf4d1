import Basics
import Glibc
import RefreshCore

/// System calls on files that SQLite does not make for us.
enum PosixFile {
    /// The part of `lstat`'s result that we use.
    struct Status {
        let owner: UInt32
        /// The permission bits.
        let mode: UInt32
        let size: Int64
        let kind: UInt32

        var isRegularFile: Bool { kind == S_IFREG }
        var isFolder: Bool { kind == S_IFDIR }
        var isSymbolicLink: Bool { kind == S_IFLNK }

        init(_ raw: stat) {
            owner = raw.st_uid
            mode = raw.st_mode & 0o7777
            size = Int64(raw.st_size)
            kind = raw.st_mode & S_IFMT
        }

        /// The status of an open file.
        init(of file: Int32) throws(FileError) {
            var raw = stat()
            guard unsafe fstat(file, &raw) == 0 else { throw .last }
            self.init(raw)
        }
    }

    /// The status of `path` itself, not of a symbolic link's target; nil if there is nothing.
    static func status(of path: String) throws(FileError) -> Status? {
        var raw = stat()
        guard unsafe lstat(path, &raw) == 0 else {
            if errno == ENOENT { return nil }
            throw .last
        }
        return Status(raw)
    }

    /// Creates `path` with `contents`, readable and writable only by this user. When it returns, the file is on disk.
    ///
    /// - Throws: `EEXIST` if there is something at `path` already.
    static func create(_ path: String, holding contents: Secret? = nil) throws(FileError) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .last }
        defer { close(file) }
        // A umask can only remove bits, and we need both.
        guard fchmod(file, 0o600) == 0 else { throw .last }
        try unsafe contents?.withBytes { (bytes) throws(FileError) in try unsafe write(bytes, to: file) }
        guard fsync(file) == 0 else { throw .last }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = unsafe Glibc.write(file, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .last }
            written += count
        }
    }

    /// Syncs the contents of the file at `path` to disk.
    static func sync(_ path: String) throws(FileError) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw .last }
        defer { close(file) }
        guard fsync(file) == 0 else { throw .last }
    }

    /// Copies the regular file at `path` into a new file that only this user can read.
    ///
    /// - Throws: `EEXIST` if there is something at `copy` already; `notRegular`; `ofTheStore`.
    static func copy(_ path: String, to copy: String) throws(FileError) {
        let source = try NamedFile.open(path)
        defer { close(source) }
        guard try Status(of: source).isRegularFile else { throw .notRegular }
        let target = unsafe open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard target >= 0 else { throw .last }
        defer { close(target) }
        guard fchmod(target, 0o600) == 0 else { throw .last }
        while true {
            let count = sendfile(target, source, nil, 1 << 20)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            if count == 0 { return }
        }
    }

    /// Makes the entries of the folder of `path` durable. After a crash, a new file exists only if its folder was
    /// synced.
    static func syncFolder(of path: String) throws(FileError) {
        let folder = unsafe open(parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .last }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw .last }
    }

    /// Reads up to `limit` bytes of the file at `path`, and its `fstat` result.
    ///
    /// - Throws: `ofTheStore` if it is the open store.
    static func read(_ path: String, limit: Int) throws(FileError) -> (contents: Secret, status: Status) {
        let file = try NamedFile.open(path)
        defer { close(file) }
        let status = try Status(of: file)
        let contents = try unsafe Secret(capacity: limit) { (bytes) throws(FileError) in
            var filled = 0
            while filled < limit {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                let count = unsafe Glibc.read(file, rest.baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else { throw .last }
                if count == 0 { break }
                filled += count
            }
            return filled
        }
        return (contents, status)
    }

    /// Whether the file at `path` begins with these bytes.
    static func begins(_ path: String, with bytes: [UInt8]) throws(FileError) -> Bool {
        let contents = try read(path, limit: bytes.count).contents
        return unsafe contents.withBytes { unsafe $0.elementsEqual(bytes) }
    }

    /// Removes the entry at `path`, if there is one.
    static func remove(_ path: String) throws(FileError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .last }
    }

    /// Gives the file at `path` a second name.
    ///
    /// - Throws: `EEXIST` if the name exists already. A rename would replace it.
    static func link(_ path: String, as second: String) throws(FileError) {
        guard unsafe Glibc.link(path, second) == 0 else { throw .last }
    }

    /// Renames the file at `path` to `new`, and replaces a file of that name.
    static func rename(_ path: String, to new: String) throws(FileError) {
        guard unsafe Glibc.rename(path, new) == 0 else { throw .last }
    }

    /// The target of the symbolic links at `path`; `path` itself if they lead nowhere.
    static func resolved(_ path: String) -> String {
        guard let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    static func setMode(_ mode: UInt32, of path: String) throws(FileError) {
        guard unsafe chmod(path, mode) == 0 else { throw .last }
    }

    /// Checks that this user may write to `path`, and that the file system is writable.
    static func checkWritable(_ path: String) throws(FileError) {
        guard unsafe access(path, W_OK) == 0 else { throw .last }
    }

    /// The folder of `path`; "." for a bare name.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension PosixFile {
    /// Makes sure that there is a folder at `path` that only this user may enter. It creates missing folders above it,
    /// too.
    ///
    /// An existing folder is closed to others, because systemd creates state directories with mode 0755 by default.
    ///
    /// - Throws: `EPERM` if the folder belongs to another user.
    static func createFolder(_ path: String) throws(FileError) {
        if try status(of: path) == nil {
            let above = parent(of: path)
            if try status(of: above) == nil { try createFolder(above) }
            guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last }
        }
        var raw = stat()
        guard unsafe stat(path, &raw) == 0 else { throw .last }
        let folder = Status(raw)
        guard folder.isFolder else { throw FileError.failed(errno: ENOTDIR) }
        guard folder.owner == geteuid() else { throw FileError.failed(errno: EPERM) }
        if folder.mode & 0o077 != 0 { try setMode(0o700, of: path) }
    }
}

extension PosixFile {
    /// A file that stays open for writing even if its name is removed.
    struct Opened: ~Copyable {
        private let descriptor: Int32

        /// Returns nil if the file cannot be opened for writing.
        init?(writing path: String) {
            descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { return nil }
        }

        deinit { close(descriptor) }

        /// Overwrites all bytes with zeros, on disk.
        ///
        /// It reduces what stays behind. File systems and disks that write to a new place keep the old bytes for a
        /// while.
        func overwrite() {
            guard let size = try? Status(of: descriptor).size, (1...4096).contains(size) else { return }
            let zeros = [UInt8](repeating: 0, count: Int(size))
            _ = unsafe zeros.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
            fsync(descriptor)
        }
    }
}
