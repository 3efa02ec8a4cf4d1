/// Host names with letters beyond ASCII, as the DNS has them: `bücher.example` is `xn--bcher-kva.example` (RFC 5891
/// §4.4, RFC 3492).
///
/// Only capital letters are mapped. Two spellings that look alike are different names.
enum InternationalName {
    /// RFC 1035 §2.3.4.
    private static let longestLabel = 63

    /// - Parameter authority: a host, with a port or without.
    /// - Returns: the same in ASCII; nil if a label is too long, or has a character that no name can have.
    static func ascii(_ authority: Substring) -> String? {
        var result = ""
        var label: [Unicode.Scalar] = []
        for scalar in authority.lowercased().unicodeScalars {
            guard scalar == "." || scalar == ":" else {
                label.append(scalar)
                continue
            }
            guard let text = ascii(label) else { return nil }
            result += text
            result.unicodeScalars.append(scalar)
            label = []
        }
        return ascii(label).map { result + $0 }
    }

    private static func ascii(_ label: [Unicode.Scalar]) -> String? {
        let basic = label.filter(\.isASCII)
        guard basic.count < label.count else { return String(String.UnicodeScalarView(label)) }
        guard label.count <= longestLabel, basic.allSatisfy(isPlain) else { return nil }
        let text = "xn--" + punycode(label.map(\.value), basic: basic)
        return text.utf8.count <= longestLabel ? text : nil
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "-"
    }

    // RFC 3492 §5.
    private static let (base, tMin, tMax): (UInt32, UInt32, UInt32) = (36, 1, 26)
    private static let (skew, damp): (UInt32, UInt32) = (38, 700)
    private static let (initialBias, initialN): (UInt32, UInt32) = (72, 128)

    /// RFC 3492 §6.3. With labels of at most 63 characters, no number can overflow.
    private static func punycode(_ points: [UInt32], basic: [Unicode.Scalar]) -> String {
        var text = String(String.UnicodeScalarView(basic)) + (basic.isEmpty ? "" : "-")
        var (n, delta, bias, handled) = (initialN, UInt32(0), initialBias, UInt32(basic.count))
        while let next = points.filter({ $0 >= n }).min() {
            delta += (next - n) * (handled + 1)
            n = next
            for point in points {
                if point < n { delta += 1 }
                guard point == n else { continue }
                text += digits(of: delta, bias)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic.count)
                delta = 0
                handled += 1
            }
            delta += 1
            n += 1
        }
        return text
    }

    private static func digits(of number: UInt32, _ bias: UInt32) -> String {
        var (text, rest, k) = ("", number, base)
        while true {
            let threshold = k <= bias ? tMin : min(k - bias, tMax)
            guard rest >= threshold else { return text + digit(rest) }
            text += digit(threshold + (rest - threshold) % (base - threshold))
            rest = (rest - threshold) / (base - threshold)
            k += base
        }
    }

    /// a to z, then 0 to 9.
    private static func digit(_ value: UInt32) -> String {
        String(Unicode.Scalar(UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30)))
    }

    /// RFC 3492 §6.1.
    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / count
        var k: UInt32 = 0
        while delta > (base - tMin) * tMax / 2 {
            delta /= base - tMin
            k += base
        }
        return k + (base - tMin + 1) * delta / (delta + skew)
    }
}
