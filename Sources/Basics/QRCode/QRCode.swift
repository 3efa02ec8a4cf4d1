/// A QR code symbol (ISO/IEC 18004) for bytes: a square of dark and light modules, without its quiet zone.
package struct QRCode: Sendable {
    /// The level of error correction that the symbol has.
    package let correction: Correction
    private let grid: ModuleGrid

    /// Creates the smallest symbol for the bytes; nil if there are more than `bytesMax` of them.
    ///
    /// A screen has no scratches or stains, so a small symbol matters more than a robust one. If the higher level of
    /// correction also fits into this size, it is used.
    package init?(_ bytes: [UInt8]) {
        guard let version = QRVersion.all.first(where: { $0.holds(bytes.count, .low) }) else { return nil }
        correction = version.holds(bytes.count, .medium) ? .medium : .low
        grid = ModuleGrid(version, version.codewords(of: bytes, correction)).masked(correction)
    }

    package init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// The most bytes in a symbol.
    package static let bytesMax = QRVersion.all.last?.byteCapacity(.low) ?? 0

    /// Modules on each side.
    package var size: Int { grid.size }

    /// Whether a module is dark. Modules outside are light, like the quiet zone.
    package func isDark(row: Int, column: Int) -> Bool {
        (0..<size).contains(row) && (0..<size).contains(column) && grid[row, column]
    }
}
