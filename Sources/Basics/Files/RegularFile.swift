internal import Glibc

/// Reads a file that a setting names. It may be of any kind, and on any file system.
///
/// Opening and reading can block if the file system does, so call it in a piece of `BlockingWork`.
package enum RegularFile {
    /// All bytes of a file.
    ///
    /// - Parameter limit: the most bytes that the file may have.
    package static func contents(of path: String, limit: Int) throws(FileError) -> [UInt8] {
        let file = try NamedFile.open(path)
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
