/// The modules of a symbol, and which of them belong to its function patterns.
struct ModuleGrid: Sendable {
    let size: Int
    private var isDark: [Bool]
    private var isFunction: [Bool]

    /// Draws the function patterns and the codewords. Mask and format information are added later.
    init(_ version: QRVersion, _ codewords: [UInt8]) {
        size = version.size
        isDark = Array(repeating: false, count: size * size)
        isFunction = isDark
        drawTiming()
        drawFinders()
        drawAlignment(version)
        drawVersion(version)
        // Reserves their modules.
        drawFormat(0)
        drawCodewords(codewords)
    }

    subscript(row: Int, column: Int) -> Bool { isDark[row * size + column] }

    /// Inverts the data modules for which `condition` holds.
    mutating func invert(where condition: (_ row: Int, _ column: Int) -> Bool) {
        for row in 0..<size {
            for column in 0..<size where !isFunction[row * size + column] && condition(row, column) {
                isDark[row * size + column].toggle()
            }
        }
    }

    /// Draws the 15 bits of the format information twice, and the module that is always dark (ISO/IEC 18004 §7.9).
    mutating func drawFormat(_ bits: UInt32) {
        for index in 0..<15 {
            let dark = bits >> index & 1 == 1
            // Around the upper left finder, skipping the timing patterns.
            switch index {
            case 0..<6: set(index, 8, dark)
            case 6, 7: set(index + 1, 8, dark)
            case 8: set(8, 7, dark)
            default: set(8, 14 - index, dark)
            }
            // Next to the other two finders.
            if index < 8 { set(8, size - 1 - index, dark) } else { set(size - 15 + index, 8, dark) }
        }
        set(size - 8, 8, true)
    }

    // MARK: Function patterns

    private mutating func set(_ row: Int, _ column: Int, _ dark: Bool) {
        isDark[row * size + column] = dark
        isFunction[row * size + column] = true
    }

    private mutating func drawTiming() {
        for index in 0..<size {
            set(6, index, index.isMultiple(of: 2))
            set(index, 6, index.isMultiple(of: 2))
        }
    }

    /// Draws rings around the center, dark at distances 0, 1 and 3. The light ring at distance 4 is the separator.
    private mutating func drawFinders() {
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] {
            drawRings(row, column, radius: 4) { $0 != 2 && $0 != 4 }
        }
    }

    private mutating func drawAlignment(_ version: QRVersion) {
        let centres = version.alignmentCentres
        for row in centres {
            for column in centres where !isCorner(row, column) {
                drawRings(row, column, radius: 2) { $0 != 1 }
            }
        }
    }

    private func isCorner(_ row: Int, _ column: Int) -> Bool {
        let last = size - 7
        return (row, column) == (6, 6) || (row, column) == (6, last) || (row, column) == (last, 6)
    }

    private mutating func drawRings(_ row: Int, _ column: Int, radius: Int, _ isDark: (Int) -> Bool) {
        for down in -radius...radius {
            for right in -radius...radius {
                let (row, column) = (row + down, column + right)
                guard (0..<size).contains(row), (0..<size).contains(column) else { continue }
                set(row, column, isDark(max(abs(down), abs(right))))
            }
        }
    }

    private mutating func drawVersion(_ version: QRVersion) {
        guard let bits = version.versionInformation else { return }
        for index in 0..<18 {
            let (long, short) = (index / 3, size - 11 + index % 3)
            set(long, short, bits >> index & 1 == 1)
            set(short, long, bits >> index & 1 == 1)
        }
    }

    // MARK: Codewords

    /// Draws upwards and downwards in turn, in columns of two modules from the right, without the column of the timing
    /// pattern (§7.7.3).
    private mutating func drawCodewords(_ codewords: [UInt8]) {
        var index = 0
        var isUpward = true
        for right in stride(from: size - 1, to: 0, by: -2).map({ $0 <= 6 ? $0 - 1 : $0 }) {
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !isFunction[row * size + column] {
                    // A few modules may be left, and stay light.
                    guard index < codewords.count * 8 else { return }
                    isDark[row * size + column] = codewords[index / 8] >> (7 - index % 8) & 1 == 1
                    index += 1
                }
            }
            isUpward.toggle()
        }
    }
}
