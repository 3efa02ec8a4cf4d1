internal import Glibc

/// A file that was not there before, mode 0600; it is removed again unless `keep` is reached.
struct NewFile: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private var isKept = false

    /// - Throws: `cannotCreateFile`, also if the file exists: nothing of the user's is ever replaced.
    init(path: String) throws(AuthctlError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .cannotCreateFile(path: path, errno: errno) }
        // Only now: a throw after the last property is set would run deinit, and remove what is not ours.
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
        if !isKept { unsafe unlink(path) }
    }

    /// - Throws: `cannotCreateFile`.
    func write(_ text: String) throws(AuthctlError) {
        try check(FileDescriptor.write(text, to: descriptor))
    }

    /// Appends all that `source` has left.
    ///
    /// - Throws: `cannotCreateFile`, `cannotReadBackup`.
    func copy(from source: Int32) throws(AuthctlError) -> Int {
        var chunk = [UInt8](repeating: 0, count: 1 << 17)
        var total = 0
        while true {
            let count = unsafe read(source, &chunk, chunk.count)
            if count == 0 { return total }
            if count < 0 {
                guard errno == EINTR else { throw .cannotReadBackup(errno: errno) }
                continue
            }
            let number = unsafe chunk.withUnsafeBytes { bytes in
                unsafe FileDescriptor.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), to: descriptor)
            }
            try check(number)
            total += count
        }
    }

    /// Makes the file last, even if the power fails right after.
    ///
    /// - Throws: `cannotCreateFile`; the file is removed then.
    mutating func keep() throws(AuthctlError) {
        try check(fsync(descriptor) == 0 ? 0 : errno)
        isKept = true
    }

    private func check(_ number: Int32) throws(AuthctlError) {
        guard number == 0 else { throw .cannotCreateFile(path: path, errno: number) }
    }
}
