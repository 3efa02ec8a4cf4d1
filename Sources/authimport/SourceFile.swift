internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// A file of another program.
enum SourceFile {
    /// The bytes of a file; nil if it is missing.
    static func read(_ path: String) throws(ProgramError) -> [UInt8]? {
        try read(path) { _ in true }
    }

    /// The bytes of a script. Its commands are run, and its servers get the grant, so only this user and root may be
    /// able to change it.
    static func readScript(_ path: String) throws(ProgramError) -> [UInt8]? {
        try read(path) { ($0.st_uid == getuid() || $0.st_uid == 0) && $0.st_mode & S_IWOTH == 0 }
    }

    private static func read(_ path: String, if isWanted: (stat) -> Bool) throws(ProgramError) -> [UInt8]? {
        // Opening a named pipe without a writer would block forever.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .unreadable(path, errno: errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .unreadable(path, errno: errno) }
        guard isWanted(status) else { throw .unreadable(path, errno: EPERM) }
        guard let bytes = try contents(of: descriptor, path, atMost: ImportLimit.sourceBytesMax) else {
            throw .tooLarge(path)
        }
        return bytes
    }

    /// Reads to the end; nil if there are more than `most` bytes.
    static func contents(of descriptor: Int32, _ origin: String, atMost most: Int) throws(ProgramError) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count <= most {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(origin, errno: errno) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
        return nil
    }

    /// The files in a folder whose name is a SHA-256 digest, newest first, without the lock files next to them.
    static func digests(in folder: String) -> [String] {
        let names = names(in: folder).filter { $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) }
        return names.map { folder + "/" + $0 }.map { ($0, written($0)) }.sorted { $0.1 > $1.1 }.map(\.0)
    }

    /// When the file was written, in s since 1970; 0 if it is missing.
    private static func written(_ path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mtim.tv_sec : 0
    }

    /// The names in a folder, sorted; empty if the folder is missing.
    static func names(in folder: String) -> [String] {
        folderNames(folder).sorted()
    }
}

extension ProgramError {
    static func unreadable(_ origin: String, errno number: Int32) -> ProgramError {
        ProgramError(.badData, "cannot read '\(origin)': \(systemText(number))")
    }
}
