import AuthRefreshInterface
import Foundation
import Terminal
import Testing
import TextEncodings

@testable import authctl

/// `authctl status` on terminals that are too small for all of it.
@Suite struct StatusViewTests {
    private static let ended = #"""
        "state":"interaction-required","reason":"grantEnded","generation":1,"failures":0,
        "hint":"authctl account import work-with-a-long-name --refresh-token-file FILE"
        """#

    /// `count` fresh accounts, and one that needs its user, at the end.
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

    @Test(arguments: [12, 24, 31]) func `fresh accounts make room for notes and summary`(height: Int) throws {
        let text = try view(fresh: 40).render(TerminalStyle(width: 80), height: height)
        #expect(lines(text).count - 1 == height)
        #expect(text.contains("\nz0       interaction-required"))
        #expect(text.contains("\nz0 needs you: "))
        #expect(text.contains("41 accounts: 40 fresh, 1 interaction-required\nno network\n"))
        #expect(text.contains("more: name accounts, or make the terminal taller)"))
    }

    @Test func `what fits is shown whole`() throws {
        let view = try view(fresh: 3)
        let whole = view.render(TerminalStyle(width: 80))
        #expect(view.render(TerminalStyle(width: 80), height: lines(whole).count - 1) == whole)
    }

    @Test(arguments: [8, 12, 24]) func `notes without number leave the summary`(height: Int) throws {
        let text = try view(fresh: 3, needy: 40).render(TerminalStyle(width: 80), height: height)
        #expect(lines(text).count - 1 <= height)
        #expect(text.contains("\nz0 needs you: "))
        #expect(text.hasSuffix("43 accounts: 3 fresh, 40 interaction-required\nno network\n"))
    }

    @Test(arguments: [40, 50, 60, 80]) func `no line runs over the edge`(width: Int) throws {
        let text = try view(fresh: 3).render(TerminalStyle(width: width))
        #expect(lines(text).filter { $0.count > width } == [])
        #expect(lines(text)[0].contains("EXPIRES"))
        #expect(lines(text)[0].contains("ISSUER") == (width > 40))
    }

    @Test func `a command that takes two lines is still one to a shell`() {
        let lines = WrappedText.lines("authctl account import work FILE", width: 20, indent: 2, ending: " \\")
        #expect(lines == ["authctl account \\", "  import work FILE"])
        #expect(WrappedText.lines("one word", width: 2) == ["one", "word"])
        #expect(WrappedText.lines("one word", width: nil) == ["one word"])
    }
}
