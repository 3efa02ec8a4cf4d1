/// An IPv6 address (RFC 4291 §2.2), without a zone, and without an IPv4 address in its dotted form.
///
/// The spelling does not matter: `::1`, `0::1` and `0:0:0:0:0:0:0:1` are equal.
package struct IPv6Address: Hashable, Sendable {
    /// `::1`, this machine.
    package static let loopback = IPv6Address(groups: [0, 0, 0, 0, 0, 0, 0, 1])
    /// `::`, no particular machine.
    package static let unspecified = IPv6Address(groups: [0, 0, 0, 0, 0, 0, 0, 0])

    private let groups: [UInt16]

    private init(groups: [UInt16]) {
        self.groups = groups
    }

    /// Reads an address; nil if `text` is not one.
    package init?(_ text: some StringProtocol) {
        guard !text.isEmpty, text.hasPrefix("::") || !text.hasPrefix(":"),
            text.hasSuffix("::") || !text.hasSuffix(":")
        else { return nil }
        var parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // The split leaves an empty part for "::", and a second one at the beginning and at the end.
        if text.hasPrefix("::") { parts.removeFirst() }
        if text.hasSuffix("::") { parts.removeLast() }
        let gaps = parts.count(where: \.isEmpty)
        guard gaps == 1 ? parts.count <= 8 : gaps == 0 && parts.count == 8 else { return nil }
        var groups: [UInt16] = []
        for part in parts {
            guard !part.isEmpty else {
                groups += repeatElement(0, count: 9 - parts.count)
                continue
            }
            // `UInt16` alone would accept a sign and leading zeros without end.
            guard part.utf8.count <= 4, part.allSatisfy(\.isHexDigit), let group = UInt16(part, radix: 16) else {
                return nil
            }
            groups.append(group)
        }
        self.groups = groups
    }

    /// Reads the host of a URL such as `[::1]` (RFC 3986 §3.2.2); nil if it is not an address in brackets.
    package init?(host: some StringProtocol) {
        guard host.hasPrefix("["), host.hasSuffix("]") else { return nil }
        self.init(host.dropFirst().dropLast())
    }

    /// Whether the address is an IPv4 address in another form, `::ffff:0:0/96` (RFC 4291 §2.5.5.2).
    package var isMappedIPv4: Bool { groups[..<6] == [0, 0, 0, 0, 0, 0xffff] }
}
