/// Form encoding (`application/x-www-form-urlencoded`), read.
enum FormText {
    /// Undoes form encoding; nil for a broken escape, or bytes that are not UTF-8.
    static func decode(_ encoded: some Sequence<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var iterator = encoded.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = iterator.next().flatMap(nibble), let low = iterator.next().flatMap(nibble) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default:
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        Character(UnicodeScalar(digit)).hexDigitValue.map { UInt8($0) }
    }
}
