internal import Glibc

/// A file that takes the place of the one that was there: whoever reads it finds the old content or the new, and never a part of one.
enum ReplacedFile {
    /// - Parameter mode: what others may do with it.
    /// - Throws: `cannotCreateFile`; the file that was there stays as it was.
    static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws(AuthctlError) {
        // In the same folder, for a rename does not leave its file system. Collectors take "*.prom" only, and so not this one.
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
