package import Glibc

/// Makes sockets of the family AF_UNIX. The caller closes them.
package enum UnixSocket {
    /// A socket connected to `path`.
    ///
    /// - Throws: `system`.
    package static func connected(to path: String, _ type: __socket_type) throws(TestFault) -> Int32 {
        try unsafe made(type, "connect \(path)", path) { unsafe connect($0, $1, $2) }
    }

    /// A socket bound to `path`.
    ///
    /// - Throws: `system`.
    package static func bound(to path: String, _ type: __socket_type) throws(TestFault) -> Int32 {
        try unsafe made(type, "bind \(path)", path) { unsafe bind($0, $1, $2) }
    }

    private static func made(
        _ type: __socket_type,
        _ what: String,
        _ path: String,
        _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(TestFault) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let result = unsafe withUnsafePointer(to: address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw .system(what, errno: code)
        }
        return descriptor
    }
}
