import AuthRefreshInterface
import Basics
import Testing

@testable import authdemo

/// The picture on a terminal.
@Suite struct PictureTests {
    private static let now: Int64 = 1_800_000_000_000_000

    private static func picture(columns: Int, rows: Int, isColoured: Bool = false, state: String = "fresh") -> Picture {
        var scene = Scene()
        scene.facts = ["http://127.0.0.1:41239", "tokens live 20 s", "refresh tokens rotate, reuse is detected"]
        scene.chapter =
            "Nobody asks, and the token stays fresh: 3 silent refreshes. More words than fit in a narrow one."
        scene.advice = "Have a look from another terminal:"
        scene.command = "AUTHREFRESH_SOCKET=/tmp/authdemo-1m2l77m/socket authctl status"
        var status = AccountStatus(
            account: "demo",
            state: state,
            issuer: "http://127.0.0.1:41239",
            generation: 4,
            expiresAtUSec: now + 14_900_000,
            refreshedAtUSec: now - 5_000_000,
            nextAttemptAtUSec: state == "fresh" ? now + 4_200_000 : nil,
            failures: 0
        )
        if state == "interaction-required" {
            status.failure = FailureReport(
                summary: "refused",
                httpStatus: 400,
                oauthError: "invalid_grant",
                oauthErrorDescription: "revoked\u{1B}[2J"
            )
            status.hint = "authctl account import demo --refresh-token-file FILE"
        }
        _ = scene.apply(Subscribe.Reply(event: "present", atUSec: now, accounts: [status]))
        for number in 1...30 { scene.add(Report(.change, "event \(number)", atUSec: now)) }
        let style = TerminalStyle(isColoured: isColoured, canDraw: true, width: columns, height: rows)
        return Picture(scene: scene, style: style, nowUSec: now)
    }

    @Test(arguments: [20, 39, 60, 80, 110, 200], [6, 12, 24, 60])
    func `a picture is never wider or higher than its terminal`(columns: Int, rows: Int) {
        for state in ["fresh", "interaction-required"] {
            let lines = Self.picture(columns: columns, rows: rows, state: state).lines
            #expect(lines.count < rows)
            for line in lines where !line.hasPrefix("  AUTHREFRESH_SOCKET") {
                #expect(line.count <= columns, "\(line)")
            }
        }
    }

    @Test func `a picture shows countdowns, generation and the newest events`() {
        let text = Self.picture(columns: 110, rows: 30).lines.joined(separator: "\n")
        #expect(text.contains("demo     fresh                 in 14 s  in 4 s        4"))
        #expect(text.contains("█"))
        #expect(text.contains("event 30") && !text.contains("event 1\n"))
        #expect(text.contains("  AUTHREFRESH_SOCKET=/tmp/authdemo-1m2l77m/socket authctl status"))
    }

    @Test func `an account that needs a person shows the server's words and the command`() {
        let text = Self.picture(columns: 110, rows: 30, state: "interaction-required").lines.joined(separator: "\n")
        #expect(text.contains("demo needs you: invalid_grant: revoked\u{FFFD}[2J (HTTP 400)"))
        #expect(text.contains("run: authctl account import demo --refresh-token-file FILE"))
    }

    @Test func `without colour there is no escape sequence, with it the text is the same`() {
        let plain = Self.picture(columns: 110, rows: 30).lines
        let coloured = Self.picture(columns: 110, rows: 30, isColoured: true).lines
        #expect(!plain.joined().contains("\u{1B}"))
        #expect(coloured.joined().contains("\u{1B}[32m"))
        let stripped = coloured.map { line in line.replacing(/\u{1B}\[[0-9;]*m/, with: "") }
        #expect(stripped == plain)
    }

    @Test(arguments: [("20s", 20), ("5m", 300), ("1h", 3600), ("7", 7)])
    func `durations are read with their unit`(text: String, seconds: Int) {
        #expect(WholeSeconds(argument: text)?.count == seconds)
    }

    @Test(arguments: ["", "s", "-5s", "+5", "1.5s", "5 s", "99999999999999999999s", "9223372036854775807h", "10d"])
    func `anything else is not a duration`(text: String) {
        #expect(WholeSeconds(argument: text) == nil)
    }
}
