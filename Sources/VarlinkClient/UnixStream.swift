internal import Glibc

/// The system calls of a client, each repeated when a signal interrupts it.
enum UnixStream {
    /// Bytes asked for at once: a token reply fits, and a long list takes few reads.
    private static let readBytes = 16 << 10

    /// - Throws: the cases of connecting.
    static func connect(to path: String) throws(VarlinkClientError) -> Int32 {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .unusablePath(path: path) }
        var address = sockaddr_un()
        let pathBytesMax = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard path.utf8.count <= pathBytesMax else { throw .pathTooLong(path: path, limit: pathBytesMax) }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        // unix(7): the family, the path and its NUL.
        let addressBytes = MemoryLayout<sockaddr_un>.size - pathBytesMax + path.utf8.count

        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .cannotConnect(path: path, errno: errno) }
        let failure = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                retried { unsafe Int(Glibc.connect(descriptor, generic, socklen_t(addressBytes))) } < 0 ? errno : 0
            }
        }
        do throws(VarlinkClientError) {
            guard failure == 0 else { throw error(failure, path) }
            try checkOwner(of: descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func error(_ failure: Int32, _ path: String) -> VarlinkClientError {
        switch failure {
        case ENOENT, ECONNREFUSED, ENOTDIR: .notRunning(path: path, errno: failure)
        case EACCES, EPERM: .permissionDenied(path: path)
        default: .cannotConnect(path: path, errno: failure)
        }
    }

    /// Refuses a listener of another user: a path that others can write to, or that was mistyped, must not get our secrets.
    ///
    /// The kernel tells who began to listen, which with socket activation is the user's own service manager.
    private static func checkOwner(of descriptor: Int32, _ path: String) throws(VarlinkClientError) {
        // struct ucred, which glibc shows to programs in C only.
        var peer: (pid: UInt32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: peer))
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 else {
            throw .cannotConnect(path: path, errno: errno)
        }
        guard peer.uid == geteuid() || peer.uid == 0 else { throw .otherUser(path: path, uid: peer.uid) }
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(VarlinkClientError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = retried {
                unsafe rest.withUnsafeBytes { buffer in
                    unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
                }
            }
            guard written > 0 else { throw .connectionClosed }
            rest = rest.dropFirst(written)
        }
    }

    /// At least one byte.
    static func read(from descriptor: Int32, until deadline: Deadline?) throws(VarlinkClientError) -> [UInt8] {
        if let deadline {
            try wait(for: descriptor, until: deadline)
        }
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: readBytes) { buffer, initializedCount in
            count = retried { unsafe Glibc.read(descriptor, buffer.baseAddress, readBytes) }
            initializedCount = max(0, count)
        }
        guard count > 0 else { throw .connectionClosed }
        return bytes
    }

    /// What has come and was not read yet; nil if there is nothing.
    static func readAvailable(from descriptor: Int32) throws(VarlinkClientError) -> [UInt8]? {
        var count = 0
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: readBytes) { buffer, initializedCount in
            count = retried { unsafe recv(descriptor, buffer.baseAddress, readBytes, Int32(MSG_DONTWAIT)) }
            failure = count < 0 ? errno : 0
            initializedCount = max(0, count)
        }
        if count < 0, failure == EAGAIN { return nil }
        guard count > 0 else { throw .connectionClosed }
        return bytes
    }

    private static func wait(for descriptor: Int32, until deadline: Deadline) throws(VarlinkClientError) {
        while true {
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&interest, 1, deadline.remainingMilliseconds)
            if ready > 0 { return }
            guard ready < 0, errno == EINTR else { throw .timedOut }
        }
    }

    private static func retried(_ systemCall: () -> Int) -> Int {
        while true {
            let result = systemCall()
            guard result < 0, errno == EINTR else { return result }
        }
    }
}

/// A point on the monotonic clock.
struct Deadline {
    private let milliseconds: Int64

    init(milliseconds fromNow: Int32) {
        milliseconds = Self.now + Int64(fromNow)
    }

    /// As poll(2) takes it; 0 once the deadline has passed.
    var remainingMilliseconds: Int32 { Int32(max(0, milliseconds - Self.now)) }

    private static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
