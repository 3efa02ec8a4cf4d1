internal import Glibc

internal import CLinux

/// Finds the owner of the other end of a TCP connection within this machine.
///
/// TCP has no `SO_PEERCRED`. But the other end is also a socket of this machine, in the same network namespace, and the
/// kernel tells the owner of a socket by its two addresses (sock_diag(7)). That takes one request, which is answered at
/// once.
package enum LoopbackPeer {
    /// Whether the other end of the connection `socket` belongs to this process's user.
    ///
    /// Ask right after accept(2), because a closed end has no owner. If the owner cannot be found, the peer counts as a
    /// stranger, because a stranger could cause that by closing early, or when the kernel is short of memory.
    package static func isOwn(_ socket: Int32) -> Bool {
        owner(of: socket) == geteuid()
    }

    /// The owner of the other end of the connection `socket`, as numbered in this process's user namespace; nil if
    /// nobody holds that end, or if it cannot be found.
    package static func owner(of socket: Int32) -> UInt32? {
        guard let question = question(about: socket), let answer = ask(question) else { return nil }
        // A socket that its program has closed, or not accepted yet, has no file. Older kernels report root as the
        // owner of both.
        guard answer.idiag_inode != 0 else { return nil }
        return answer.idiag_uid
    }

    private static func ask(_ question: inet_diag_req_v2) -> inet_diag_msg? {
        let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_NETLINK, type, NETLINK_SOCK_DIAG)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Connected to the kernel (port 0), the socket accepts messages from nobody else.
        let kernel = sockaddr_nl(nl_family: sa_family_t(AF_NETLINK), nl_pad: 0, nl_pid: 0, nl_groups: 0)
        let isConnected = unsafe withUnsafePointer(to: kernel) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size)) == 0
            }
        }
        guard isConnected else { return nil }
        let (headerBytes, questionBytes) = (MemoryLayout<nlmsghdr>.size, MemoryLayout<inet_diag_req_v2>.size)
        let header = nlmsghdr(
            nlmsg_len: UInt32(headerBytes + questionBytes),
            nlmsg_type: UInt16(SOCK_DIAG_BY_FAMILY),
            nlmsg_flags: UInt16(NLM_F_REQUEST),
            nlmsg_seq: 0,
            nlmsg_pid: 0
        )
        let request =
            unsafe withUnsafeBytes(of: header) { unsafe Array($0) }
            + withUnsafeBytes(of: question) { unsafe Array($0) }
        guard unsafe send(descriptor, request, request.count, 0) == request.count else { return nil }
        // netlink(7): the kernel has answered before send(2) returns. The answer has 72 bytes, and attributes, which
        // are cut off here.
        var reply = [UInt8](repeating: 0, count: 1024)
        let count = unsafe recv(descriptor, &reply, reply.count, Int32(MSG_DONTWAIT))
        guard count >= headerBytes + MemoryLayout<inet_diag_msg>.size else { return nil }
        return unsafe reply.withUnsafeBytes { bytes in
            let header = unsafe bytes.loadUnaligned(as: nlmsghdr.self)
            guard header.nlmsg_type == SOCK_DIAG_BY_FAMILY else { return nil }
            return unsafe bytes.loadUnaligned(fromByteOffset: headerBytes, as: inet_diag_msg.self)
        }
    }

    /// The request for the socket with the addresses of `socket` swapped.
    private static func question(about socket: Int32) -> inet_diag_req_v2? {
        guard let own = unsafe address(of: socket, getsockname), let other = unsafe address(of: socket, getpeername),
            own.family == other.family
        else { return nil }
        var question = inet_diag_req_v2()
        // An IPv6 socket connected to an IPv4 address (::ffff:127.0.0.1) is found as IPv4, because the kernel stores it
        // like that.
        question.sdiag_family = UInt8(own.family)
        question.sdiag_protocol = UInt8(IPPROTO_TCP)
        question.idiag_states = .max
        (question.id.idiag_sport, question.id.idiag_src) = (other.port, other.words)
        (question.id.idiag_dport, question.id.idiag_dst) = (own.port, own.words)
        // INET_DIAG_NOCOOKIE: any socket with these addresses.
        question.id.idiag_cookie = (.max, .max)
        return question
    }

    /// An IP address and a port in network order, as inet_diag needs them.
    private struct Address {
        var family: Int32
        var port: UInt16
        var words: (UInt32, UInt32, UInt32, UInt32)
    }

    private typealias Name = (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32

    private static func address(of socket: Int32, _ name: Name) -> Address? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe name(socket, $0, &length) }
        }
        guard result == 0 else { return nil }
        return unsafe withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let address = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
                return Address(family: AF_INET, port: address.sin_port, words: (address.sin_addr.s_addr, 0, 0, 0))
            case AF_INET6:
                let address = unsafe bytes.loadUnaligned(as: sockaddr_in6.self)
                let words = unsafe withUnsafeBytes(of: address.sin6_addr) {
                    unsafe $0.loadUnaligned(as: (UInt32, UInt32, UInt32, UInt32).self)
                }
                return Address(family: AF_INET6, port: address.sin6_port, words: words)
            default: return nil
            }
        }
    }
}
