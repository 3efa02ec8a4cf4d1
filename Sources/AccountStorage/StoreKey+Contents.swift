import Foundation
import RefreshCore

extension StoreKey {
    /// The key in a file: 32 bytes as they are, or 64 hexadecimal digits, or base64, with white space around them.
    init?(fileContents bytes: [UInt8]) {
        if bytes.count == StoreKey.length {
            self.init(Secret(bytes))
            return
        }
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        let text = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        var decoded = StoreKey.decode(hexadecimal: Array(text)) ?? Data(base64Encoded: Data(text)).map(Array.init) ?? []
        defer { decoded.erase() }
        self.init(Secret(decoded))
    }

    private static func decode(hexadecimal text: [UInt8]) -> [UInt8]? {
        guard text.count == 2 * StoreKey.length else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = Character(UnicodeScalar(text[index])).hexDigitValue,
                let low = Character(UnicodeScalar(text[index + 1])).hexDigitValue
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

extension [UInt8] {
    /// Overwrites the bytes; not inlined, so that the compiler cannot see that nobody reads them again.
    @inline(never)
    mutating func erase() {
        for index in indices { self[index] = 0 }
    }
}
