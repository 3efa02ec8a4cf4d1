import AuthRefreshInterface
import Foundation
import Basics
import Testing
import TextEncodings

@testable import authctl

/// `authctl status` on terminals that are too small for all accounts.
@Suite struct StatusViewTests {
    private static let ended = #"""
        "state":"interaction-required","reason":"grantEnded","generation":1,"failures":0,
        "hint":"authctl account import work-with-a-long-name --refresh-token-file FILE"
        """#

    /// `count` fresh accounts, followed by accounts that need their user.
    private func view(fresh count: Int, needy: Int = 1) throws -> StatusView {
        let fresh = (0..<count).map {
            #"{"account":"a\#($0)","state":"fresh","issuer":"https://a-long-host.example.org","generation":1,"failures":0}"#
        }
        let ended = (0..<needy).map { #"{"account":"z\#($0)","issuer":"https://as.example",\#(Self.ended)}"# }
        let text = "[\((fresh + ended).joined(separator: ","))]"
        let accounts = try JSONDecoder().decode([AccountStatus].self, from: Data(text.utf8))
        return StatusView(accounts: accounts, time: LocalTime(nowUSec: 1), condition: "no network\n")
    }

    private func lines(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    private func page(_ view: StatusView, height: Int, width: Int = 80, offset: Int = 0) -> StatusScreen.Page {
        view.screen(TerminalStyle(width: width)).page(height: height, offset: offset)
    }

    /// The text above the footer on a screen of 24 lines.
    @Test func `of nineteen accounts, the five signed-out ones come first, and all are visible`() throws {
        let fresh = (0..<14).map {
            #"{"account":"a\#($0)","state":"fresh","issuer":"https://as.example","generation":1,"failures":0}"#
        }
        let out = (0..<5).map {
            #"{"account":"z\#($0)","state":"signed-out","hint":"authctl login z\#($0)","issuer":"https://as.example","generation":1,"failures":0}"#
        }
        let accounts = try JSONDecoder().decode(
            [AccountStatus].self,
            from: Data("[\((fresh + out).joined(separator: ","))]".utf8)
        )
        let page = page(StatusView(accounts: accounts, time: LocalTime(nowUSec: 1)), height: 23)
        #expect(page.lines.count <= 23)
        #expect(page.lines[0].hasPrefix("ACCOUNT"))
        #expect(page.lines[1...5].map { String($0.prefix(14)) } == (0..<5).map { "z\($0)       signe" })
        #expect(page.lines.filter { $0.hasPrefix("a") }.count == 14)
        #expect(page.lines.last == "19 accounts: 14 fresh, 5 signed-out")
        #expect(page.hidden == "arrow keys scroll (0 above, 14 below)")
        #expect(page.hiddenBriefly == "0 above, 14 below")
    }

    @Test(arguments: [6, 12, 24, 31]) func `the most urgent accounts come first, and the summary stays`(height: Int)
        throws
    {
        let page = page(try view(fresh: 40), height: height)
        #expect(page.lines.count == height)
        #expect(page.lines[1].hasPrefix("z0       interaction-required"))
        #expect(Array(page.lines.suffix(2)) == ["41 accounts: 40 fresh, 1 interaction-required", "no network"])
        let hidden = 41 - (height - 4)
        #expect(page.hidden?.hasPrefix("\(hidden) accounts out of sight; arrow keys scroll (0 above, ") == true)
    }

    @Test func `scrolling stops at the last line`() throws {
        let view = try view(fresh: 40)
        let end = page(view, height: 24, offset: 1 << 30)
        #expect(end.lines.contains { $0.hasPrefix("z0 needs you: ") })
        #expect(end.hidden?.hasSuffix("above, 0 below)") == true)
        #expect(page(view, height: 24, offset: end.offset) == end)
        #expect(page(view, height: 24, offset: 3).lines[1].hasPrefix("a2 "))
        #expect(page(view, height: 24, offset: 3).hidden?.contains("(3 above, ") == true)
    }

    @Test func `content that fits is shown completely`() throws {
        let view = try view(fresh: 3)
        let page = page(view, height: 40)
        #expect(page.hidden == nil)
        #expect(page.lines.contains { $0.hasPrefix("z0 needs you: ") })
    }

    @Test(arguments: [1, 2, 3, 4]) func `a terminal with few lines shows an account`(height: Int) throws {
        let page = page(try view(fresh: 3, needy: 40), height: height)
        #expect(page.lines.count <= height)
        #expect(page.lines.contains { $0.hasPrefix("z0 ") })
    }

    @Test(arguments: [20, 40, 80]) func `nothing on the screen exceeds the width`(width: Int) throws {
        let screen = try view(fresh: 0, needy: 1).screen(TerminalStyle(width: width))
        #expect(screen.body.dropFirst(screen.rowCount).filter { TerminalWidth.of($0) > width } == [])
    }

    @Test func `keys are recognized even if they arrive in pieces`() {
        var keys = ScrollPosition()
        #expect(keys.steps(in: Array("\u{1B}[A\u{1B}OBjk".utf8)) == [.lines(-1), .lines(1), .lines(1), .lines(-1)])
        #expect(keys.steps(in: Array("\u{1B}".utf8)) == [])
        #expect(keys.steps(in: Array("[6".utf8)) == [])
        #expect(keys.steps(in: Array("~\u{1B}[5~x G".utf8)) == [.pages(1), .pages(-1), .pages(1), .end])
        #expect(keys.steps(in: Array("\u{1B}[1;5C\u{1B}[H".utf8)) == [.beginning])
    }

    @Test(arguments: [40, 50, 60, 80]) func `no line exceeds the width`(width: Int) throws {
        let text = try view(fresh: 3).render(TerminalStyle(width: width))
        #expect(lines(text).filter { TerminalWidth.of(String($0)) > width } == [])
        #expect(lines(text)[0].contains("EXPIRES"))
        #expect(lines(text)[0].contains("ISSUER") == (width > 40))
    }

    @Test func `a command on two lines is still one command for a shell`() {
        let lines = WrappedText.lines("authctl account import work FILE", width: 20, indent: 2, ending: " \\")
        #expect(lines == ["authctl account \\", "  import work FILE"])
        #expect(WrappedText.lines("one word", width: 2) == ["one", "word"])
        #expect(WrappedText.lines("one word", width: nil) == ["one word"])
    }

    @Test func `scripts without blanks are broken at the end of a line, and addresses are not`() {
        #expect(WrappedText.lines("漢字かな交じり文", width: 7) == ["漢字か", "な交じ", "り文"])
        #expect(WrappedText.lines("see https://as.example/a", width: 8) == ["see", "https://as.example/a"])
        #expect(
            WrappedText.lines("see https://as.example", width: 8, breaking: true) == [
                "see", "https://", "as.examp", "le",
            ]
        )
    }
}

/// The width of characters must agree with the C library.
@Suite struct TerminalWidthTests {
    @Test(arguments: [
        "plain", "Zoë", "Zoe\u{308}", "漢字", "한국어", "ｆｕｌｌ", "ﾊﾝｶｸ", "🙂", "日本 e\u{301}", "Ж", "עברית", "ไทย", "→", "…",
        "✅", "☎",
        "𠀀", "👩\u{200D}💻",
    ])
    func `the width of text is the one of wcwidth`(text: String) throws {
        let locale = unsafe newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
        let before = unsafe uselocale(locale)
        defer {
            unsafe uselocale(before)
            unsafe freelocale(locale)
        }
        // Swift does not import the function.
        let symbol = unsafe dlsym(nil, "wcwidth")
        guard unsafe locale != nil, let symbol = unsafe symbol else {
            Issue.record("the C library has no wcwidth, or not its locale C.UTF-8")
            return
        }
        let wcwidth = unsafe unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
        let columns = text.unicodeScalars.reduce(0) { $0 + Int(wcwidth(Int32($1.value))) }
        #expect(TerminalWidth.of(text) == columns)
    }

    @Test func `a table with wide characters keeps its columns`() {
        var table = TextTable(header: ["A", "B"], cuttable: [0])
        table.rows = [
            [TextTable.Cell(text: "漢字漢字漢字"), TextTable.Cell(text: "x")],
            [TextTable.Cell(text: "ab"), TextTable.Cell(text: "y")],
        ]
        #expect(table.render(TerminalStyle()) == "A             B\n漢字漢字漢字  x\nab            y\n")
        #expect(table.render(TerminalStyle(width: 11)) == "A         B\n漢字漢…   x\nab        y\n")
    }
}
