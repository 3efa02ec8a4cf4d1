internal import Basics

/// A QR code as lines for a terminal. Each character shows two modules, one above the other.
extension QRCode {
    /// ISO/IEC 18004 §9.1: the width of the light border around the symbol, in modules.
    private static let quietZone = 4

    /// Black and white from the palette of 256 colors, which no theme changes, so that the background does not matter.
    static let blackOnWhite = "\u{1B}[38;5;16;48;5;231m"
    private static let plain = "\u{1B}[0m"

    /// The columns and lines that it needs.
    var terminalSize: (columns: Int, lines: Int) {
        let side = size + 2 * Self.quietZone
        return (side, (side + 1) / 2)
    }

    /// The lines, each with a newline; nil if the code could not be read, because there is no room for all lines or no
    /// block characters.
    ///
    /// - Parameter lines: the lines of the terminal; nil if they are unknown.
    func text(_ style: TerminalStyle, lines: Int?) -> String? {
        guard case .utf8 = style.charset, let width = style.width, terminalSize.columns <= width else { return nil }
        // One line is left for what is typed below it.
        if let lines, terminalSize.lines >= lines { return nil }
        let range = -Self.quietZone..<size + Self.quietZone
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).reduce(into: "") { text, row in
            let line = String(
                range.map { column in Self.block(isInk(row, column, style), isInk(row + 1, column, style)) }
            )
            text += (style.isColoured ? Self.blackOnWhite + line + Self.plain : line) + "\n"
        }
    }

    /// Whether a module is drawn in the foreground color.
    ///
    /// If we cannot set colors, the light modules are drawn. Most terminals are dark, and readers also accept an
    /// inverted symbol.
    private func isInk(_ row: Int, _ column: Int, _ style: TerminalStyle) -> Bool {
        isDark(row: row, column: column) == style.isColoured
    }

    private static func block(_ upper: Bool, _ lower: Bool) -> Character {
        switch (upper, lower) {
        case (true, true): "\u{2588}"
        case (true, false): "\u{2580}"
        case (false, true): "\u{2584}"
        case (false, false): " "
        }
    }
}
