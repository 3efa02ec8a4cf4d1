internal import Glibc

/// A TCP port that nobody uses.
enum FreePort {
    /// - Throws: `BenchError.failedToServe` if the kernel gives none.
    static func any() throws(BenchError) -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard status else { throw .failedToServe(reason: "there is no free TCP port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
