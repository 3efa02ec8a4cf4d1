internal import Glibc
internal import Synchronization

/// `O_PATH` of open(2), which the C library declares for `_GNU_SOURCE` only. Nothing is opened with it, so closing such a
/// descriptor releases no lock.
private let pathOnly: Int32 = 0o10000000

/// Opens files that a setting, a caller or a person names, but never the open store.
///
/// SQLite's lock on the store belongs to this process. If the process closes any descriptor of the store's file, the
/// kernel releases that lock (fcntl(2), "Record locks"), and another program could write to the store. So everything
/// that opens such a file does it here.
package enum NamedFile {
    fileprivate static let own = Mutex<Set<Identity>>([])

    /// Tells which file an open descriptor or a path leads to: the device and the inode.
    package struct Identity: Hashable, Sendable {
        private let device: UInt
        private let inode: UInt

        private init(_ status: stat) {
            (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
        }

        /// The identity of an open file; nil if it cannot be read.
        package init?(of descriptor: Int32) {
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else { return nil }
            self.init(status)
        }

        /// The identity of the file at `path`; nil if there is none, or if it cannot be accessed. A symbolic link is
        /// not followed.
        package init?(at path: String) {
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { return nil }
            self.init(status)
        }
    }

    /// Opens the file for reading. A FIFO or a device does not block.
    ///
    /// - Throws: `failed`; `ofTheStore`.
    package static func open(_ path: String) throws(FileError) -> Int32 {
        let place = unsafe Glibc.open(path, pathOnly | O_CLOEXEC)
        guard place >= 0 else { throw .last }
        defer { close(place) }
        guard let identity = Identity(of: place) else { throw .last }
        guard !own.withLock({ $0.contains(identity) }) else { throw .ofTheStore }
        // This opens the file that was looked at, even if the path leads to another one by now.
        let file = unsafe Glibc.open("/proc/self/fd/\(place)", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw .last }
        return file
    }

    /// All bytes of a regular file, which may be on any file system.
    ///
    /// Opening and reading can block if the file system does, so a service calls it in a piece of `BlockingWork`.
    ///
    /// - Parameter limit: the most bytes that the file may have.
    package static func contents(of path: String, limit: Int) throws(FileError) -> [UInt8] {
        let file = try open(path)
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .last }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        guard status.st_size <= limit else { throw .tooLarge }
        var contents: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe read(file, &chunk, chunk.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw .last
            }
            guard count > 0 else { return contents }
            // The file may have grown since fstat, and files in /proc do not state their size.
            guard contents.count + count <= limit else { throw .tooLarge }
            contents += chunk[..<count]
        }
    }
}

/// The names of what is in a folder, in no order; empty if it cannot be read.
package func folderNames(_ path: String) -> [String] {
    guard let listing = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(listing) }
    var names: [String] = []
    while let entry = unsafe readdir(listing) {
        let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}

/// A file of the daemon's own that no setting, caller or person may name, for as long as this object exists.
///
/// It keeps the file's inode, so no other file gets its number.
package final class OwnFile: Sendable {
    private let descriptor: Int32
    private let identity: NamedFile.Identity

    /// Returns nil if there is no file at `path`. A symbolic link is not followed.
    package init?(at path: String) {
        descriptor = unsafe open(path, pathOnly | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard let identity = NamedFile.Identity(of: descriptor) else {
            close(descriptor)
            return nil
        }
        self.identity = identity
        _ = NamedFile.own.withLock { $0.insert(identity) }
    }

    deinit {
        _ = NamedFile.own.withLock { $0.remove(identity) }
        close(descriptor)
    }

    /// Whether the file still has a name, so that its contents outlive this process.
    package var hasName: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }
}
