/// The escapes of a JSON string (RFC 8259 §7).
enum JSONEscapes {
    /// The text of `raw`, the bytes between two quotes.
    ///
    /// In a strict reading it is nil for an unknown escape, half a surrogate pair, or bytes that are not UTF-8.
    static func decode(_ raw: ArraySlice<UInt8>, _ reading: JSONValue.Reading) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(raw.count)
        var rest = raw
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                decoded.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            if escaped == UInt8(ascii: "u"), let scalar = scalar(in: &rest, reading) {
                decoded.append(contentsOf: String(Character(scalar)).utf8)
            } else if let plain = plain(escaped) {
                decoded.append(plain)
            } else {
                guard reading == .lenient else { return nil }
                decoded.append(escaped)
            }
        }
        return reading == .lenient
            ? String(decoding: decoded, as: UTF8.self) : String(validating: decoded, as: UTF8.self)
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

    /// The scalar of a `\u` escape, after its `\u` was read; if it is a surrogate, this also reads its second half. Nil if
    /// four digits are missing, and in a strict reading for half a surrogate pair.
    private static func scalar(
        in rest: inout ArraySlice<UInt8>,
        _ reading: JSONValue.Reading
    ) -> Unicode.Scalar? {
        guard let first = unit(in: &rest) else { return nil }
        if let scalar = Unicode.Scalar(first) { return scalar }
        var ahead = rest
        if UTF16.isLeadSurrogate(first), ahead.popFirst() == UInt8(ascii: "\\"), ahead.popFirst() == UInt8(ascii: "u"),
            let second = unit(in: &ahead), UTF16.isTrailSurrogate(second)
        {
            rest = ahead
            return Unicode.Scalar(0x10000 + (UInt32(first - 0xD800) << 10) + UInt32(second - 0xDC00))
        }
        return reading == .lenient ? "\u{FFFD}" : nil
    }

    private static func unit(in rest: inout ArraySlice<UInt8>) -> UInt16? {
        var unit: UInt16 = 0
        let digits = rest.prefix(4)
        for byte in digits {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        guard digits.count == 4 else { return nil }
        rest = rest.dropFirst(4)
        return unit
    }
}
