import Basics
import Testing

@testable import authctl

@Suite struct TerminalQRCodeTests {
    private static let text = "https://login.example.org/device?user_code=WDJB-MJHT"

    /// The modules in lines of block characters. Each line shows two rows.
    private func ink(_ lines: [Substring]) -> [[Bool]] {
        lines.flatMap { line in
            [line.map { "\u{2588}\u{2580}".contains($0) }, line.map { "\u{2588}\u{2584}".contains($0) }]
        }
    }

    private func expected(_ code: QRCode) -> [[Bool]] {
        let range = -4..<code.size + 4
        return range.map { row in range.map { code.isDark(row: row, column: $0) } }
    }

    @Test func `half blocks show every module, black on white in any theme`() throws {
        let style = TerminalStyle(isColoured: true, width: 80)
        let shown = try #require(QRCode(Self.text)?.text(style, lines: 24))
        let lines = shown.split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("\u{1B}[38;5;16;48;5;231m") && $0.hasSuffix("\u{1B}[0m") })
        let bare = lines.map { $0.replacing("\u{1B}[38;5;16;48;5;231m", with: "").dropLast(4) }
        let code = try #require(QRCode(Self.text))
        #expect(Array(ink(bare).prefix(code.size + 8)) == expected(code))
    }

    @Test func `without colours the light modules are drawn`() throws {
        let shown = try #require(QRCode(Self.text)?.text(TerminalStyle(width: 80), lines: nil))
        #expect(!shown.contains("\u{1B}"))
        let code = try #require(QRCode(Self.text))
        let light = ink(shown.split(separator: "\n")).map { $0.map { !$0 } }
        #expect(Array(light.prefix(code.size + 8)) == expected(code))
    }

    @Test func `an unreadable code is not drawn`() throws {
        let code = try #require(QRCode(Self.text))
        let (columns, lines) = code.terminalSize
        #expect(code.text(TerminalStyle(width: columns), lines: lines + 1) != nil)
        #expect(code.text(TerminalStyle(width: columns - 1), lines: lines + 1) == nil)
        #expect(code.text(TerminalStyle(width: columns), lines: lines) == nil)
        #expect(code.text(TerminalStyle(width: 80, charset: .ascii), lines: 24) == nil)
        // Without a terminal.
        #expect(code.text(TerminalStyle(), lines: nil) == nil)
        #expect(QRCode(String(repeating: "x", count: QRCode.bytesMax + 1)) == nil)
    }
}
