internal import QRCode
internal import Terminal

/// A QR code as lines of a terminal: two modules above each other are one character.
struct TerminalQRCode {
    /// ISO/IEC 18004 §9.1: modules that stay light around the symbol.
    private static let quietZone = 4

    /// Of the palette of 256 colours: black and white that no theme changes, so that the background does not matter.
    private static let blackOnWhite = "\u{1B}[38;5;16;48;5;231m"
    private static let plain = "\u{1B}[0m"

    private let code: QRCode

    /// Nil if the text is too long for a symbol that a terminal shows.
    init?(_ text: String) {
        guard let code = QRCode(text) else { return nil }
        self.code = code
    }

    /// How many columns and lines it takes.
    var size: (columns: Int, lines: Int) {
        let side = code.size + 2 * Self.quietZone
        return (side, (side + 1) / 2)
    }

    /// The lines, each with its newline; nil where they could not be read off: without room for all of them, or without block
    /// characters.
    ///
    /// - Parameter lines: of the terminal; nil: it does not tell.
    func text(_ style: TerminalStyle, lines: Int?) -> String? {
        guard case .utf8 = style.charset, let width = style.width, size.columns <= width else { return nil }
        // The line that is left is for what is typed below it.
        if let lines, size.lines >= lines { return nil }
        let range = -Self.quietZone..<code.size + Self.quietZone
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).reduce(into: "") { text, row in
            let line = String(
                range.map { column in Self.block(isInk(row, column, style), isInk(row + 1, column, style)) }
            )
            text += (style.isColoured ? Self.blackOnWhite + line + Self.plain : line) + "\n"
        }
    }

    /// Whether a module is drawn in the foreground's colour.
    ///
    /// Where the colours are not ours to set, the light modules are drawn: most terminals are dark, and readers take a symbol that
    /// is inverted after all.
    private func isInk(_ row: Int, _ column: Int, _ style: TerminalStyle) -> Bool {
        code.isDark(row: row, column: column) == style.isColoured
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
