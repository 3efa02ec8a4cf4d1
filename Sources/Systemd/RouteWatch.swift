internal import CSystemd
package import Dispatch
internal import Glibc

/// Reports when the network comes and goes: whether some route leads beyond this machine and this link. Also reports
/// when it becomes another one: whether the default routes lead elsewhere.
///
/// It counts generously. A machine without a default route may still reach its authorization server. A needless attempt
/// costs one failed connection, but a missed network costs a token.
///
/// The content of the kernel's reports is not used. Each report causes all routes to be read again. So lost reports
/// (`ENOBUFS`) need no special care, and no copy of the table can become outdated.
package final class RouteWatch {
    /// Whether there was a route when the watch began. `onChange` reports each later change.
    package let hadRouteAtStart: Bool

    private let table: RouteTable
    private let source: any DispatchSourceRead
    private let settling: any DispatchSourceTimer
    private let onChange: @Sendable (Bool) -> Void
    private let onOtherNetwork: @Sendable () -> Void
    // The rest is used only on the queue.
    private var hasRoute: Bool
    private var exits: Set<Route.Exit>
    private var isSettling = false

    /// How long reports are collected before the routes are read. Plugging in one cable causes a dozen reports within
    /// some ms, and a routing daemon thousands. 100 ms are enough for one reading, and nobody notices such a delay of a
    /// refresh.
    private static let settlingTime = DispatchTimeInterval.milliseconds(100)
    private static let groups = [RTNLGRP_LINK, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE]

    /// Reads the routes, then watches them.
    ///
    /// - Parameters:
    ///   - onOtherNetwork: called on `queue` if the network was and is up, and the default routes lead elsewhere: after a
    ///     cable was plugged in beside the radio, or a VPN came up.
    ///   - onChange: called on `queue`, with true if the network is up.
    /// - Throws: if the routes cannot be read; the caller should assume that the network is up.
    package init(
        queue: DispatchQueue,
        onOtherNetwork: @escaping @Sendable () -> Void = {},
        onChange: @escaping @Sendable (Bool) -> Void
    ) throws(SystemdError) {
        let mask = Self.groups.reduce(UInt32(0)) { $0 | 1 << ($1.rawValue - 1) }
        table = try RouteTable()
        // Listen before reading, so that no change is missed in between.
        let descriptor = try NetlinkSocket.open(groups: mask)
        do throws(SystemdError) {
            let routes = try table.routes()
            (hadRouteAtStart, exits) = (routes.hasUsableRoute, routes.exits)
        } catch {
            close(descriptor)
            throw error
        }
        hasRoute = hadRouteAtStart
        self.onChange = onChange
        self.onOtherNetwork = onOtherNetwork
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

    /// Ends the watch; may be called twice. If it is called on the watch's queue, `onChange` is not called any more.
    package func cancel() {
        source.cancel()
        settling.cancel()
    }

    /// Discards the waiting reports. `ENOBUFS`, which means that some were lost, counts as one more report: it ends
    /// this loop, and the source fires again for the rest.
    private static func drain(_ descriptor: Int32) {
        var byte: UInt8 = 0
        // One byte is enough to take a datagram off the queue. The rest of the datagram is dropped.
        while unsafe recv(descriptor, &byte, 1, 0) >= 0 {}
    }

    private func settle() {
        guard !isSettling else { return }
        isSettling = true
        settling.schedule(deadline: .now() + Self.settlingTime)
    }

    private func readRoutes() {
        isSettling = false
        let routes = try? table.routes()
        // If the routes cannot be read, refreshing should go on, so the network counts as up.
        let hasRoute = routes?.hasUsableRoute ?? true
        let before = (hasRoute: self.hasRoute, exits: exits)
        self.hasRoute = hasRoute
        exits = routes?.exits ?? exits
        if hasRoute != before.hasRoute {
            onChange(hasRoute)
        } else if !exits.isSubset(of: before.exits) {
            onOtherNetwork()
        }
    }
}

/// The content of an `RTM_NEWROUTE` message that shows whether packets can leave the machine (rtnetlink(7)).
struct Route: Hashable {
    /// Whether the route is unicast, leads beyond this machine and this link, and uses an interface with a carrier.
    ///
    /// It need not be a default route: a network without one may contain the authorization server.
    let isUsable: Bool
    /// Where the route leads; nil if it is not a usable default route.
    let exit: Exit?

    /// Where a default route leads. The routes of two networks differ in it.
    struct Exit: Hashable {
        let family: UInt8
        let table: UInt32
        /// The interface, the gateway and the source address, each if it is stated, by type.
        let attributes: [UInt16: NetlinkBytes]
    }

    /// Reads the route in `message`, which begins with its `rtmsg`; nil if the message is truncated.
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
            // Our connections do not use MPLS and similar families.
            && [AF_INET, AF_INET6].contains(Int32(family))
            && Self.leavesTheLink(family: family, prefixLength: prefixLength, attributes[Self.destinationAttribute])
            && Self.hasLiveNexthop(flags: flags, attributes)
        // VPNs lay two routes with a prefix of one bit over the default route.
        let isDefault = isUsable && prefixLength <= 1
        let place = attributes.filter { Self.placeAttributes.contains($0.key) }
        exit = isDefault ? Exit(family: family, table: number, attributes: place) : nil
    }

    private static let destinationAttribute = UInt16(RTA_DST.rawValue)
    private static let interfaceAttribute = UInt16(RTA_OIF.rawValue)
    private static let multipathAttribute = UInt16(RTA_MULTIPATH.rawValue)
    /// Not the metric, nor how long a router's advertisement is valid: these change while the network stays the same.
    private static let placeAttributes = [
        interfaceAttribute, multipathAttribute, UInt16(RTA_GATEWAY.rawValue), UInt16(RTA_VIA.rawValue),
        UInt16(RTA_PREFSRC.rawValue),
    ]
    private static let tableAttribute = UInt16(RTA_TABLE.rawValue)

    private static let loopbackAddress = [UInt8](repeating: 0, count: 15) + [1]
    /// The index of the loopback interface in every network namespace (`LOOPBACK_IFINDEX` of the kernel).
    private static let loopback: UInt32 = 1

    /// Whether the destination is beyond this machine (loopback) and this link (link-local, multicast). No destination
    /// means the default route.
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
        // struct rtnexthop: u16 length, u8 flags, u8 weight, i32 interface, then the hop's attributes.
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

/// The answer to a request for all routes, received in pieces.
struct RouteReading {
    /// Whether there was a usable route.
    private(set) var hasUsableRoute = false
    /// Where the default routes lead.
    private(set) var exits: Set<Route.Exit> = []
    /// Whether the last piece was received.
    private(set) var isComplete = false
    /// Whether the table changed meanwhile, so that routes may be missing or repeated.
    private(set) var isInterrupted = false

    private let sequence: UInt32

    /// Accepts only messages that answer the request number `sequence`. Others are left from an earlier, abandoned
    /// reading.
    init(sequence: UInt32) {
        self.sequence = sequence
    }

    /// Reads one datagram of messages.
    ///
    /// - Throws: if the kernel answers with an error.
    mutating func take(_ datagram: NetlinkBytes) throws(SystemdError) {
        var offset = 0
        // struct nlmsghdr: u32 total length, u16 type, u16 flags, u32 sequence, u32 port.
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
            guard let route = Route(message: payload), route.isUsable else { return }
            hasUsableRoute = true
            if let exit = route.exit { exits.insert(exit) }
        default:
            // NLMSG_NOOP, and types of later kernels.
            break
        }
    }

    private static let headerSize = MemoryLayout<nlmsghdr>.size
}

/// Reads the kernel's routing tables by asking for all routes (rtnetlink(7)).
///
/// The socket stays open between requests, so that a later shortage of descriptors cannot blind the daemon, and so that
/// the answers are those of the network namespace in which it was opened.
final class RouteTable {
    private let descriptor: Int32
    private var sequence: UInt32 = 0

    /// The kernel's pieces are at most 32 KiB (`netlink_recvmsg`), whatever the reader's buffer.
    private static let bufferSize = 32 * 1024
    /// How often a table that changed during reading is read again. On a busy router it may change all the time, and
    /// each change causes another reading anyway.
    private static let attempts = 3
    /// `NLM_F_DUMP`, a macro made of two others, which Swift does not import.
    private static let dump = NLM_F_ROOT | NLM_F_MATCH

    /// Opens the socket.
    ///
    /// - Throws: if the kernel refuses.
    init() throws(SystemdError) {
        descriptor = try NetlinkSocket.open(groups: 0)
        // Connected to the kernel (port 0), the socket accepts messages from nobody else.
        let result = unsafe NetlinkSocket.withAddress(groups: 0) { unsafe connect(descriptor, $0, $1) }
        guard result == 0 else {
            let cause = errno
            close(descriptor)
            throw .routesUnavailable(errno: cause)
        }
    }

    deinit { close(descriptor) }

    /// Reads all routes.
    ///
    /// It does not wait: when one piece of the answer is read, the kernel has the next one ready.
    ///
    /// - Throws: if the kernel refuses.
    func routes() throws(SystemdError) -> RouteReading {
        for _ in 1..<Self.attempts {
            let reading = try read()
            guard reading.isInterrupted else { return reading }
        }
        return try read()
    }

    private func read() throws(SystemdError) -> RouteReading {
        sequence &+= 1
        try request()
        var reading = RouteReading(sequence: sequence)
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
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
        // An rtmsg of zeros means every family and every table.
        let wildcard = [UInt8](repeating: 0, count: MemoryLayout<rtmsg>.size)
        let message = unsafe withUnsafeBytes(of: header) { unsafe Array($0) } + wildcard
        guard unsafe send(descriptor, message, length, 0) == length else { throw .routesUnavailable(errno: errno) }
    }
}

/// Opens sockets to the kernel's routing subsystem (netlink(7)).
enum NetlinkSocket {
    /// Opens a non-blocking socket that receives the multicast `groups` (one bit each). The caller closes it.
    ///
    /// - Throws: if the kernel refuses.
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

    /// Calls `body` with a netlink address with port 0. For connect, that is the kernel; for bind, it means any port.
    static func withAddress(groups: UInt32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        let address = sockaddr_nl(nl_family: sa_family_t(AF_NETLINK), nl_pad: 0, nl_pid: 0, nl_groups: groups)
        return unsafe withUnsafePointer(to: address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_nl>.size))
            }
        }
    }
}

/// A part of a netlink message, read with bounds checks. Numbers are in the machine's byte order (netlink(7)).
struct NetlinkBytes: Hashable {
    let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The number at `offset`; nil if it is out of bounds.
    func integer<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Number? {
        let start = bytes.startIndex + offset
        let end = start + MemoryLayout<Number>.size
        guard offset >= 0, end <= bytes.endIndex else { return nil }
        return unsafe bytes[start..<end].withUnsafeBytes { unsafe $0.loadUnaligned(as: Number.self) }
    }

    /// The attributes from `offset` on, by type. Of several with the same type, the last one counts. A truncated
    /// attribute ends the list.
    func attributes(from offset: Int) -> [UInt16: NetlinkBytes] {
        var found: [UInt16: NetlinkBytes] = [:]
        var offset = offset
        // struct rtattr: u16 total length, u16 type, then the payload.
        while let length = integer(UInt16.self, at: offset), let type = integer(UInt16.self, at: offset + 2),
            let payload = slice(from: offset + 4, to: offset + Int(length))
        {
            found[type] = payload
            offset += Self.aligned(Int(length))
        }
        return found
    }

    /// The bytes from `start` up to `end`, excluding it; nil if they are out of bounds.
    func slice(from start: Int, to end: Int) -> NetlinkBytes? {
        guard 0 <= start, start <= end, end <= bytes.count else { return nil }
        return NetlinkBytes(bytes[bytes.startIndex + start..<bytes.startIndex + end])
    }

    /// Netlink aligns everything to four bytes.
    static func aligned(_ length: Int) -> Int {
        (length + 3) & ~3
    }
}

extension SystemdError {
    static func routesUnavailable(errno: Int32) -> SystemdError {
        SystemdError("cannot read the routing table", errno: errno)
    }
}
