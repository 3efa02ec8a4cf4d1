internal import Glibc

/// Which file a path leads to.
struct FileIdentity: Equatable {
    let device: UInt
    let inode: UInt
    let isSocket: Bool

    /// Nil if there is nothing at `path`. A symbolic link is not followed.
    init?(path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
    }
}

/// A listening Unix stream socket. Whoever takes its descriptor closes it.
struct ListenSocket {
    let descriptor: Int32
    /// Where it is bound; nil for a socket with no path, which nobody can remove.
    let path: String?
    let identity: FileIdentity?
    /// Whether we have bound the path, and so remove it at the end.
    let ownsPath: Bool

    /// Gives it up before anybody was let in.
    func abandon() {
        close(descriptor)
        if ownsPath, let path { _ = unsafe unlink(path) }
    }

    /// Takes a socket that a service manager has bound.
    static func passed(_ descriptor: Int32) throws(VarlinkServerError) -> ListenSocket {
        guard
            option(SO_DOMAIN, of: descriptor) == AF_UNIX,
            option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
            option(SO_ACCEPTCONN, of: descriptor) == 1
        else { throw .notAListenSocket(descriptor: descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let path = UnixAddress.path(of: descriptor)
        return ListenSocket(
            descriptor: descriptor,
            path: path,
            identity: path.flatMap(FileIdentity.init(path:)),
            ownsPath: false
        )
    }

    /// Binds `path`, replacing a socket file that nobody answers on, and listens.
    static func bound(to path: String, backlog: Int32) throws(VarlinkServerError) -> ListenSocket {
        guard let address = UnixAddress(path: path) else {
            throw .pathTooLong(path: path, limit: UnixAddress.pathBytesMax)
        }
        let folder = try Folder.make(of: path)
        try Folder.check(folder)
        try Folder.check(Folder.parent(of: folder))
        let lock = try FolderLock(folder)
        defer { lock.release() }
        try removeStaleSocket(at: path, address)
        let descriptor = try makeSocket()
        do throws(VarlinkServerError) {
            // On Linux the file gets the mode of the unbound socket: it is never there with a wider one.
            _ = fchmod(descriptor, 0o600)
            guard address.bind(descriptor) == 0 else { throw .cannotBind(path: path, errno: errno) }
            guard listen(descriptor, backlog) == 0 else { throw .cannotListen(errno: errno) }
        } catch {
            close(descriptor)
            throw error
        }
        return ListenSocket(
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

    /// A socket file outlives the process that made it; only a connection shows whether somebody answers.
    private static func removeStaleSocket(at path: String, _ address: UnixAddress) throws(VarlinkServerError) {
        guard let file = FileIdentity(path: path) else { return }
        guard file.isSocket else { throw .notASocket(path: path) }
        let probe = try makeSocket()
        defer { close(probe) }
        // EAGAIN is a full backlog: somebody is there, and busy.
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

/// The folder a socket lives in.
enum Folder {
    /// Makes the folder of `path`, and those above it, with mode 0700 where they are missing.
    ///
    /// - Returns: The folder's path.
    static func make(of path: String) throws(VarlinkServerError) -> String {
        let folder = parent(of: path)
        guard FileIdentity(path: folder) == nil else { return folder }
        _ = try make(of: folder)
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw .cannotMakeFolder(path: folder, errno: errno)
        }
        return folder
    }

    /// - Throws: `folderOpenToOthers` if it belongs to neither us nor root, or everybody may take away in it what others have made.
    static func check(_ folder: String) throws(VarlinkServerError) {
        var status = stat()
        guard unsafe stat(folder, &status) == 0 else { throw .cannotMakeFolder(path: folder, errno: errno) }
        let isOpen = status.st_mode & S_IWOTH != 0 && status.st_mode & S_ISVTX == 0
        guard !isOpen, [geteuid(), 0, unmappedUser].contains(status.st_uid) else {
            throw .folderOpenToOthers(path: folder, owner: status.st_uid)
        }
    }

    /// How the kernel shows users, root among them, who have no number in the user namespace that we are in (`PrivateUsers=`).
    private static let unmappedUser: uid_t = 65_534

    /// `path` without its last component: "." for a bare name, "/" at the top.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// Keeps two daemons that start at once from both finding the same stale socket, the later one removing the earlier
/// one's new socket.
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

/// A path as the kernel takes it for a Unix socket (unix(7)).
struct UnixAddress {
    /// Bytes of a path that fit, its terminating NUL not counted.
    static let pathBytesMax = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private var address = sockaddr_un()

    /// Nil if `path` is empty or too long.
    init?(path: String) {
        let bytes = path.utf8
        guard (1...Self.pathBytesMax).contains(bytes.count) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    }

    /// The status of bind(2); the cause is in `errno`.
    func bind(_ descriptor: Int32) -> Int32 {
        unsafe withAddress { unsafe Glibc.bind(descriptor, $0, $1) }
    }

    /// The status of connect(2); the cause is in `errno`.
    func connect(_ descriptor: Int32) -> Int32 {
        unsafe withAddress { unsafe Glibc.connect(descriptor, $0, $1) }
    }

    /// Where a socket is bound; nil if it has no path (unnamed, abstract).
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

/// A file descriptor that is kept for the day when there is none left: whoever wants to know what is wrong then can be let in by it.
struct SpareDescriptor: ~Copyable {
    private var descriptor: Int32 = -1

    init() {
        take()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Takes one, if there is one and none is held.
    mutating func take() {
        guard descriptor < 0 else { return }
        descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    /// Gives it away to whoever asks next.
    mutating func give() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    /// Whether it is held, and there would be another beside it.
    var isOneOfSeveral: Bool {
        guard descriptor >= 0 else { return false }
        let other = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard other >= 0 else { return false }
        close(other)
        return true
    }
}

/// Who is at the other end, as the kernel noted when the peer connected (`SO_PEERCRED`).
package struct PeerCredentials: Equatable, Sendable {
    /// The process that connected; it may have ended or handed the connection on since.
    package let pid: Int32
    package let uid: UInt32
    package let gid: UInt32

    package init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }
}
