import Glibc

/// Checks what protects a store: access to its folder and file, and its key. Checking blocks.
package struct StoreGuard: Sendable {
    private let path: String
    private let keyIdentifier: String
    private let keyring: StoreKeyring

    /// Prepares the check.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - keyIdentifier: the key that it is sealed with (`AccountStore.keyIdentifier`).
    package init(path: String, keyIdentifier: String, keyring: StoreKeyring) {
        self.path = path
        self.keyIdentifier = keyIdentifier
        self.keyring = keyring
    }

    package func findings() -> [StoreFinding] {
        let open = [PosixFile.parent(of: path), path].compactMap { path -> StoreFinding? in
            guard let status = (try? PosixFile.status(of: path)) ?? nil, status.mode & 0o077 != 0 else { return nil }
            return .tooOpen(path: path, mode: status.mode)
        }
        return open + keyFindings()
    }

    /// What the next start of the daemon would fail on. Temporary problems are left out, for example a locked keyring,
    /// which still has the key.
    private func keyFindings() -> [StoreFinding] {
        do throws(StoreKeyError) {
            _ = try keyring.locate(keyIdentifier)
            return []
        } catch {
            return error.isPassing ? [] : [.key(error)]
        }
    }
}

/// Finds the process that holds SQLite's lock on a database.
enum LockHolder {
    /// The position of SQLite's locks: `PENDING_BYTE`, `RESERVED_BYTE` and the 510 bytes of `SHARED_FIRST` (file
    /// format, §"The Lock-Byte Page").
    private static let start: off_t = 0x4000_0000
    private static let length: off_t = 512

    /// The exclusive lock on a database.
    static var lock: flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = start
        lock.l_len = length
        return lock
    }

    /// The holder's process id; nil if nobody holds a lock, or if this process cannot see the holder.
    static func pid(of path: String) -> Int32? {
        let file = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        var lock = lock
        guard unsafe fcntl(file, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else {
            // The holder may be this process itself, whose own locks F_GETLK does not see. Closing any descriptor of
            // the file would release those locks (fcntl(2), "Record locks"), so this one stays open until the process
            // ends.
            return nil
        }
        close(file)
        return lock.l_pid > 0 ? lock.l_pid : nil
    }
}
