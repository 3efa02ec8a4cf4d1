internal import Glibc

/// Reads a file that a setting names. It may be of any kind, and on any file system.
///
/// Opening and reading can block if the file system does, so call it in a piece of `BlockingWork`.
package enum RegularFile {
    package enum Fault: Error, Hashable, Sendable {
        /// The system call failed with this `errno`.
        case unreadable(errno: Int32)
        /// A folder, a device, a FIFO or a socket.
        case notRegular
        /// The open store.
        case ofTheStore
        case tooLarge
    }

    /// All bytes of a file.
    ///
    /// - Parameter limit: the most bytes that the file may have.
    package static func contents(of path: String, limit: Int) throws(Fault) -> [UInt8] {
        let file = try NamedFile.open(path)
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
            // The file may have grown since fstat, and files in /proc do not state their size.
            guard contents.count + count <= limit else { throw .tooLarge }
            contents += chunk[..<count]
        }
    }
}

extension RegularFile.Fault: CustomStringConvertible {
    /// The reason, to complete a sentence about the file.
    package var description: String {
        switch self {
        case .unreadable(let code): unsafe String(cString: strerror(code))
        case .notRegular: "it is not a regular file"
        case .ofTheStore: "it is the daemon's own store"
        case .tooLarge: "it is too large"
        }
    }
}
