import Glibc

/// Finds the process that holds SQLite's lock on a database.
enum LockHolder {
    /// Where SQLite's locks lie: `PENDING_BYTE`, `RESERVED_BYTE` and the 510 bytes of `SHARED_FIRST` (file format, §"The
    /// Lock-Byte Page").
    private static let start: off_t = 0x4000_0000
    private static let length: off_t = 512

    /// The lock of one who has the database for itself.
    static var lock: flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = start
        lock.l_len = length
        return lock
    }

    /// The holder's process id; nil if nobody holds a lock, or nobody that this process can see.
    static func pid(of path: String) -> Int32? {
        let file = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        var lock = lock
        guard unsafe fcntl(file, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else {
            // The holder may be this very process, whose own locks F_GETLK does not see. Closing any descriptor of the file
            // would then drop them (fcntl(2), "Record locks"): this one stays open for the life of the process.
            return nil
        }
        close(file)
        return lock.l_pid > 0 ? lock.l_pid : nil
    }
}
