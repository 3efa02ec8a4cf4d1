internal import CSystemd
internal import Glibc

/// Opens sockets to the kernel's routing part (netlink(7)).
enum NetlinkSocket {
    /// A non-blocking socket that hears the multicast `groups` (one bit each); the caller closes it.
    ///
    /// - Throws: `routesUnavailable`.
    static func open(groups: UInt32) throws(SystemdError) -> Int32 {
        let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_NETLINK, type, NETLINK_ROUTE)
        guard descriptor >= 0 else { throw .routesUnavailable(errno: errno) }
        guard unsafe withAddress(groups: groups, { unsafe bind(descriptor, $0, $1) }) == 0 else {
            let cause = errno
            close(descriptor)
            throw .routesUnavailable(errno: cause)
        }
        return descriptor
    }

    /// Calls `body` with a netlink address: port 0, which is the kernel to connect to and "any" to bind to.
    static func withAddress(groups: UInt32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        let address = sockaddr_nl(nl_family: sa_family_t(AF_NETLINK), nl_pad: 0, nl_pid: 0, nl_groups: groups)
        return unsafe withUnsafePointer(to: address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_nl>.size))
            }
        }
    }
}
