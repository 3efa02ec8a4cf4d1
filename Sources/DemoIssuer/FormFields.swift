/// The fields of a form-encoded body (RFC 6749 appendix B).
struct FormFields {
    private let fields: [String: String]
    /// The values of `resource`, which alone may be given several times (RFC 8707 §2).
    let resources: [String]

    /// nil for a broken escape or a field given twice, which RFC 6749 §3.2 forbids.
    init?(_ body: some Sequence<UInt8>) {
        var fields: [String: String] = [:]
        var resources: [String] = []
        for field in Array(body).split(separator: UInt8(ascii: "&")) {
            let equals = field.firstIndex(of: UInt8(ascii: "=")) ?? field.endIndex
            guard let name = Self.decode(field[..<equals]), let value = Self.decode(field[equals...].dropFirst())
            else { return nil }
            if name == "resource" {
                resources.append(value)
            } else if fields.updateValue(value, forKey: name) != nil {
                return nil
            }
        }
        self.fields = fields
        self.resources = resources
    }

    /// nil for a field that is missing or empty: RFC 6749 §3.2 has them treated alike.
    subscript(_ name: String) -> String? {
        fields[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Form encoding of all but letters, digits and `-._~`.
    static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
                return String(character)
            }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
    }

    /// Undoes form encoding; nil for a broken escape or bytes that are not UTF-8.
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
