/// The codes that protect the format and version information (ISO/IEC 18004 annexes C and D).
enum BinaryCode {
    /// The remainder of `value`·x^degree divided by `generator`, as polynomials over one bit.
    static func remainder(of value: UInt32, degree: Int, generator: UInt32) -> UInt32 {
        (0..<degree).reduce(value) { rest, _ in
            rest << 1 ^ (rest >> (degree - 1) & 1) * generator
        }
    }
}
