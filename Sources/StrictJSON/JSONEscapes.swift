/// The escapes of a JSON string (RFC 8259 §7).
enum JSONEscapes {
    /// Like `decode`, for bytes that rarely have escapes.
    static func text(of raw: ArraySlice<UInt8>) -> String? {
        guard !raw.contains(UInt8(ascii: "\\")) else { return decode(raw) }
        // The usual case. Checking other text makes the Swift runtime build types (measured: 60 µs, once).
        guard raw.contains(where: { $0 >= 0x80 }) else { return String(decoding: raw, as: UTF8.self) }
        return String(validating: raw, as: UTF8.self)
    }

    /// The text of `raw`, the bytes between two quotes; nil for an unknown escape, half a surrogate pair, or bytes that
    /// are not UTF-8.
    ///
    /// - Parameter repairing: whether half a surrogate pair and invalid bytes become U+FFFD instead.
    static func decode(_ raw: ArraySlice<UInt8>, repairing: Bool = false) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(raw.count)
        var rest = raw
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                decoded.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            if escaped == UInt8(ascii: "u") {
                guard let scalar = scalar(in: &rest, repairing) else { return nil }
                decoded.append(contentsOf: String(Character(scalar)).utf8)
            } else {
                guard let plain = plain(escaped) else { return nil }
                decoded.append(plain)
            }
        }
        return repairing ? String(decoding: decoded, as: UTF8.self) : String(validating: decoded, as: UTF8.self)
    }

    private static func plain(_ escaped: UInt8) -> UInt8? {
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): escaped
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The scalar of a `\u` escape, after its `\u` was read; if it is a surrogate, this also reads its second half.
    private static func scalar(in rest: inout ArraySlice<UInt8>, _ repairing: Bool) -> Unicode.Scalar? {
        guard let first = unit(in: &rest) else { return nil }
        if let scalar = Unicode.Scalar(first) { return scalar }
        var ahead = rest
        if UTF16.isLeadSurrogate(first), ahead.popFirst() == UInt8(ascii: "\\"), ahead.popFirst() == UInt8(ascii: "u"),
            let second = unit(in: &ahead), UTF16.isTrailSurrogate(second)
        {
            rest = ahead
            return Unicode.Scalar(0x10000 + (UInt32(first - 0xD800) << 10) + UInt32(second - 0xDC00))
        }
        return repairing ? "\u{FFFD}" : nil
    }

    private static func unit(in rest: inout ArraySlice<UInt8>) -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = rest.popFirst().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                return nil
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
