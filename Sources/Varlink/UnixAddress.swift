internal import Glibc

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
