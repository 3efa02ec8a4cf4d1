internal import Glibc

/// Replaces a file atomically: readers find the old content or the new one, but never a part.
enum ReplacedFile {
    /// Writes the file.
    ///
    /// - Parameter mode: the permission bits.
    /// - Throws: `cannotCreateFile`; the old file is then unchanged.
    static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws(AuthctlError) {
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
}
