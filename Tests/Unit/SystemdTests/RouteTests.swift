import CSystemd
import Glibc
import Testing

@testable import Systemd

@Suite struct RouteTests {
    @Test func `a default route over a live interface is usable`() {
        #expect(usable(message(family: AF_INET)))
        #expect(usable(message(family: AF_INET6)))
    }

    @Test func `a route to a neighbouring network alone is usable`() {
        #expect(usable(message(family: AF_INET, to: [192, 168, 7, 0], prefix: 24)))
        #expect(usable(message(family: AF_INET6, to: [0xfd, 0x12] + zeros(14), prefix: 64)))
    }

    @Test func `routes within the machine or the link are not usable`() {
        #expect(!usable(message(family: AF_INET, to: [169, 254, 0, 0], prefix: 16)))
        #expect(!usable(message(family: AF_INET, to: [127, 0, 0, 0], prefix: 8)))
        #expect(!usable(message(family: AF_INET, to: [224, 0, 0, 0], prefix: 4)))
        #expect(!usable(message(family: AF_INET6, to: [0xfe, 0x80] + zeros(14), prefix: 64)))
        #expect(!usable(message(family: AF_INET6, to: zeros(15) + [1], prefix: 128)))
        #expect(!usable(message(family: AF_INET6, to: [0xff] + zeros(15), prefix: 8)))
        #expect(!usable(message(family: AF_INET, to: [10, 0, 0, 0], prefix: 8, interface: 1)))
    }

    @Test func `half of the address space is not a loopback network`() {
        #expect(usable(message(family: AF_INET, to: [128, 0, 0, 0], prefix: 1)))
        #expect(usable(message(family: AF_INET, to: [0, 0, 0, 0], prefix: 1)))
        #expect(usable(message(family: AF_INET6, to: zeros(16), prefix: 1)))
    }

    @Test func `only unicast routes outside the local table count`() {
        #expect(!usable(message(family: AF_INET, type: Int(RTN_BLACKHOLE))))
        #expect(!usable(message(family: AF_INET, type: Int(RTN_UNREACHABLE))))
        #expect(!usable(message(family: AF_INET, table: 255)))
        #expect(usable(message(family: AF_INET, table: 100)))
        #expect(!usable(message(family: 28)), "MPLS")
    }

    @Test func `the wide table number overrides the narrow one`() {
        // VPNs use tables above 255 (WireGuard: 51820). The header then has RT_TABLE_COMPAT (252).
        let wide = attribute(Int(RTA_TABLE.rawValue), bytes(UInt32(255)))
        #expect(!usable(message(family: AF_INET, table: 252) + wide))
        #expect(usable(message(family: AF_INET, table: 255) + attribute(Int(RTA_TABLE.rawValue), bytes(UInt32(51820)))))
    }

    @Test func `a dead nexthop or one without a carrier leads nowhere`() {
        #expect(!usable(message(family: AF_INET, flags: UInt32(RTNH_F_LINKDOWN))))
        #expect(!usable(message(family: AF_INET, flags: UInt32(RTNH_F_DEAD))))
        #expect(!usable(message(family: AF_INET, flags: UInt32(RTM_F_CLONED))))
        #expect(usable(message(family: AF_INET, flags: UInt32(RTNH_F_ONLINK))))
    }

    @Test func `one live nexthop of several is enough`() {
        let dead = nexthop(flags: UInt8(RTNH_F_LINKDOWN), interface: 2)
        let live = nexthop(flags: 0, interface: 3)
        let header = Array(message(family: AF_INET).prefix(12))
        #expect(usable(header + attribute(Int(RTA_MULTIPATH.rawValue), dead + live)))
        #expect(!usable(header + attribute(Int(RTA_MULTIPATH.rawValue), dead + dead)))
    }

    @Test func `a message cut at any place does not trap`() {
        let whole =
            message(family: AF_INET6, to: [0xfe, 0x80] + zeros(14), prefix: 64)
            + attribute(Int(RTA_MULTIPATH.rawValue), nexthop(flags: 0, interface: 3))
        for count in 0..<whole.count {
            let route = Route(message: NetlinkBytes(whole[..<count]))
            #expect((route == nil) == (count < 12))
        }
    }

    @Test func `an answer is complete at its end, and leftovers of another are ignored`() throws {
        var reading = RouteReading(sequence: 7)
        let route = message(family: AF_INET)
        try reading.take(
            datagram(header(type: Int(RTM_NEWROUTE), sequence: 6, route), header(type: 3, sequence: 6, []))
        )
        #expect(!reading.hasUsableRoute && !reading.isComplete)
        try reading.take(datagram(header(type: Int(RTM_NEWROUTE), sequence: 7, route)))
        #expect(reading.hasUsableRoute && !reading.isComplete)
        try reading.take(datagram(header(type: 3, flags: UInt16(NLM_F_DUMP_INTR), sequence: 7, bytes(UInt32(0)))))
        #expect(reading.isComplete && reading.isInterrupted)
    }

    @Test func `the kernel's refusal is an error`() {
        var reading = RouteReading(sequence: 1)
        let refusal = datagram(header(type: 2, sequence: 1, bytes(UInt32(bitPattern: -EPERM))))
        #expect(throws: SystemdError.routesUnavailable(errno: EPERM)) { try reading.take(refusal) }
    }
}

private func usable(_ message: [UInt8]) -> Bool {
    Route(message: NetlinkBytes(message[...]))?.isUsable == true
}

private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

private func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    unsafe withUnsafeBytes(of: number) { unsafe Array($0) }
}

private func attribute(_ type: Int, _ payload: [UInt8]) -> [UInt8] {
    bytes(UInt16(4 + payload.count)) + bytes(UInt16(type)) + payload + zeros(-payload.count & 3)
}

private func nexthop(flags: UInt8, interface: UInt32) -> [UInt8] {
    bytes(UInt16(8)) + [flags, 0] + bytes(interface)
}

private func header(type: Int, flags: UInt16 = 0, sequence: UInt32, _ payload: [UInt8]) -> [UInt8] {
    bytes(UInt32(16 + payload.count)) + bytes(UInt16(type)) + bytes(flags) + bytes(sequence) + zeros(4) + payload
        + zeros(-payload.count & 3)
}

private func datagram(_ messages: [UInt8]...) -> NetlinkBytes {
    NetlinkBytes(messages.flatMap { $0 }[...])
}

private func message(
    family: Int32,
    to destination: [UInt8]? = nil,
    prefix: UInt8 = 0,
    table: UInt8 = 254,
    type: Int = Int(RTN_UNICAST),
    flags: UInt32 = 0,
    interface: UInt32 = 2
) -> [UInt8] {
    [UInt8(family), prefix, 0, 0, table, 0, 0, UInt8(type)] + bytes(flags)
        + (destination.map { attribute(Int(RTA_DST.rawValue), $0) } ?? [])
        + attribute(Int(RTA_OIF.rawValue), bytes(interface))
}
