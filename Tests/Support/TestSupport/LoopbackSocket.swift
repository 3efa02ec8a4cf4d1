import Glibc

/// Makes TCP sockets on 127.0.0.1. The caller closes them.
package enum LoopbackSocket {
    /// A listening socket and its port.
    ///
    /// - Throws: `unreadable` if no port is free.
    package static func listening() throws(TestFault) -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe bind(descriptor, address, size) == 0, listen(descriptor, 4) == 0 else { return Int32(-1) }
                return unsafe getsockname(descriptor, address, &size)
            }
        }
        guard result == 0 else { throw .unreadable("no port is free: errno \(errno)") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
