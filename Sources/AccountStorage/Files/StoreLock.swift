import Basics
import Glibc
import RefreshCore

/// The lock of a store: a file beside it that one process holds (flock(2)) for as long as it may use the store.
///
/// SQLite has a lock of its own on the database, which keeps other programs out. That lock is released as soon as its
/// process closes any descriptor of the database (fcntl(2), "Record locks"). This one is not, and it tells who has it:
/// the file contains the holder's process id and host. On a network file system, another host may be the holder.
struct StoreLock: ~Copyable {
    /// The suffix of the file's name.
    static let suffix = ".lock"

    private let descriptor: Int32

    /// Takes the lock of the store at `path`. The store itself need not exist, but its folder must.
    ///
    /// - Throws: `inUse`; errors of the disk.
    init(_ path: String) throws(StoreError) {
        while true {
            let file = unsafe open(path + Self.suffix, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard file >= 0 else { throw StoreError(FileError.last, path: path) }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                let holder = StoreHolder(ofLockFile: file)
                close(file)
                guard code == EWOULDBLOCK else { throw .cannotOpen(path: path + Self.suffix, code: code) }
                throw .inUse(path: path, by: holder)
            }
            // Somebody may have removed the file meanwhile. Then another process may lock a new one.
            guard NamedFile.Identity(at: path + Self.suffix) == NamedFile.Identity(of: file) else {
                close(file)
                continue
            }
            descriptor = file
            break
        }
        tellHolder()
    }

    deinit {
        // A program that was just started has a copy of the descriptor until its exec, and would keep the lock (flock(2)).
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Returns when no other process has the lock of the store at `path`. It blocks until then.
    fileprivate static func waitUntilFree(_ path: String) throws(FileError) {
        let file = unsafe open(path + suffix, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .last }
        defer { close(file) }
        while flock(file, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .last }
        }
    }

    /// Writes down who has the lock. If the disk is full, others learn only that somebody has it.
    private func tellHolder() {
        let text = "\(getpid()) \(StoreHolder.ownHost)\n"
        let count = unsafe pwrite(descriptor, text, text.utf8.count, 0)
        if count >= 0 { ftruncate(descriptor, count) }
    }
}

extension StoreHolder {
    /// Whether the holder runs on another host than this process.
    var isElsewhere: Bool { host.map { !$0.isEmpty && $0 != Self.ownHost } ?? false }

    /// The name of this host.
    static var ownHost: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Reads what the holder has written into the lock's file.
    fileprivate init(ofLockFile file: Int32) {
        var bytes = [UInt8](repeating: 0, count: 300)
        let count = unsafe pread(file, &bytes, bytes.count, 0)
        let parts = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        host = parts.count == 2 ? String(parts[1]) : ""
        pid = parts.first.flatMap { Int32($0) }
        program = host == Self.ownHost ? pid.flatMap(Self.program) : nil
    }

    /// The program that has SQLite's lock.
    fileprivate init(reader pid: Int32?) {
        self.init(pid: pid, program: pid.flatMap(Self.program), host: nil)
    }

    /// The name of a process of this host; nil if it has ended, or is hidden.
    private static func program(of pid: Int32) -> String? {
        guard let (name, _) = try? PosixFile.read("/proc/\(pid)/comm", limit: 64) else { return nil }
        return name.reveal().split(separator: "\n").first.map { String($0.filter { !$0.isNewline && $0 != "'" }) }
    }
}

/// SQLite's lock on a database, as another process has it.
///
/// Closing a descriptor of the database releases SQLite's lock in this process. So the caller has the `StoreLock`, or has
/// just failed to open the database, and no part of this process has it open.
enum SQLiteLock {
    /// The position of SQLite's locks: `PENDING_BYTE`, `RESERVED_BYTE` and the 510 bytes of `SHARED_FIRST` (file
    /// format, §"The Lock-Byte Page").
    private static var range: flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        return lock
    }

    /// Who has a lock on the database at `path`; nil if nobody has.
    static func holder(of path: String) -> StoreHolder? {
        let file = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var lock = range
        guard unsafe fcntl(file, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return StoreHolder(reader: lock.l_pid > 0 ? lock.l_pid : nil)
    }

    /// Returns when no other process has a lock on the database at `path`. It blocks until then.
    static func waitUntilFree(_ path: String) throws(FileError) {
        let file = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw .last }
        defer { close(file) }
        var lock = range
        while unsafe fcntl(file, F_SETLKW, &lock) != 0 {
            guard errno == EINTR else { throw .last }
        }
    }
}

extension AccountStore {
    /// Returns when no other process has the store at `path` open. It blocks until then.
    ///
    /// - Precondition: this process has not opened the store.
    package static func waitUntilFree(_ path: String) throws(StoreError) {
        do throws(FileError) {
            try StoreLock.waitUntilFree(path)
            try SQLiteLock.waitUntilFree(path)
        } catch {
            throw StoreError(error, path: path)
        }
    }
}
