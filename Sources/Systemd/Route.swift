internal import CSystemd
internal import Glibc

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
