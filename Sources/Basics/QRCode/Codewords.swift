/// Turns bytes into the codewords of a symbol.
extension QRVersion {
    /// All codewords in the order in which they are drawn.
    ///
    /// - Parameter bytes: no more than the version can hold.
    func codewords(of bytes: [UInt8], _ correction: Correction) -> [UInt8] {
        interleave(data(bytes, correction), correction)
    }

    /// Mode, count, bytes, terminator and padding (ISO/IEC 18004 §7.4).
    func data(_ bytes: [UInt8], _ correction: Correction) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, countBits)
        for byte in bytes { append(Int(byte), 8) }

        // The terminator is four zero bits. Mode and count end in the middle of a byte, so it always fits, and ends on
        // a byte boundary.
        append(0, 4)
        var codewords = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        let missing = dataCodewordCount(correction) - codewords.count
        codewords += (0..<missing).map { $0.isMultiple(of: 2) ? 0xEC : 0x11 }
        return codewords
    }

    /// Divides the data into blocks and interleaves their codewords; the correction codewords follow in the same way
    /// (§7.6).
    private func interleave(_ data: [UInt8], _ correction: Correction) -> [UInt8] {
        let (correctionCount, count) = blocks(correction)
        let code = ReedSolomon(degree: correctionCount)
        let shortLength = data.count / count
        // If the data cannot be divided evenly, the last blocks have one more codeword.
        let shortCount = count - data.count % count
        var rest = data[...]
        let blocks = (0..<count).map { number in
            let length = shortLength + (number < shortCount ? 0 : 1)
            defer { rest = rest.dropFirst(length) }
            return Array(rest.prefix(length))
        }
        return Self.columns(of: blocks) + Self.columns(of: blocks.map { code.correction(for: $0) })
    }

    /// The first element of each block, then the second of each, and so on.
    private static func columns(of blocks: [[UInt8]]) -> [UInt8] {
        (0..<(blocks.map(\.count).max() ?? 0)).flatMap { column in
            blocks.compactMap { column < $0.count ? $0[column] : nil }
        }
    }
}
