internal import CSystemd
internal import Glibc

/// One answer to "give me all routes", taken piece by piece.
struct RouteReading {
    /// Whether a usable route came by.
    private(set) var hasUsableRoute = false
    /// Whether the last piece is there.
    private(set) var isComplete = false
    /// Whether the table changed meanwhile, so that routes may be missing or told twice.
    private(set) var isInterrupted = false

    private let sequence: UInt32

    /// Takes only messages that answer the request number `sequence`; others are left over from a reading given up.
    init(sequence: UInt32) {
        self.sequence = sequence
    }

    /// Takes one datagram of messages.
    ///
    /// - Throws: `routesUnavailable` when the kernel answers with an error.
    mutating func take(_ datagram: NetlinkBytes) throws(SystemdError) {
        var offset = 0
        // struct nlmsghdr: u32 length of it all, u16 type, u16 flags, u32 sequence, u32 port.
        while let length = datagram.integer(UInt32.self, at: offset), length >= Self.headerSize,
            let type = datagram.integer(UInt16.self, at: offset + 4),
            let flags = datagram.integer(UInt16.self, at: offset + 6),
            let sequence = datagram.integer(UInt32.self, at: offset + 8),
            let payload = datagram.slice(from: offset + Self.headerSize, to: offset + Int(length))
        {
            offset += NetlinkBytes.aligned(Int(length))
            guard sequence == self.sequence else { continue }
            if flags & UInt16(NLM_F_DUMP_INTR) != 0 { isInterrupted = true }
            try take(type: Int32(type), payload)
        }
    }

    private mutating func take(type: Int32, _ payload: NetlinkBytes) throws(SystemdError) {
        switch type {
        case NLMSG_DONE:
            isComplete = true
        case NLMSG_ERROR:
            // struct nlmsgerr begins with a negative errno.
            throw .routesUnavailable(errno: -(payload.integer(Int32.self, at: 0) ?? -EBADMSG))
        case Int32(RTM_NEWROUTE):
            if let route = Route(message: payload), route.isUsable { hasUsableRoute = true }
        default:
            // NLMSG_NOOP, and what later kernels may send.
            break
        }
    }

    private static let headerSize = MemoryLayout<nlmsghdr>.size
}
