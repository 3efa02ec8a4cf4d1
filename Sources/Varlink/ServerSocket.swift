internal import Glibc

/// Identifies the file that a path leads to.
struct FileIdentity: Equatable {
    let device: UInt
    let inode: UInt
    let isSocket: Bool

    /// Reads the identity of the file at `path`; nil if there is none. A symbolic link is not followed.
    init?(path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
    }
}

/// A listening Unix stream socket. Whoever takes its descriptor has to close it.
package struct ServerSocket {
    package let descriptor: Int32
    /// The path that it is bound to; nil for a socket without a path, which nobody can remove.
    let path: String?
    let identity: FileIdentity?
    /// Whether we bound the path, and so remove it at the end.
    let ownsPath: Bool

    /// Closes the socket before any peer was admitted.
    func abandon() {
        close(descriptor)
        if ownsPath, let path { _ = unsafe unlink(path) }
    }

    /// Removes the path that we bound, unless something else is there by now.
    package func removePath() {
        guard ownsPath, let path, FileIdentity(path: path) == identity else { return }
        _ = unsafe unlink(path)
    }

    /// Checks a socket that a service manager has bound.
    static func passed(_ descriptor: Int32) throws(VarlinkServerError) -> ServerSocket {
        guard
            option(SO_DOMAIN, of: descriptor) == AF_UNIX,
            option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
            option(SO_ACCEPTCONN, of: descriptor) == 1
        else { throw .notAListenSocket(descriptor: descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let path = UnixAddress.path(of: descriptor)
        return ServerSocket(
            descriptor: descriptor,
            path: path,
            identity: path.flatMap(FileIdentity.init(path:)),
            ownsPath: false
        )
    }

    /// Binds `path` and listens. A socket file on which nobody answers is replaced.
    package static func bound(to path: String, backlog: Int32) throws(VarlinkServerError) -> ServerSocket {
        guard let address = UnixAddress(path: path) else {
            throw .pathTooLong(path: path, limit: UnixAddress.pathBytesMax)
        }
        let folder = try Folder.make(of: path)
        try Folder.check(folder)
        try Folder.check(Folder.parent(of: folder))
        let lock = try FolderLock(folder)
        defer { lock.release() }
        try removeStaleSocket(at: path, address)
        return try listening(at: path, backlog: backlog)
    }

    /// Binds `path`, where there is nothing yet, and listens. The folder is the caller's to check.
    package static func listening(at path: String, backlog: Int32) throws(VarlinkServerError) -> ServerSocket {
        guard let address = UnixAddress(path: path) else {
            throw .pathTooLong(path: path, limit: UnixAddress.pathBytesMax)
        }
        let descriptor = try makeSocket()
        do throws(VarlinkServerError) {
            // On Linux the file gets the mode of the unbound socket, so it never exists with a wider mode.
            _ = fchmod(descriptor, 0o600)
            guard address.bind(descriptor) == 0 else { throw .cannotBind(path: path, errno: errno) }
            guard listen(descriptor, backlog) == 0 else { throw .cannotListen(errno: errno) }
        } catch {
            close(descriptor)
            throw error
        }
        return ServerSocket(
            descriptor: descriptor,
            path: path,
            identity: FileIdentity(path: path),
            ownsPath: true
        )
    }

    private static func makeSocket() throws(VarlinkServerError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw .cannotListen(errno: errno) }
        return descriptor
    }

    /// Removes a stale socket file. Such a file outlives the process that made it, and only a connection shows whether
    /// somebody answers.
    private static func removeStaleSocket(at path: String, _ address: UnixAddress) throws(VarlinkServerError) {
        guard let file = FileIdentity(path: path) else { return }
        guard file.isSocket else { throw .notASocket(path: path) }
        let probe = try makeSocket()
        defer { close(probe) }
        // EAGAIN means a full backlog: somebody listens and is busy.
        guard address.connect(probe) != 0, errno == ECONNREFUSED || errno == ENOENT else {
            throw .alreadyListening(path: path)
        }
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .cannotBind(path: path, errno: errno) }
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }
}

/// The folder of a socket.
enum Folder {
    /// Creates the folder of `path`, and missing folders above it, with mode 0700.
    ///
    /// - Returns: the folder's path.
    static func make(of path: String) throws(VarlinkServerError) -> String {
        let folder = parent(of: path)
        guard FileIdentity(path: folder) == nil else { return folder }
        _ = try make(of: folder)
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw .cannotMakeFolder(path: folder, errno: errno)
        }
        return folder
    }

    /// Checks that nobody else can replace files in `folder`.
    ///
    /// - Throws: `folderOpenToOthers` if the folder belongs to neither us nor root, or if everybody may remove other
    ///   people's files in it.
    static func check(_ folder: String) throws(VarlinkServerError) {
        var status = stat()
        guard unsafe stat(folder, &status) == 0 else { throw .cannotMakeFolder(path: folder, errno: errno) }
        let isOpen = status.st_mode & S_IWOTH != 0 && status.st_mode & S_ISVTX == 0
        guard !isOpen, [geteuid(), 0, unmappedUser].contains(status.st_uid) else {
            throw .folderOpenToOthers(path: folder, owner: status.st_uid)
        }
    }

    /// The user ID that stands for users without a number in our user namespace (`PrivateUsers=`), including root.
    private static let unmappedUser: uid_t = 65_534

    /// `path` without its last component: "." for a bare name, "/" at the root.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// A lock on the folder. Without it, two daemons that start at once could both find the same stale socket, and the
/// second would remove the first one's new socket.
private struct FolderLock {
    private let descriptor: Int32

    init(_ folder: String) throws(VarlinkServerError) {
        descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotMakeFolder(path: folder, errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .folderBusy(path: folder)
        }
    }

    func release() { close(descriptor) }
}

/// A path in the form that the kernel takes for a Unix socket (unix(7)).
struct UnixAddress {
    /// The longest path in bytes, without its terminating NUL.
    static let pathBytesMax = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private var address = sockaddr_un()

    /// Returns nil if `path` is empty or too long.
    init?(path: String) {
        let bytes = path.utf8
        guard (1...Self.pathBytesMax).contains(bytes.count) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Calls bind(2) and returns its status; the cause of a failure is in `errno`.
    func bind(_ descriptor: Int32) -> Int32 {
        unsafe withAddress { unsafe Glibc.bind(descriptor, $0, $1) }
    }

    /// Calls connect(2) and returns its status; the cause of a failure is in `errno`.
    func connect(_ descriptor: Int32) -> Int32 {
        unsafe withAddress { unsafe Glibc.connect(descriptor, $0, $1) }
    }

    /// The path that a socket is bound to; nil if it has none (unnamed, abstract).
    static func path(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard status == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let bytes = unsafe withUnsafeBytes(of: address.sun_path) { unsafe Array($0.prefix { $0 != 0 }) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private func withAddress(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// A spare file descriptor for the time when none is left. With it, the server can still admit one caller, who may want
/// to find out what is wrong.
struct SpareDescriptor: ~Copyable {
    private var descriptor: Int32 = -1

    init() {
        take()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Opens a spare descriptor, if one is free and none is held.
    mutating func take() {
        guard descriptor < 0 else { return }
        descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    /// Closes the spare descriptor, so that the next request for a descriptor gets it.
    mutating func give() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    /// Whether a spare is held and another descriptor is still free.
    var isOneOfSeveral: Bool {
        guard descriptor >= 0 else { return false }
        let other = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard other >= 0 else { return false }
        close(other)
        return true
    }
}

/// The process at the other end, as the kernel recorded it when the peer connected (`SO_PEERCRED`).
package struct PeerCredentials: Equatable, Sendable {
    /// The process that connected. It may have ended since, or passed the connection on.
    package let pid: Int32
    package let uid: UInt32
    package let gid: UInt32

    package init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }
}
