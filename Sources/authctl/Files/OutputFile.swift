internal import Basics
internal import Glibc

/// A file that a person names for output. All commands write their files through this type.
///
/// | at its path | output for everybody | secrets |
/// |---|---|---|
/// | nothing | becomes a file | becomes a file with mode 0600 |
/// | a file | is replaced in one step: readers find the old text or the new one | is refused |
/// | a symbolic link | what it leads to counts, also if nothing is there yet | is refused |
/// | a device, a pipe | is written into | is refused |
struct OutputFile: ~Copyable {
    /// The path as the person gave it.
    private let path: String
    private let descriptor: Int32
    /// The file that the finished one replaces; nil if the descriptor is the right file already.
    private let replaced: String?
    /// The name of the unfinished file, which is removed again; nil for a device or a pipe, and after `finish`.
    private var unfinished: String?

    /// Creates a file for secrets.
    ///
    /// - Throws: `cannotCreateFile`, also if there is something at the path.
    init(forSecrets path: String) throws(Report) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .cannotCreateFile(path: path, errno: errno) }
        // These are set only now: after a throw with all of them set, `deinit` would remove a file that is not ours.
        self.path = path
        self.descriptor = descriptor
        replaced = nil
        unfinished = path
    }

    /// Opens a file that everybody may read.
    ///
    /// - Throws: `cannotCreateFile`, also if the old file is a database; the old file is then unchanged.
    init(forEverybody path: String) throws(Report) {
        var facts = stat()
        // This follows links.
        let isThere = unsafe stat(path, &facts) == 0
        guard isThere || errno == ENOENT else { throw .cannotCreateFile(path: path, errno: errno) }
        let target = Self.end(ofLinks: path)
        let (descriptor, name): (Int32, String?) =
            if isThere, Self.isStandardOutput(facts) {
                // /dev/stdout, say. The shell may have opened the file behind it to append to it.
                (fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), nil)
            } else if isThere, facts.st_mode & S_IFMT != S_IFREG {
                // A pipe waits for its reader, as in a shell. A folder is an error here.
                (unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), nil)
            } else if isThere, Self.isDatabase(path) {
                throw .cannotCreateFile(path: path, errno: EEXIST)
            } else {
                Self.makeTemporary(besides: target)
            }
        guard descriptor >= 0 else { throw .cannotCreateFile(path: path, errno: errno) }
        self.path = path
        self.descriptor = descriptor
        replaced = name == nil ? nil : target
        unfinished = name
    }

    deinit {
        close(descriptor)
        if let unfinished { unsafe unlink(unfinished) }
    }

    /// Writes a file that everybody may read.
    ///
    /// - Throws: `cannotCreateFile`.
    static func write(_ text: String, to path: String) throws(Report) {
        var file = try OutputFile(forEverybody: path)
        try file.write(text)
        try file.finish()
    }

    /// Appends text.
    ///
    /// - Throws: `cannotCreateFile`.
    func write(_ text: String) throws(Report) {
        try check(FileDescriptor.write(text, to: descriptor))
    }

    /// Appends the rest of `source`.
    ///
    /// - Returns: the number of bytes.
    /// - Throws: `cannotCreateFile`, `cannotReadBackup`.
    func copy(from source: Int32) throws(Report) -> Int {
        var chunk = [UInt8](repeating: 0, count: 1 << 17)
        var total = 0
        while true {
            let count = unsafe read(source, &chunk, chunk.count)
            if count == 0 { return total }
            if count < 0 {
                guard errno == EINTR else { throw .cannotReadBackup(systemText(errno)) }
                continue
            }
            let number = unsafe chunk.withUnsafeBytes { bytes in
                unsafe FileDescriptor.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), to: descriptor)
            }
            try check(number)
            total += count
        }
    }

    /// Syncs the file to disk, and gives it its name.
    ///
    /// - Throws: `cannotCreateFile`; an unfinished file is then removed.
    mutating func finish() throws(Report) {
        guard let unfinished else { return }
        if let replaced {
            // The temporary file has mode 0600.
            try check(fchmod(descriptor, 0o644) == 0 ? 0 : errno)
            try check(fsync(descriptor) == 0 ? 0 : errno)
            try check(unsafe rename(unfinished, replaced) == 0 ? 0 : errno)
        } else {
            try check(fsync(descriptor) == 0 ? 0 : errno)
        }
        self.unfinished = nil
    }

    private func check(_ number: Int32) throws(Report) {
        guard number == 0 else { throw .cannotCreateFile(path: path, errno: number) }
    }

    /// The target of a symbolic link; nil if there is no symbolic link at the path.
    static func target(ofLink path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Where the links at the path end, even if nothing is there. realpath(3) needs something there.
    private static func end(ofLinks path: String) -> String {
        var path = path
        // The kernel follows 40 links (path_resolution(7)), and has reported an error for more.
        for _ in 1...40 {
            guard let next = target(ofLink: path) else { break }
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
            path = next.hasPrefix("/") ? next : folder + next
        }
        return path
    }

    /// Creates a file in the same folder, because a rename cannot leave its file system. Collectors of metrics read only
    /// "*.prom", so they ignore it.
    private static func makeTemporary(besides path: String) -> (descriptor: Int32, name: String?) {
        let name = "\(path).\(String(UInt32.random(in: .min ... .max), radix: 36))"
        return (unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600), name)
    }

    private static func isStandardOutput(_ facts: stat) -> Bool {
        var output = stat()
        guard unsafe fstat(STDOUT_FILENO, &output) == 0 else { return false }
        return output.st_dev == facts.st_dev && output.st_ino == facts.st_ino
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

extension Report {
    static func cannotCreateFile(path: String, errno number: Int32) -> Report {
        let status: ExitStatus =
            switch number {
            case EACCES, EPERM, EROFS: .notPermitted
            case ENOSPC, EDQUOT, EFBIG, EIO: .tryAgainLater
            default: .usage
            }
        let hint: Hint? =
            switch number {
            case EEXIST: "an existing file is never replaced: name another"
            case EACCES, EPERM, EROFS: "name a file in a folder that you can write to"
            case ENOENT, ENOTDIR: "make its folder first"
            default: room(number)
            }
        return Report(
            status: status,
            name: "authctl.CannotCreateFile",
            message: "cannot write '\(path)': \(systemText(number))",
            hints: [hint].compactMap(\.self)
        )
    }

    /// What helps if there is no room for a file.
    static func room(_ number: Int32) -> Hint? {
        switch number {
        case ENOSPC, EDQUOT: "free some space there, or name a file on another disk"
        case EFBIG: "allow larger files (ulimit -f), or name a file on another file system"
        default: nil
        }
    }

    /// The daemon's copy of the store cannot be used, and was not removed.
    static func cannotReadBackup(_ reason: String, status: ExitStatus = .tryAgainLater) -> Report {
        let message = "cannot read the daemon's copy of the store: \(reason)"
        return Report(status: status, name: "authctl.CannotReadBackup", message: message)
    }
}
