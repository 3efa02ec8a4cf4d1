/// Base64 with padding (RFC 4648 §4), for the hot path: Foundation's costs more than the whole answer.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            var letters: [UInt8] = []
            for _ in 0..<4 {
                letters.append(alphabet[bits & 63])
                bits >>= 6
            }
            encoded += letters.reversed().prefix(group.count + 1)
            encoded += Array(repeating: UInt8(ascii: "="), count: 3 - group.count)
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
