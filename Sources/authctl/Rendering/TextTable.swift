/// Lines up columns of text.
struct TextTable {
    /// A cell: its text, and its colour on a terminal.
    struct Cell {
        var text: String
        var colour: TerminalStyle.Colour?
    }

    /// No column is cut below this: enough to tell hosts and names apart.
    private static let narrowest = 8
    private static let gap = 2

    let header: [String]
    var rows: [[Cell]] = []

    /// The columns that may be cut if the terminal is narrow, the first to be cut first.
    var cuttable: [Int] = []

    /// The lines, each with its newline.
    func render(_ style: TerminalStyle) -> String {
        var widths = header.map(\.count)
        for row in rows {
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.text.count) }
        }
        fit(&widths, into: style.width)
        var text = line(header.map { Cell(text: $0, colour: .faint) }, widths, style)
        for row in rows { text += line(row, widths, style) }
        return text
    }

    private func fit(_ widths: inout [Int], into width: Int?) {
        guard let width else { return }
        for column in cuttable {
            let total = widths.reduce(0, +) + Self.gap * (widths.count - 1)
            guard total > width else { return }
            let least = min(widths[column], Self.narrowest)
            widths[column] = max(least, widths[column] - (total - width))
        }
    }

    private func line(_ cells: [Cell], _ widths: [Int], _ style: TerminalStyle) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let text = Self.cut(cell.text, to: widths[column], style.charset.ellipsis)
            line += style.paint(text, cell.colour)
            if column < cells.count - 1 {
                line += String(repeating: " ", count: widths[column] - text.count + Self.gap)
            }
        }
        return line + "\n"
    }

    private static func cut(_ text: String, to width: Int, _ ellipsis: String) -> String {
        text.count <= width ? text : text.prefix(max(0, width - ellipsis.count)) + ellipsis
    }
}
