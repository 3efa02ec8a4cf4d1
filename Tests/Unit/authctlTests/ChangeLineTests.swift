import AuthRefreshInterface
import Foundation
import Basics
import Testing

@testable import authctl

@Suite struct ChangeLineTests {
    private func lines(width: Int?) throws -> [String] {
        let reply = #"""
            {"event":"token-refreshed","atUSec":43200000000,"account":"work","accounts":[{"account":"work","issuer":"i",
            "generation":1,"failures":0,"state":"fresh","expiresAtUSec":46740000000}]}
            """#
        let change = try JSONDecoder().decode(Subscribe.Reply.self, from: Data(reply.utf8))
        let text = change.text(TerminalStyle(width: width))
        return text.replacing(/[0-9]+:[0-9:]+/, with: "T").replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}/, with: "D")
            .split(separator: "\n").map(String.init)
    }

    @Test func `a change is one line where there is room`() throws {
        let whole = ["D T  work              token-refreshed       fresh until T (in 59 min)"]
        #expect(try lines(width: nil) == whole)
        #expect(try lines(width: 120) == whole)
    }

    @Test func `on a narrow terminal the state is wrapped at its blanks`() throws {
        let column = String(repeating: " ", count: 61)
        let begin = "D T  work              token-refreshed       "
        #expect(try lines(width: 80) == [begin + "fresh until T", column + "(in 59 min)"])
        let narrow = try lines(width: 40)
        #expect(narrow == ["D T work token-refreshed", "  fresh until T (in 59 min)"])
    }
}
