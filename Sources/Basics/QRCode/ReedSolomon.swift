/// Error correction codewords over GF(2⁸) with x⁸ + x⁴ + x³ + x² + 1 (ISO/IEC 18004 §7.5).
struct ReedSolomon {
    /// The coefficients of ∏(x − 2ⁱ) without the leading 1, highest power first.
    private let generator: [UInt8]

    /// Prepares the code.
    ///
    /// - Parameter degree: how many correction codewords it computes for a block.
    init(degree: Int) {
        var generator = [UInt8](repeating: 0, count: degree)
        generator[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in generator.indices {
                let next = index + 1 < degree ? generator[index + 1] : 0
                generator[index] = Self.product(generator[index], root) ^ next
            }
            root = Self.product(root, 2)
        }
        self.generator = generator
    }

    /// The correction codewords of a block.
    func correction(for block: some Sequence<UInt8>) -> [UInt8] {
        var rest = [UInt8](repeating: 0, count: generator.count)
        for codeword in block {
            let factor = codeword ^ rest.removeFirst()
            rest.append(0)
            for (index, coefficient) in generator.enumerated() {
                rest[index] ^= Self.product(coefficient, factor)
            }
        }
        return rest
    }

    private static func product(_ first: UInt8, _ second: UInt8) -> UInt8 {
        var product: UInt16 = 0
        for bit in (0..<8).reversed() {
            product = product << 1 ^ (product >> 7 & 1) * 0x11D
            product ^= UInt16(second >> bit & 1) * UInt16(first)
        }
        return UInt8(truncatingIfNeeded: product)
    }
}
