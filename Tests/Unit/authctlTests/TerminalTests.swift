import Foundation
import Testing

@testable import authctl

/// What a person sees on a terminal.
@Suite struct TerminalTests {
    private static let prompt = "Refresh token of 'work': "

    private static let importing = """
        before=$(stty -g)
        authctl account import work --refresh-token-file - --no-wait; echo "exit $?"
        test "$before" = "$(stty -g)" && echo restored
        """

    private func show(
        _ command: String,
        typing keys: String = "",
        at prompt: String = prompt,
        exchanges: [StubDaemon.Exchange] = []
    ) throws -> (shown: String, problems: [String]) {
        let run = try CommandRun()
        defer { run.remove() }
        let daemon = try StubDaemon(path: run.socket, exchanges: exchanges)
        let shown = try TerminalRun().run(command, in: run, [.typing(keys, at: prompt)])
        return (shown, daemon.finish())
    }

    private static func taking(_ token: String) -> StubDaemon.Exchange {
        StubDaemon.Exchange(
            call: #"""
                {"method":"io.authrefresh.ImportGrant","parameters":{"account":"work","refreshToken":"\#(token)"}}
                """#,
            replies: [
                #"""
                {"parameters":{"status":
                {"account":"work","state":"refreshing","issuer":"i","generation":0,"failures":0}}}
                """#
            ]
        )
    }

    @Test func `typed text reaches the daemon and not the screen`() throws {
        let (shown, problems) = try show(Self.importing, typing: "rt-typed\n", exchanges: [Self.taking("rt-typed")])
        #expect(problems == [])
        #expect(shown.contains(Self.prompt))
        #expect(!shown.contains("rt-typed"))
        #expect(shown.contains("work: refreshing"))
        #expect(shown.contains("exit 0"))
        #expect(shown.contains("restored"))
    }

    /// A terminal's line discipline cuts lines after 4095 bytes.
    @Test(arguments: [4095, 4096, 20_000]) func `a long token is read completely`(length: Int) throws {
        let token = String(repeating: "0123456789", count: length / 10 + 1).prefix(length) + "end"
        let (shown, problems) = try show(
            Self.importing,
            typing: token + "\n",
            exchanges: [Self.taking(String(token))]
        )
        #expect(problems == [])
        #expect(shown.contains("exit 0"))
        #expect(shown.contains("restored"))
    }

    @Test func `a too long token is refused and not cut`() throws {
        let keys = String(repeating: "x", count: SecretFile.largestSize + 1)
        let (shown, problems) = try show(Self.importing, typing: keys)
        #expect(problems == [])
        #expect(shown.contains("authctl: error: the refresh token is longer than 64 KiB"))
        #expect(shown.contains("exit 65"))
        #expect(shown.contains("restored"))
    }

    /// Backspace erases one character, however many bytes it has; Ctrl-U and Ctrl-W erase everything; Ctrl-D ends input
    /// that is not empty.
    @Test(arguments: ["rt-typo\u{7F}ed\n", "rt-typü\u{8}ed\r", "wrong\u{15}rt-typed\n", "\u{7F}\u{17}rt-typed\u{4}"])
    func `a typing error can be corrected`(keys: String) throws {
        let (shown, problems) = try show(Self.importing, typing: keys, exchanges: [Self.taking("rt-typed")])
        #expect(problems == [])
        #expect(shown.contains("exit 0"))
        #expect(shown.contains("restored"))
    }

    /// The sign-in before it reads keys without echo, and holds signals back.
    @Test func `Ctrl-C ends the question after a sign-in, with the terminal as it was`() throws {
        let event = { (name: String, rest: String) in
            #"{"event":"\#(name)","attempt":"AAAA","flow":"paste","atUSec":1,"expiresAtUSec":600000001,\#(rest)}"#
        }
        let status =
            #"{"account":"work","state":"fresh","issuer":"i","generation":1,"failures":0,"#
            + #""refreshTokenMissing":"askConsent"}"#
        let place =
            #""url":"https://login.example.org/","host":"login.example.org","redirectUri":"http://127.0.0.1:1/""#
        let signIn = StubDaemon.Exchange(
            call:
                #"{"method":"io.authrefresh.StartSignIn","parameters":{"account":"work","flow":"paste"},"more":true}"#,
            replies: [
                #"{"continues":true,"parameters":\#(event("started", place))}"#,
                #"{"parameters":\#(event("completed", #""status":\#(status)"#))}"#,
            ]
        )
        let (shown, problems) = try show(
            """
            trap : INT
            before=$(stty -g)
            authctl login work --flow paste; echo "exit $?"
            test "$before" = "$(stty -g)" && echo restored
            """,
            typing: "\u{3}",
            at: "[y/N] ",
            exchanges: [signIn]
        )
        #expect(problems == [])
        // The keys are shown again.
        #expect(shown.contains("[y/N] ^C"), "\(shown)")
        #expect(shown.contains("authctl: error: cancelled"), "\(shown)")
        #expect(shown.contains("exit 130"))
        #expect(shown.contains("restored"))
    }

    @Test(arguments: ["\n", "y\n"])
    func `quotes and blanks that were typed with a secret are asked about`(answer: String) throws {
        let run = try CommandRun()
        defer { run.remove() }
        let daemon = try StubDaemon(path: run.socket, exchanges: [Self.taking("rt-typed")])
        let shown = try TerminalRun().run(
            Self.importing,
            in: run,
            [.typing("\"rt-typed\"\n", at: Self.prompt), .typing(answer, at: "the refresh token itself? [Y/n] ")]
        )
        #expect(daemon.finish() == [])
        #expect(shown.contains("authctl: warning: the refresh token has quotes around it"), "\(shown)")
        #expect(!shown.contains("rt-typed"))
        #expect(shown.contains("exit 0") && shown.contains("restored"))
    }

    @Test func `a typed secret is not used if the question about it is cancelled`() throws {
        let run = try CommandRun()
        defer { run.remove() }
        let daemon = try StubDaemon(path: run.socket, exchanges: [])
        let steps: [TerminalRun.Step] = [
            .typing("TOKEN=rt-typed \n", at: Self.prompt), .typing("\u{4}", at: "[Y/n] "),
        ]
        let shown = try TerminalRun().run(Self.importing, in: run, steps)
        #expect(daemon.finish() == [])
        #expect(shown.contains("the refresh token has blanks around it and a name before it"), "\(shown)")
        #expect(shown.contains("exit 130") && shown.contains("restored"))
    }

    @Test func `Ctrl-D at the prompt cancels`() throws {
        let (shown, problems) = try show(Self.importing, typing: "\u{4}")
        #expect(problems == [])
        #expect(shown.contains("exit 130"))
        #expect(shown.contains("restored"))
    }

    @Test func `a document cannot be typed on a terminal`() throws {
        let (shown, problems) = try show("authctl account import -; echo exit $?")
        #expect(problems == [])
        #expect(shown.contains("authctl: error: the document cannot be typed on a terminal"))
        #expect(shown.contains("authctl: hint: name a file"))
        #expect(shown.contains("exit 64"))
    }

    @Test func `Ctrl-C cancels and restores the terminal`() throws {
        let (shown, problems) = try show("trap : INT\n" + Self.importing, typing: "rt-ty\u{3}")
        #expect(problems == [])
        #expect(!shown.contains("rt-ty"))
        #expect(shown.contains("authctl: error: cancelled"))
        #expect(shown.contains("exit 130"))
        #expect(shown.contains("restored"))
    }

    @Test func `an export is not printed to a terminal`() throws {
        let (shown, problems) = try show("authctl account export work; echo exit $?")
        #expect(problems == [])
        #expect(shown.contains("authctl: error: the export contains secrets"))
        #expect(shown.contains("exit 64"))
    }

    @Test(arguments: ["", "NO_COLOR=1 ", "TERM=dumb "])
    func `states are colored on a terminal unless it or its user does not support that`(setting: String) throws {
        let exchange = StubDaemon.Exchange(
            call: #"{"method":"io.authrefresh.GetStatus","parameters":{"accounts":["work"]}}"#,
            replies: [
                #"""
                {"parameters":{"accounts":
                [{"account":"work","state":"fresh","issuer":"https://as.example","generation":1,"failures":0}]}}
                """#
            ]
        )
        let (shown, problems) = try show("\(setting)authctl status work", exchanges: [exchange])
        #expect(problems == [])
        #expect(shown.contains("\u{1B}[32mfresh\u{1B}[0m") == setting.isEmpty)
        #expect(shown.contains("\u{1B}") == setting.isEmpty)
    }

    @Test func `Ctrl-C ends watch by its signal`() throws {
        let exchange = StubDaemon.Exchange(
            call: #"{"method":"io.authrefresh.Subscribe","parameters":{},"more":true}"#,
            replies: [
                #"""
                {"continues":true,"parameters":{"event":"present","atUSec":0,"accounts":
                [{"account":"work","state":"signed-out","issuer":"i","generation":1,"failures":0}]}}
                """#
            ]
        )
        let command = "trap : INT; authctl watch; echo exit $?"
        let (shown, problems) = try show(command, typing: "\u{3}", at: "signed-out", exchanges: [exchange])
        #expect(problems == [])
        #expect(shown.contains("exit 130"))
        #expect(!shown.contains("error"))
    }
}
