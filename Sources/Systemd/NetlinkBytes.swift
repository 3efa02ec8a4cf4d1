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
