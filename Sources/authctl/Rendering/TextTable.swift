internal import Basics

/// Aligns text in columns.
struct TextTable {
    /// A cell: its text, and its color on a terminal.
    struct Cell {
        var text: String
        var colour: TerminalStyle.Colour?
    }

    /// The narrowest width to which a column is cut. It is enough to distinguish hosts and names. The longest state,
    /// with a name and a time, fits into 40 columns.
    private static let narrowest = 7
    private static let gap = 2

    let header: [String]
    var rows: [[Cell]] = []

    /// The columns that may be cut on a narrow terminal, in the order of cutting.
    var cuttable: [Int] = []

    /// The columns that may be left out if cutting is not enough, in the order of dropping.
    var droppable: [Int] = []

    /// The lines, each with a newline.
    func render(_ style: TerminalStyle) -> String {
        var widths = header.map(TerminalWidth.of)
        for row in rows {
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], TerminalWidth.of(cell.text)) }
        }
        let columns = fit(&widths, into: style.width)
        var text = line(header.map { Cell(text: $0, colour: .faint) }, columns, widths, style)
        for row in rows { text += line(row, columns, widths, style) }
        return text
    }

    /// Cuts columns as far as allowed; returns the columns that are shown.
    private func fit(_ widths: inout [Int], into width: Int?) -> [Int] {
        var columns = Array(widths.indices)
        guard let width else { return columns }
        let wanted = widths
        var rest = droppable[...]
        while true {
            widths = wanted
            for column in cuttable where columns.contains(column) {
                let excess = max(0, Self.total(widths, columns) - width)
                widths[column] = max(min(widths[column], Self.narrowest), widths[column] - excess)
            }
            guard Self.total(widths, columns) > width, let dropped = rest.popFirst() else { return columns }
            columns.removeAll { $0 == dropped }
        }
    }

    private static func total(_ widths: [Int], _ columns: [Int]) -> Int {
        columns.reduce(0) { $0 + widths[$1] } + gap * (columns.count - 1)
    }

    private func line(_ cells: [Cell], _ columns: [Int], _ widths: [Int], _ style: TerminalStyle) -> String {
        var line = ""
        for column in columns {
            let text = Self.cut(cells[column].text, to: widths[column], style.charset.ellipsis)
            line += style.paint(text, cells[column].colour)
            if column != columns.last {
                line += String(repeating: " ", count: widths[column] - TerminalWidth.of(text) + Self.gap)
            }
        }
        return line + "\n"
    }

    private static func cut(_ text: String, to width: Int, _ ellipsis: String) -> String {
        TerminalWidth.of(text) <= width
            ? text : TerminalWidth.prefix(of: text, columns: max(0, width - ellipsis.count)) + ellipsis
    }
}
