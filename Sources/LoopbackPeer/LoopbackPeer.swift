internal import Glibc

internal import CLinux

/// The program at the other end of a TCP connection within this machine.
///
/// TCP has no `SO_PEERCRED`. But the other end is a socket of this machine, too, and of the same network namespace, and the kernel
/// tells whose a socket is that is named by its two addresses (sock_diag(7)): one question, answered at once.
package enum LoopbackPeer {
    /// Whether the other end of the connection `socket` is of this process's own user.
    ///
    /// Ask right after accept(2): a peer that has closed its end is nobody's any more. Whoever cannot be found counts as a stranger:
    /// it is what a stranger could arrange, by closing early or by a kernel that is short of memory.
    package static func isOwn(_ socket: Int32) -> Bool {
        owner(of: socket) == geteuid()
    }

    /// The user whose the other end of the connection `socket` is, as this process's user namespace numbers them; nil if nobody holds
    /// it, or it cannot be found.
    package static func owner(of socket: Int32) -> UInt32? {
        guard let question = question(about: socket), let answer = ask(question) else { return nil }
        // A socket that its program has closed, and one that is not accepted yet, are no file: older kernels say "root" of both.
        guard answer.idiag_inode != 0 else { return nil }
        return answer.idiag_uid
    }

    private static func ask(_ question: inet_diag_req_v2) -> inet_diag_msg? {
        let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_NETLINK, type, NETLINK_SOCK_DIAG)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Connected to the kernel (port 0) it takes messages from nobody else.
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
        // netlink(7): the kernel has answered before send(2) returns. 72 bytes, and attributes that are cut off here.
        var reply = [UInt8](repeating: 0, count: 1024)
        let count = unsafe recv(descriptor, &reply, reply.count, Int32(MSG_DONTWAIT))
        guard count >= headerBytes + MemoryLayout<inet_diag_msg>.size else { return nil }
        return unsafe reply.withUnsafeBytes { bytes in
            let header = unsafe bytes.loadUnaligned(as: nlmsghdr.self)
            guard header.nlmsg_type == SOCK_DIAG_BY_FAMILY else { return nil }
            return unsafe bytes.loadUnaligned(fromByteOffset: headerBytes, as: inet_diag_msg.self)
        }
    }

    /// Asks about the socket whose own address is the one that `socket` is connected to, and the other way round.
    private static func question(about socket: Int32) -> inet_diag_req_v2? {
        guard let own = unsafe address(of: socket, getsockname), let other = unsafe address(of: socket, getpeername),
            own.family == other.family
        else { return nil }
        var question = inet_diag_req_v2()
        // An IPv6 socket that is connected to an IPv4 address (::ffff:127.0.0.1) is found as IPv4, as the kernel keeps it.
        question.sdiag_family = UInt8(own.family)
        question.sdiag_protocol = UInt8(IPPROTO_TCP)
        question.idiag_states = .max
        (question.id.idiag_sport, question.id.idiag_src) = (other.port, other.words)
        (question.id.idiag_dport, question.id.idiag_dst) = (own.port, own.words)
        // INET_DIAG_NOCOOKIE: whichever socket has these addresses.
        question.id.idiag_cookie = (.max, .max)
        return question
    }

    /// An IP address and a port in network order, as inet_diag takes them.
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
