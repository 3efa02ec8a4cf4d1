import Foundation
import Testing

@testable import authctl

/// `authctl login` on a terminal.
@Suite struct LoginTests {
    private static let attempt = "AAAAAAAAAAAAAAAAAAAAAA"

    private static func start(_ flow: String) -> String {
        #"{"method":"io.authrefresh.StartSignIn","parameters":{"account":"work","flow":"\#(flow)"},"more":true}"#
    }

    private static func started(_ flow: String) -> String {
        let code =
            flow == "device"
            ? #""url":"https://as.example/device","userCode":"WDJB-MJHT""# : #""url":"https://as.example/authorize""#
        return #"""
            {"continues":true,"parameters":{"event":"started","attempt":"\#(attempt)","flow":"\#(flow)","atUSec":1,\#
            "expiresAtUSec":2,"host":"as.example",\#(code)}}
            """#
    }

    private static let completed = #"""
        {"parameters":{"event":"completed","attempt":"\#(attempt)","flow":"browser","atUSec":1,"expiresAtUSec":2,\#
        "status":{"account":"work","state":"fresh","issuer":"i","generation":1,"failures":0}}}
        """#

    private static let cancelling = StubDaemon.Exchange(
        call: #"{"method":"io.authrefresh.CancelSignIn","parameters":{"attempt":"\#(attempt)"}}"#,
        replies: [#"{"parameters":{"account":"work"}}"#],
        toFollower: [#"{"error":"io.authrefresh.SignInCancelled","parameters":{"account":"work","by":"user"}}"#]
    )

    private static let command = """
        before=$(stty -g); trap : INT TERM
        authctl login work; echo "exit $?"
        test "$before" = "$(stty -g)" && echo restored
        """

    private func show(
        _ exchanges: [StubDaemon.Exchange],
        _ steps: [TerminalRun.Step],
        command: String = command,
        rows: UInt16 = 24
    ) throws -> (shown: String, problems: [String]) {
        let run = try CommandRun()
        defer { run.remove() }
        let daemon = try StubDaemon(path: run.socket, exchanges: exchanges)
        let shown = try TerminalRun(rows: rows).run(command, in: run, steps)
        return (shown, daemon.finish())
    }

    @Test(arguments: ["\u{3}", "\u{4}"])
    func `Ctrl-C, and Ctrl-D at the paste prompt, cancel at the daemon`(key: String) throws {
        let start = StubDaemon.Exchange(call: Self.start("browser"), replies: [Self.started("browser")])
        let (shown, problems) = try show(
            [start, Self.cancelling],
            [.typing(key, at: "not shown): ")],
            command: Self.command.replacing("login work", with: "login work --flow browser")
        )
        #expect(problems == [])
        #expect(shown.contains("authctl: error: the sign-in of 'work' was cancelled by the user"))
        #expect(shown.contains("exit 130"))
        #expect(shown.contains("restored"))
    }

    @Test func `a daemon that does not answer a cancellation does not delay the prompt`() throws {
        let start = StubDaemon.Exchange(call: Self.start("device"), replies: [Self.started("device")])
        let (shown, _) = try show([start], [.typing("\u{3}", at: "MJHT")])
        #expect(shown.contains("authctl: error: cancelled"))
        #expect(shown.contains("exit 130"))
    }

    /// The attempt belongs to the daemon: it continues, and nothing is printed here.
    @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129)])
    func `SIGTERM and a closed terminal do not end the sign-in, and restore the terminal`(
        signal: Int32,
        status: Int
    ) throws {
        let run = try CommandRun()
        defer { run.remove() }
        let start = StubDaemon.Exchange(call: Self.start("browser"), replies: [Self.started("browser")])
        let daemon = try StubDaemon(path: run.socket, exchanges: [start])
        let ending = TerminalRun.Step(prompt: "not shown): ") { _ in
            let pid = try String(contentsOf: run.folder.appendingPathComponent("pid"), encoding: .utf8)
            kill(try #require(Int32(pid.filter(\.isNumber))), signal)
        }
        let command = """
            before=$(stty -g)
            sh -c 'echo $$ > pid; exec authctl login work --flow browser'; echo "exit $?"
            test "$before" = "$(stty -g)" && echo restored
            """
        let shown = try TerminalRun().run(command, in: run, [ending])
        #expect(daemon.finish() == [])
        #expect(shown.contains("exit \(status)"))
        #expect(shown.contains("restored"))
        #expect(!shown.contains("error"))
    }

    @Test func `a browser's error is reported, and the sign-in continues`() throws {
        let start = StubDaemon.Exchange(
            call: #"{"method":"io.authrefresh.StartSignIn","parameters":{"account":"work"},"more":true}"#,
            replies: [Self.started("browser")]
        )
        let opened = StubDaemon.Exchange(
            call:
                #"{"method":"io.authrefresh.ContinueSignIn","parameters":{"attempt":"\#(Self.attempt)","opened":true}}"#,
            replies: [#"{"parameters":{"account":"work"}}"#]
        )
        let (shown, problems) = try show(
            [start, opened, Self.cancelling],
            [.typing("\u{3}", at: "the browser was not opened")],
            command:
                "printf '#!/bin/sh\\nexit 4\\n' > b; chmod +x b; trap : INT; BROWSER=./b \(Self.command.split(separator: "\n")[1])"
        )
        #expect(problems == [])
        #expect(shown.contains("authctl: warning: the browser was not opened: open the address yourself"))
        #expect(shown.contains("exit 130"))
    }

    @Test func `half of a pasted address does not become a shell command`() throws {
        let start = StubDaemon.Exchange(call: Self.start("browser"), replies: [Self.started("browser")])
        let opened = StubDaemon.Exchange(
            call:
                #"{"method":"io.authrefresh.ContinueSignIn","parameters":{"attempt":"\#(Self.attempt)","redirect":"x"}}"#,
            replies: [#"{"parameters":{"account":"work"}}"#],
            toFollower: [Self.completed]
        )
        let (shown, problems) = try show(
            [start, opened],
            [.typing("x\nhttp://127.0.0.1/?code=secret", at: "not shown): ")],
            command: "authctl login work --flow browser; read -t 1 rest || true; echo \"rest<$rest>\""
        )
        #expect(problems == [])
        #expect(shown.contains("rest<>"))
        #expect(!shown.contains("secret"))
    }

    /// A terminal's line discipline cuts lines after 4095 bytes.
    @Test func `a long address is read completely`() throws {
        let address = "http://127.0.0.1:4711/?state=s&code=" + String(repeating: "0123456789", count: 800)
        let start = StubDaemon.Exchange(call: Self.start("browser"), replies: [Self.started("browser")])
        let continuing = StubDaemon.Exchange(
            call: #"""
                {"method":"io.authrefresh.ContinueSignIn","parameters":{"attempt":"\#(Self.attempt)",\#
                "redirect":"\#(address)"}}
                """#,
            replies: [#"{"parameters":{"account":"work"}}"#],
            toFollower: [Self.completed]
        )
        let (shown, problems) = try show(
            [start, continuing],
            [.typing(address + "\n", at: "not shown): ")],
            command: Self.command.replacing("login work", with: "login work --flow browser")
        )
        #expect(problems == [])
        #expect(!shown.contains("0123456789"))
        #expect(shown.contains("work: fresh"))
        #expect(shown.contains("exit 0"))
    }

    @Test func `a terminal with room shows the code as a picture too`() throws {
        let start = StubDaemon.Exchange(call: Self.start("device"), replies: [Self.started("device"), Self.completed])
        let (shown, problems) = try show([start], [], rows: 50)
        #expect(problems == [])
        #expect(shown.contains("\u{1B}[38;5;16;48;5;231m"))
        #expect(shown.contains("code: WDJB-MJHT"))
        let (small, _) = try show([start], [], rows: 10)
        #expect(!small.contains("\u{1B}[38;5;16"))
    }

    @Test(arguments: [
        "me`id`@x.example", "a@x.example\"; set sendmail=id", "a b@x.example", "$HOME@x.example", "a\n@x.example",
        "jane",
        "",
    ])
    func `an address that is more than plain is not in the lines for mail programs`(address: String) {
        let without = SignIn.programs(for: "work", mailbox: nil)
        #expect(SignIn.programs(for: "work", mailbox: address) == without)
        #expect(SignIn.programs(for: "work", mailbox: "jane.doe+mail@x.example") != without)
    }

    @Test func `curl is not started without a token, and the token is in no argument list`() throws {
        let lines = SignIn.programs(for: "work", mailbox: nil, by: [])
        let command = try #require(lines.firstMatch(of: /curl {5}(.*URL')/.dotMatchesNewlines()).map { String($0.1) })
        let run = try CommandRun()
        defer { run.remove() }
        _ = try run.run("mkdir bin; printf '#!/bin/sh\necho \"$@\"; cat' > bin/curl; chmod +x bin/curl")
        let missing = try run.run("PATH=$PWD/bin:$PATH\n\(command)")
        #expect(missing.status == 69 && missing.output.isEmpty, "\(missing)")
        let daemon = try StubDaemon(
            path: run.socket,
            exchanges: [
                StubDaemon.Exchange(
                    call: #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work"}}"#,
                    replies: [
                        #"{"parameters":{"accessToken":"t-1","tokenType":"Bearer","expiresAtUSec":1799999999000000}}"#
                    ]
                )
            ]
        )
        let given = try run.run("PATH=$PWD/bin:$PATH\n\(command)")
        #expect(daemon.finish() == [])
        #expect(given.output == "-H @- URL\nAuthorization: Bearer t-1\n" && given.status == 0, "\(given)")
    }

    @Test func `the lines for mail programs are those that the mail server takes`() {
        let lines = { SignIn.programs(for: "work", mailbox: "me@x.example", by: $0) }
        #expect(lines(nil) == lines(["oauthbearer", "xoauth2"]))
        let microsoft = lines(["xoauth2"])
        #expect(microsoft.contains("msmtp    auth xoauth2") && microsoft.contains("imap_authenticators = \"xoauth2\""))
        #expect(!microsoft.lowercased().contains("oauthbearer"))
        #expect(lines(["oauthbearer"]).contains("AuthMechs OAUTHBEARER"))
        let files = lines([])
        #expect(!files.contains("msmtp") && !files.contains("mbsync") && !files.contains("neomutt"))
        #expect(files.contains("  git      git config"))
    }
}
