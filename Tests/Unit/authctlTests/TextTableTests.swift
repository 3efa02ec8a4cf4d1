import Basics
import Testing

@testable import authctl

@Suite struct TextTableTests {
    private var table: TextTable {
        var table = TextTable(header: ["A", "B"], cuttable: [1])
        table.rows = [[TextTable.Cell(text: "name"), TextTable.Cell(text: "0123456789abcdef", colour: .red)]]
        return table
    }

    @Test func `without a terminal nothing is cut or colored`() {
        #expect(table.render(TerminalStyle()) == "A     B\nname  0123456789abcdef\n")
    }

    @Test func `a narrow terminal cuts the column that may be cut`() {
        #expect(table.render(TerminalStyle(width: 16)) == "A     B\nname  012345678…\n")
    }

    @Test func `a column keeps seven characters in the narrowest terminal`() {
        #expect(table.render(TerminalStyle(width: 1)) == "A     B\nname  012345…\n")
    }

    @Test func `color does not move columns`() {
        let coloured = table.render(TerminalStyle(isColoured: true))
        #expect(coloured.replacing(/\u{1B}\[[0-9;]*m/, with: "") == table.render(TerminalStyle()))
        #expect(coloured.contains("\u{1B}[1;31m0123456789abcdef\u{1B}[0m"))
    }
}
