internal import Glibc

/// A file that somebody's settings name: it may be anything, and on any file system.
///
/// Opening and reading may block where the file system does, so both belong into a piece of `BlockingWork`.
package enum RegularFile {
    package enum Fault: Error, Hashable, Sendable {
        /// The system call's `errno`.
        case unreadable(errno: Int32)
        /// A folder, a device, a FIFO or a socket.
        case notRegular
        case tooLarge
    }

    /// All bytes of a file.
    ///
    /// - Parameter limit: how many bytes it may have.
    package static func contents(of path: String, limit: Int) throws(Fault) -> [UInt8] {
        // Without O_NONBLOCK a FIFO would wait for a writer. A regular file does not heed it.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw .unreadable(errno: errno) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .unreadable(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        guard status.st_size <= limit else { throw .tooLarge }
        var contents: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe read(file, &chunk, chunk.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw .unreadable(errno: errno)
            }
            guard count > 0 else { return contents }
            // It may have grown since it was looked at, and files of /proc do not tell their size.
            guard contents.count + count <= limit else { throw .tooLarge }
            contents += chunk[..<count]
        }
    }
}

extension RegularFile.Fault: CustomStringConvertible {
    /// The reason, in the words of a sentence about the file.
    package var description: String {
        switch self {
        case .unreadable(let code): unsafe String(cString: strerror(code))
        case .notRegular: "it is not a regular file"
        case .tooLarge: "it is too large"
        }
    }
}
