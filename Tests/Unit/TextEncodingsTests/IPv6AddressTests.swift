import Glibc
import TestSupport
import Testing

@testable import TextEncodings

struct IPv6AddressTests {
    /// The address as inet_pton(3) reads it; nil if it refuses the text.
    private static func groups(_ text: String) -> [UInt16]? {
        var address = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        let bytes = unsafe withUnsafeBytes(of: address) { unsafe Array($0) }
        return stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    }

    /// A text of the parts that addresses are made of, and of some that they are not made of.
    private static func text(_ random: inout SplitMix64) -> String {
        let parts = ["0", "0", "0", "1", "0001", "00", "ffff", "aB9", "", "", "10000", "g", "+1", "１"]
        let count = Int.random(in: 0...10, using: &random)
        return (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined(separator: ":")
    }

    @Test func `an address is read as the system reads it`() {
        var random = SplitMix64(seed: 8252)
        var known = 0
        for _ in 0..<200_000 {
            let text = Self.text(&random)
            let expected = Self.groups(text)
            let address = IPv6Address(text)
            known += expected == nil ? 0 : 1
            #expect((address == nil) == (expected == nil), "\(text)")
            #expect((address == .loopback) == (expected == [0, 0, 0, 0, 0, 0, 0, 1]), "\(text)")
            let isMapped = expected.map { $0[..<6] == [0, 0, 0, 0, 0, 0xffff] }
            #expect(address?.isMappedIPv4 == isMapped, "\(text)")
        }
        #expect(known > 1_000)
    }

    @Test(arguments: ["::1", "0::1", "::0001", "0:0:0:0:0:0:0:1", "0000::0:01"])
    func `every spelling of the loopback address is the same address`(text: String) {
        #expect(IPv6Address(text) == .loopback)
        #expect(IPv6Address(host: "[\(text)]") == .loopback)
        #expect(IPv6Address(host: text) == nil)
    }

    @Test(arguments: ["::1%lo", "::1%25lo", " ::1", "::1 ", "::0.0.0.1", "::ffff:127.0.0.1", "127.0.0.1", "[::1]", ""])
    func `zones, IPv4 addresses and other text are refused`(text: String) {
        #expect(IPv6Address(text) == nil)
    }
}
