internal import Glibc

/// Replaces a file atomically: readers find the old content or the new one, but never a part.
enum ReplacedFile {
    /// Writes the file.
    ///
    /// - Parameter mode: the permission bits.
    /// - Throws: `cannotCreateFile`, also if the old file is a database; the old file is then unchanged.
    static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws(AuthctlError) {
        guard !isDatabase(path) else { throw .cannotCreateFile(path: path, errno: EEXIST) }
        // The temporary file is in the same folder, because a rename cannot leave its file system. Collectors read only
        // "*.prom", so they ignore it.
        let temporary = "\(path).\(getpid()).tmp"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw .cannotCreateFile(path: path, errno: errno) }
        var failure = FileDescriptor.write(text, to: descriptor)
        if failure == 0, fchmod(descriptor, mode) != 0 { failure = errno }
        if close(descriptor) != 0, failure == 0 { failure = errno }
        if failure == 0, unsafe rename(temporary, path) != 0 { failure = errno }
        guard failure == 0 else {
            unsafe unlink(temporary)
            throw .cannotCreateFile(path: path, errno: failure)
        }
    }

    /// Whether SQLite has written the file. A mistyped name must not replace the daemon's store by some text.
    private static func isDatabase(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Database file format, §1.3.1: the header string.
        let header = Array("SQLite format 3\0".utf8)
        var start = [UInt8](repeating: 0, count: header.count)
        return unsafe read(descriptor, &start, start.count) == start.count && start == header
    }
}
