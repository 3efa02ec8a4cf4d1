internal import CSystemd
package import Dispatch
internal import Glibc

/// Tells when the network comes and goes: whether some route leads off this machine and this link.
///
/// Inclusive on purpose. A machine without a default route may reach its authorization server, and a needless attempt
/// costs one failed connection, while a missed network costs a token.
///
/// What the kernel reports is not read, only that it reports: then all routes are asked for anew. So lost reports
/// (`ENOBUFS`) need no care of their own, and no copy of the table can go stale.
package final class RouteWatch {
    /// Whether there was a route when the watch began; `onChange` tells each change from then on.
    package let hadRouteAtStart: Bool

    private let table: RouteTable
    private let source: any DispatchSourceRead
    private let settling: any DispatchSourceTimer
    private let onChange: @Sendable (Bool) -> Void
    // The rest is touched on the queue only.
    private var hasRoute: Bool
    private var isSettling = false

    /// How long reports are gathered before the routes are read. One cable gives a dozen reports within some ms, and a
    /// routing daemon thousands; 100 ms makes one reading of them, and nobody notices that a refresh starts so much later.
    private static let settlingTime = DispatchTimeInterval.milliseconds(100)
    private static let groups = [RTNLGRP_LINK, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE]

    /// Reads the routes, then watches them and calls `onChange` on `queue`, with true when the network is up.
    ///
    /// - Throws: `routesUnavailable`; the caller should take the network for up.
    package init(queue: DispatchQueue, onChange: @escaping @Sendable (Bool) -> Void) throws(SystemdError) {
        let mask = Self.groups.reduce(UInt32(0)) { $0 | 1 << ($1.rawValue - 1) }
        table = try RouteTable()
        // Listening comes before reading, so that no change falls between.
        let descriptor = try NetlinkSocket.open(groups: mask)
        do throws(SystemdError) {
            hadRouteAtStart = try table.hasUsableRoute()
        } catch {
            close(descriptor)
            throw error
        }
        hasRoute = hadRouteAtStart
        self.onChange = onChange
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        settling = DispatchSource.makeTimerSource(queue: queue)

        settling.setEventHandler { [weak self] in self?.readRoutes() }
        settling.schedule(deadline: .distantFuture)
        settling.activate()
        source.setEventHandler { [weak self] in
            Self.drain(descriptor)
            self?.settle()
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit { cancel() }

    /// Ends the watch; may be called twice. On the watch's queue no call of `onChange` follows.
    package func cancel() {
        source.cancel()
        settling.cancel()
    }

    /// Throws away the reports at hand. `ENOBUFS`, which says that some were lost, is one report more: it ends this
    /// drain, and the source is ready again for what is left.
    private static func drain(_ descriptor: Int32) {
        var byte: UInt8 = 0
        // One byte is enough to take a datagram off the queue; the rest of it is dropped.
        while unsafe recv(descriptor, &byte, 1, 0) >= 0 {}
    }

    private func settle() {
        guard !isSettling else { return }
        isSettling = true
        settling.schedule(deadline: .now() + Self.settlingTime)
    }

    private func readRoutes() {
        isSettling = false
        // Unreadable routes are no reason to stop refreshing: then the network counts as up.
        let hasRoute = (try? table.hasUsableRoute()) ?? true
        guard hasRoute != self.hasRoute else { return }
        self.hasRoute = hasRoute
        onChange(hasRoute)
    }
}

/// What one `RTM_NEWROUTE` message says, as far as it tells whether packets can leave the machine (rtnetlink(7)).
struct Route: Hashable {
    /// Whether the route leads somewhere: unicast, neither within the machine nor within one link, over an interface
    /// that has a carrier.
    ///
    /// A default route is not asked for: a network without one may well hold the authorization server.
    let isUsable: Bool

    /// The route in `message`, which begins with its `rtmsg`; nil when the message is cut short.
    init?(message: NetlinkBytes) {
        guard let family = message.integer(UInt8.self, at: 0), let prefixLength = message.integer(UInt8.self, at: 1),
            let table = message.integer(UInt8.self, at: 4), let type = message.integer(UInt8.self, at: 7),
            let flags = message.integer(UInt32.self, at: 8)
        else { return nil }
        let attributes = message.attributes(from: MemoryLayout<rtmsg>.size)
        let number = attributes[Self.tableAttribute]?.integer(UInt32.self, at: 0) ?? UInt32(table)
        isUsable =
            type == UInt8(RTN_UNICAST) && flags & UInt32(RTM_F_CLONED) == 0
            && number != UInt32(RT_TABLE_LOCAL.rawValue)
            // MPLS and the like carry no connection of ours.
            && [AF_INET, AF_INET6].contains(Int32(family))
            && Self.leavesTheLink(family: family, prefixLength: prefixLength, attributes[Self.destinationAttribute])
            && Self.hasLiveNexthop(flags: flags, attributes)
    }

    private static let destinationAttribute = UInt16(RTA_DST.rawValue)
    private static let interfaceAttribute = UInt16(RTA_OIF.rawValue)
    private static let multipathAttribute = UInt16(RTA_MULTIPATH.rawValue)
    private static let tableAttribute = UInt16(RTA_TABLE.rawValue)

    private static let loopbackAddress = [UInt8](repeating: 0, count: 15) + [1]
    /// The loopback interface has this index in every network namespace (`LOOPBACK_IFINDEX` of the kernel).
    private static let loopback: UInt32 = 1

    /// Whether addresses of the destination are reached beyond this machine (loopback) and this link (link-local,
    /// multicast). No destination means the default route.
    private static func leavesTheLink(family: UInt8, prefixLength: UInt8, _ destination: NetlinkBytes?) -> Bool {
        guard let destination, let first = destination.integer(UInt8.self, at: 0) else { return true }
        let second = destination.integer(UInt8.self, at: 1) ?? 0
        guard Int32(family) == AF_INET6 else {
            let isLinkLocal = prefixLength >= 16 && first == 169 && second == 254
            let isLoopback = prefixLength >= 8 && first == 127
            let isMulticast = prefixLength >= 4 && first & 0xf0 == 224
            return !isLinkLocal && !isLoopback && !isMulticast
        }
        let isLinkLocal = prefixLength >= 10 && first == 0xfe && second & 0xc0 == 0x80
        let isLoopback = prefixLength == 128 && destination.bytes.elementsEqual(loopbackAddress)
        let isMulticast = prefixLength >= 8 && first == 0xff
        return !isLinkLocal && !isLoopback && !isMulticast
    }

    private static func hasLiveNexthop(flags: UInt32, _ attributes: [UInt16: NetlinkBytes]) -> Bool {
        guard let hops = attributes[multipathAttribute] else {
            return isLive(flags: flags, interface: attributes[interfaceAttribute]?.integer(UInt32.self, at: 0))
        }
        // struct rtnexthop: u16 length, u8 flags, u8 weight, i32 interface, then attributes of the hop.
        var offset = 0
        while let length = hops.integer(UInt16.self, at: offset), length >= 8,
            let flags = hops.integer(UInt8.self, at: offset + 2),
            let interface = hops.integer(UInt32.self, at: offset + 4)
        {
            if isLive(flags: UInt32(flags), interface: interface) { return true }
            offset += NetlinkBytes.aligned(Int(length))
        }
        return false
    }

    private static func isLive(flags: UInt32, interface: UInt32?) -> Bool {
        flags & UInt32(RTNH_F_DEAD | RTNH_F_LINKDOWN) == 0 && interface != loopback
    }
}

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

/// A piece of a netlink message, read with checked bounds; numbers are in the machine's byte order (netlink(7)).
struct NetlinkBytes: Hashable {
    let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The number at `offset`; nil when it lies outside.
    func integer<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Number? {
        let start = bytes.startIndex + offset
        let end = start + MemoryLayout<Number>.size
        guard offset >= 0, end <= bytes.endIndex else { return nil }
        return unsafe bytes[start..<end].withUnsafeBytes { unsafe $0.loadUnaligned(as: Number.self) }
    }

    /// The attributes from `offset` on by type, the last one of each type; what is cut short ends the list.
    func attributes(from offset: Int) -> [UInt16: NetlinkBytes] {
        var found: [UInt16: NetlinkBytes] = [:]
        var offset = offset
        // struct rtattr: u16 length of it all, u16 type, then the payload.
        while let length = integer(UInt16.self, at: offset), let type = integer(UInt16.self, at: offset + 2),
            let payload = slice(from: offset + 4, to: offset + Int(length))
        {
            found[type] = payload
            offset += Self.aligned(Int(length))
        }
        return found
    }

    /// The bytes from `start` to before `end`; nil when they do not lie within.
    func slice(from start: Int, to end: Int) -> NetlinkBytes? {
        guard 0 <= start, start <= end, end <= bytes.count else { return nil }
        return NetlinkBytes(bytes[bytes.startIndex + start..<bytes.startIndex + end])
    }

    /// Netlink begins everything at a multiple of four bytes.
    static func aligned(_ length: Int) -> Int {
        (length + 3) & ~3
    }
}
