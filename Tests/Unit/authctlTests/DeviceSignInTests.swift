import Foundation
import Basics
import Testing

@testable import authctl

/// Signing in with a code on another device, on a small terminal.
@Suite struct DeviceSignInTests {
    private static let call = StubDaemon.Exchange(
        call: #"{"method":"io.authrefresh.StartSignIn","parameters":{"account":"work","flow":"device"},"more":true}"#,
        replies: [
            #"""
            {"continues":true,"parameters":{"event":"started","attempt":"AAAAAAAAAAAAAAAAAAAAAA","flow":"device","atUSec":1,
            "expiresAtUSec":600000001,"url":"https://login.example.org/device","host":"login.example.org","userCode":"WDJB-MJHT",
            "verificationUriComplete":"https://login.example.org/device?user_code=WDJB-MJHT"}}
            """#
        ]
    )
    private static let cancelling = StubDaemon.Exchange(
        call: #"{"method":"io.authrefresh.CancelSignIn","parameters":{"attempt":"AAAAAAAAAAAAAAAAAAAAAA"}}"#,
        replies: [#"{"parameters":{}}"#],
        toFollower: [#"{"error":"io.authrefresh.SignInCancelled","parameters":{"account":"work","by":"user"}}"#]
    )

    /// The text on the terminal during the wait.
    private func shown(columns: UInt16, rows: UInt16) throws -> String {
        let run = try CommandRun()
        defer { run.remove() }
        let daemon = try StubDaemon(path: run.socket, exchanges: [Self.call, Self.cancelling])
        let command = "trap : INT; authctl login work --flow device; echo exit $?"
        let shown = try TerminalRun(columns: columns, rows: rows).run(
            command,
            in: run,
            [.typing("\u{3}", at: "cancels.")]
        )
        #expect(daemon.finish() == [])
        #expect(shown.contains("exit 130"))
        let waiting = try #require(shown.firstRange(of: "cancels."))
        return String(shown[..<waiting.upperBound]).replacing(/\u{1B}\[[0-9;]*m/, with: "").replacing(
            "\r\n",
            with: "\n"
        )
    }

    private func hasCode(_ text: String) -> Bool { text.contains { "\u{2580}\u{2584}\u{2588}".contains($0) } }

    @Test(arguments: [(80, 24), (40, 24), (80, 50), (40, 60)] as [(UInt16, UInt16)])
    func `the address and the code stay visible`(columns: UInt16, rows: UInt16) throws {
        let text = try shown(columns: columns, rows: rows)
        let style = TerminalStyle(width: Int(columns))
        // A text that scrolls has more lines than the terminal, including the line of the cursor.
        #expect(style.lineCount(of: text + "\n") < Int(rows))
        #expect(text.contains("\n  https://login.example.org/device\n"))
        #expect(text.contains("\n  code: WDJB-MJHT\n"))
        #expect(hasCode(text) == (rows > 24))
    }
}
