internal import CSystemd
internal import Glibc

/// The kernel's routing tables, read by asking for all of them (rtnetlink(7)).
///
/// The socket stays open between questions, so that a later shortage of descriptors cannot blind the daemon, and so that
/// the answers are those of the network namespace it was opened in.
final class RouteTable {
    private let descriptor: Int32
    private var sequence: UInt32 = 0
    private var buffer = [UInt8](repeating: 0, count: RouteTable.bufferSize)

    /// The kernel fills no larger piece of a dump than 32 KiB (`netlink_recvmsg`), whatever the reader offers.
    private static let bufferSize = 32 * 1024
    /// A table that changed while it was read is read again, so often at most: a busy router may never hold still, and
    /// each change brings a notification and with it another reading anyway.
    private static let attempts = 3
    /// `NLM_F_DUMP`, a macro of two others that Swift does not import.
    private static let dump = NLM_F_ROOT | NLM_F_MATCH

    /// - Throws: `routesUnavailable`.
    init() throws(SystemdError) {
        descriptor = try NetlinkSocket.open(groups: 0)
        // Connected to the kernel (port 0) it takes messages from nobody else.
        let result = unsafe NetlinkSocket.withAddress(groups: 0) { unsafe connect(descriptor, $0, $1) }
        guard result == 0 else {
            let cause = errno
            close(descriptor)
            throw .routesUnavailable(errno: cause)
        }
    }

    deinit { close(descriptor) }

    /// Whether some route leads off this machine and this link over a live interface.
    ///
    /// Does not wait: the kernel has each piece of the answer ready when the one before is read.
    ///
    /// - Throws: `routesUnavailable`.
    func hasUsableRoute() throws(SystemdError) -> Bool {
        for _ in 1..<Self.attempts {
            let reading = try read()
            guard reading.isInterrupted else { return reading.hasUsableRoute }
        }
        return try read().hasUsableRoute
    }

    private func read() throws(SystemdError) -> RouteReading {
        sequence &+= 1
        try request()
        var reading = RouteReading(sequence: sequence)
        while !reading.isComplete {
            let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .routesUnavailable(errno: errno) }
            try reading.take(NetlinkBytes(buffer[..<count]))
        }
        return reading
    }

    private func request() throws(SystemdError) {
        let length = MemoryLayout<nlmsghdr>.size + MemoryLayout<rtmsg>.size
        let header = nlmsghdr(
            nlmsg_len: UInt32(length),
            nlmsg_type: UInt16(RTM_GETROUTE),
            nlmsg_flags: UInt16(NLM_F_REQUEST | Self.dump),
            nlmsg_seq: sequence,
            nlmsg_pid: 0
        )
        // An rtmsg of zeros: every family, every table.
        let wildcard = [UInt8](repeating: 0, count: MemoryLayout<rtmsg>.size)
        let message = unsafe withUnsafeBytes(of: header) { unsafe Array($0) } + wildcard
        guard unsafe send(descriptor, message, length, 0) == length else { throw .routesUnavailable(errno: errno) }
    }
}
