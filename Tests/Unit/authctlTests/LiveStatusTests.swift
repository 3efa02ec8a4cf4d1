import AuthRefreshInterface
import Foundation
import Synchronization
import Testing

@testable import authctl

/// `authctl status --watch` on a terminal.
@Suite struct LiveStatusTests {
    private static let subscribe = #"{"method":"io.authrefresh.Subscribe","parameters":{},"more":true}"#
    private static let info = StubDaemon.Exchange(
        call: #"{"method":"io.authrefresh.GetInfo","parameters":{}}"#,
        replies: [
            #"""
            {"parameters":{"version":"1","startedAtUSec":1,"accounts":1,"interactionRequired":0,"online":true}}
            """#
        ]
    )

    private static func present(_ fields: String) -> [String] {
        [
            #"{"continues":true,"parameters":{"event":"present","atUSec":0,"accounts":[\#(status(fields))]}}"#,
            #"{"continues":true,"parameters":{"event":"ready","atUSec":0,"accounts":[]}}"#,
        ]
    }

    private static func status(_ fields: String) -> String {
        #"{"account":"work","issuer":"https://issuer.example.org","generation":1,"failures":0,\#(fields)}"#
    }

    private static let command = """
        before=$(stty -g); trap : INT TERM QUIT
        authctl status --watch; echo "exit $?"
        test "$before" = "$(stty -g)" && echo restored
        """

    private func show(
        _ exchanges: [StubDaemon.Exchange],
        _ steps: [TerminalRun.Step],
        columns: UInt16 = 80
    ) throws -> (shown: String, problems: [String]) {
        let run = try CommandRun()
        defer { run.remove() }
        let daemon = try StubDaemon(path: run.socket, exchanges: exchanges)
        let shown = try TerminalRun(columns: columns).run(Self.command, in: run, steps)
        return (shown, daemon.finish())
    }

    private func isGivenBack(_ shown: String) -> Bool {
        guard let end = shown.firstRange(of: "\u{1B}[?1049l") else { return false }
        return shown.contains("\u{1B}[?1049h")
            && shown[end.upperBound...].contains("restored") && !shown[..<end.lowerBound].contains("exit")
    }

    @Test(arguments: [("q", "exit 0"), ("Q", "exit 0"), ("\u{3}", "exit 130"), ("\u{1C}", "exit 131")])
    func `a key ends it and the screen comes back`(key: String, ending: String) throws {
        let exchange = StubDaemon.Exchange(call: Self.subscribe, replies: Self.present(#""state":"signed-out""#))
        let (shown, problems) = try show([exchange, Self.info], [.typing(key, at: "q quits")])
        #expect(problems == [])
        #expect(shown.contains("work is signed out"))
        #expect(shown.contains(ending))
        #expect(isGivenBack(shown))
    }

    /// The recorded daemon would report a third call as a mistake: ages must be updated without a call.
    @Test func `relative times are updated without asking the daemon`() throws {
        let exchange = StubDaemon.Exchange(
            call: Self.subscribe,
            replies: Self.present(#""state":"fresh","expiresAtUSec":@now+30,"nextAttemptAtUSec":@now+20"#)
        )
        let steps = [
            TerminalRun.Step.typing("", at: "q quits"), .typing("", at: "q quits"), .typing("q", at: "q quits"),
        ]
        let (shown, problems) = try show([exchange, Self.info], steps)
        #expect(problems == [])
        #expect(Set(shown.matches(of: /fresh\S+  in [0-9]+ s/).map(\.0)).count == 3)
        #expect(shown.contains("exit 0"))
    }

    @Test func `a change is drawn in place when it comes`() throws {
        let change = #"""
            {"continues":true,"parameters":{"event":"signed-out","account":"work","atUSec":0,"accounts":
            [\#(Self.status(#""state":"signed-out""#))]}}
            """#
        let exchange = StubDaemon.Exchange(
            call: Self.subscribe,
            replies: Self.present(#""state":"fresh""#) + [change]
        )
        let steps = [TerminalRun.Step.typing("", at: "1 fresh"), .typing("q", at: "1 signed-out")]
        let (shown, problems) = try show([exchange, Self.info, Self.info], steps)
        #expect(problems == [])
        #expect(shown.contains("exit 0"))
        // From the corner of the screen, not below the previous text.
        #expect(shown.contains("\u{1B}[?7h\u{1B}[?7l\u{1B}[H"))
        // Nothing is left of a longer table.
        #expect(shown.contains("\r\n\u{1B}[J"))
    }

    /// Nineteen accounts on a terminal with 24 lines. The last five are signed out.
    private static var many: StubDaemon.Exchange {
        let accounts = (0..<19).map { index in
            let state = index < 14 ? "fresh" : "signed-out"
            return
                #"{"account":"a\#(10 + index)","issuer":"https://as.example","generation":1,"failures":0,"state":"\#(state)"}"#
        }
        return StubDaemon.Exchange(
            call: subscribe,
            replies: [
                #"{"continues":true,"parameters":{"event":"present","atUSec":0,"accounts":[\#(accounts.joined(separator: ","))]}}"#,
                #"{"continues":true,"parameters":{"event":"ready","atUSec":0,"accounts":[]}}"#,
            ]
        )
    }

    @Test(arguments: [("q", "exit 0"), ("\u{4}", "exit 0"), ("\u{3}", "exit 130")])
    func `accounts that need somebody come first, and arrow keys scroll`(key: String, ending: String)
        throws
    {
        let steps = [
            TerminalRun.Step.typing("\u{1B}[B", at: "(0 above, 9 below)"), .typing("G", at: "(1 above, 8 below)"),
            .typing("\u{1B}[A", at: "(9 above, 0 below)"), .typing("g", at: "(8 above, 1 below)"),
            .typing(key, at: "(0 above, 9 below)"),
        ]
        let (shown, problems) = try show([Self.many, Self.info], steps)
        #expect(problems == [])
        #expect(shown.contains(ending))
        #expect(isGivenBack(shown))
        let first = try #require(shown.split(separator: "q quits").first)
        let rows = first.split(separator: "\r\n").map { $0.replacing("\u{1B}[K", with: "") }
        #expect(rows.count == 24)
        #expect(rows[1...5].allSatisfy { $0.contains("signed-out") })
        #expect(rows.filter { $0.hasPrefix("a") }.count == 19)
        #expect(rows.contains { $0.hasPrefix("19 accounts: 14 fresh, 5 signed-out") })
    }

    @Test func `a narrower terminal is redrawn with what fits`() throws {
        let exchange = StubDaemon.Exchange(call: Self.subscribe, replies: Self.present(#""state":"fresh""#))
        let steps = [
            TerminalRun.Step.resizing(columns: 50, at: "issuer.example.org"), .typing("q", at: "issuer.exa…"),
        ]
        let (shown, problems) = try show([exchange, Self.info], steps)
        #expect(problems == [])
        #expect(shown.contains("exit 0"))
    }

    @Test func `a restarted daemon is followed`() throws {
        let first = StubDaemon.Exchange(
            call: Self.subscribe,
            replies: Self.present(#""state":"fresh""#),
            closes: true
        )
        let second = StubDaemon.Exchange(call: Self.subscribe, replies: Self.present(#""state":"misconfigured""#))
        let steps = [TerminalRun.Step.typing("q", at: "1 misconfigured")]
        let (shown, problems) = try show([first, Self.info, second, Self.info], steps)
        #expect(problems == [])
        #expect(shown.contains("exit 0"))
    }

    /// Nothing holds the socket between the two, as systemd would.
    @Test(arguments: [("status --watch", "q"), ("watch", "\u{3}")])
    func `a daemon that is missing is waited for, and a person is told`(command: String, key: String) throws {
        let run = try CommandRun()
        defer { run.remove() }
        let infos = command == "watch" ? [] : [Self.info]
        let first = StubDaemon.Exchange(call: Self.subscribe, replies: Self.present(#""state":"fresh""#))
        let second = StubDaemon.Exchange(call: Self.subscribe, replies: Self.present(#""state":"misconfigured""#))
        let daemon = try StubDaemon(path: run.socket, exchanges: [first] + infos)
        let successor = Mutex<StubDaemon?>(nil)
        let steps = [
            TerminalRun.Step(prompt: "fresh") { _ in
                unsafe unlink(run.socket)
                daemon.hangUp()
            },
            TerminalRun.Step(prompt: "the daemon has ended; waiting at most 10 s for the next one") { _ in
                let next = try StubDaemon(path: run.socket, exchanges: [second] + infos)
                successor.withLock { $0 = next }
            },
            TerminalRun.Step.typing(key, at: "misconfigured"),
        ]
        let shown = try TerminalRun().run("trap : INT; authctl \(command); echo \"exit $?\"", in: run, steps)
        #expect(daemon.finish() == [])
        #expect(successor.withLock { $0 }?.finish() == [])
        #expect(shown.contains(command == "watch" ? "exit 130" : "exit 0"))
        #expect(shown.contains("the present state follows") == (command == "watch"))
    }

    @Test func `a daemon that goes again before it has answered is followed further`() throws {
        let first = StubDaemon.Exchange(
            call: Self.subscribe,
            replies: Self.present(#""state":"fresh""#),
            closes: true
        )
        let second = StubDaemon.Exchange(call: Self.subscribe, closes: true)
        let third = StubDaemon.Exchange(call: Self.subscribe, replies: Self.present(#""state":"misconfigured""#))
        let steps = [TerminalRun.Step.typing("q", at: "1 misconfigured")]
        let (shown, problems) = try show([first, Self.info, second, third, Self.info], steps)
        #expect(problems == [])
        #expect(shown.contains("exit 0"))
    }

    /// The second daemon accepts the call and does not answer.
    @Test(arguments: [("q", "exit 0"), ("\u{4}", "exit 0"), ("\u{3}", "exit 130"), ("\u{1C}", "exit 131")])
    func `a key ends it while a restarted daemon does not answer`(key: String, ending: String) throws {
        let (shown, problems) = try show(Self.silentAfterRestart, [.typing(key, at: "does not answer yet")])
        #expect(problems == [])
        // The accounts known before are still shown.
        #expect(shown.matches(of: /1 fresh/).count > 1)
        #expect(shown.contains(ending))
        #expect(isGivenBack(shown))
    }

    @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129), (SIGINT, 130), (SIGQUIT, 131)] as [(Int32, Int)])
    func `a signal ends it while a restarted daemon does not answer`(signal: Int32, status: Int) throws {
        let run = try CommandRun()
        defer { run.remove() }
        let daemon = try StubDaemon(path: run.socket, exchanges: Self.silentAfterRestart)
        let shown = try TerminalRun().run(Self.commandWithPID, in: run, [Self.sending(signal, in: run)])
        #expect(daemon.finish() == [])
        #expect(shown.contains("exit \(status)"))
        #expect(isGivenBack(shown))
    }

    @Test func `after SIGKILL the terminal still has line mode and echo`() throws {
        let run = try CommandRun()
        defer { run.remove() }
        let exchange = StubDaemon.Exchange(call: Self.subscribe, replies: Self.present(#""state":"fresh""#))
        let daemon = try StubDaemon(path: run.socket, exchanges: [exchange, Self.info])
        let killing = Self.sending(SIGKILL, in: run, at: "q quits")
        let shown = try TerminalRun().run(Self.commandWithPID + "; stty -a", in: run, [killing])
        #expect(daemon.finish() == [])
        #expect(shown.contains("exit 137"))
        let settings = try #require(shown.split(separator: "exit 137").last).split { " ;\r\n".contains($0) }
        for setting in ["icanon", "echo", "isig", "icrnl", "opost"] { #expect(settings.contains { $0 == setting }) }
        // The cursor is not hidden, and lines wrap.
        #expect(!shown.contains("\u{1B}[?25l"))
        let cut = shown.ranges(of: "\u{1B}[?7l").count
        #expect(cut == shown.ranges(of: "\u{1B}[?7h").count)
    }

    @Test func `keys typed before the end do not become a shell command`() throws {
        let exchange = StubDaemon.Exchange(call: Self.subscribe, replies: Self.present(#""state":"fresh""#))
        let run = try CommandRun()
        defer { run.remove() }
        let daemon = try StubDaemon(path: run.socket, exchanges: [exchange, Self.info])
        let command = Self.commandWithPID + #"; read -t 1 rest; echo "rest<$rest>""#
        let typing = TerminalRun.Step(prompt: "q quits") { terminal in
            try TerminalRun.Step.typing("touch x", at: "").action(terminal)
            try Self.sending(SIGTERM, in: run).action(terminal)
        }
        let shown = try TerminalRun().run("bash -c '\(command)'", in: run, [typing])
        #expect(daemon.finish() == [])
        #expect(shown.contains("rest<>"))
    }

    private static var silentAfterRestart: [StubDaemon.Exchange] {
        let first = StubDaemon.Exchange(
            call: subscribe,
            replies: present(#""state":"fresh""#),
            closes: true
        )
        return [first, info, StubDaemon.Exchange(call: subscribe)]
    }

    private static let commandWithPID = """
        before=$(stty -g); trap : INT TERM QUIT HUP
        sh -c "echo \\$\\$ > pid; exec authctl status --watch"; echo "exit $?"
        test "$before" = "$(stty -g)" && echo restored
        """

    private static func sending(
        _ signal: Int32,
        in run: CommandRun,
        at prompt: String = "does not answer yet"
    ) -> TerminalRun.Step {
        TerminalRun.Step(prompt: prompt) { _ in
            let pid = try String(contentsOf: run.folder.appendingPathComponent("pid"), encoding: .utf8)
            kill(try #require(Int32(pid.filter(\.isNumber))), signal)
        }
    }

    @Test func `a daemon's refusal is reported below the restored screen`() throws {
        let refusal = #"{"error":"io.authrefresh.LimitExceeded","parameters":{"limit":"heldCalls","maximum":256}}"#
        let exchange = StubDaemon.Exchange(
            call: Self.subscribe,
            replies: Self.present(#""state":"fresh""#) + [refusal]
        )
        let (shown, problems) = try show([exchange, Self.info], [])
        #expect(problems == [])
        #expect(isGivenBack(shown))
        #expect(shown.contains("authctl: error: the daemon allows at most 256 calls that stay open"))
        #expect(shown.contains("exit 75"))
    }
}

@Suite struct DaemonSearchTests {
    @Test func `a search begins at once, tries each second, and ends with a last try after ten`() {
        let start = ContinuousClock.now
        var search = DaemonSearch(now: start)
        #expect(search.pauseMilliseconds(at: start) == 0)
        search.postpone(now: start)
        #expect(search.pauseMilliseconds(at: start) == 1000)
        #expect(search.pauseMilliseconds(at: start + .milliseconds(999.5)) == 1)
        #expect(search.pauseMilliseconds(at: start + .seconds(1)) == 0)
        #expect(!search.isLong(at: start + .milliseconds(1999)))
        #expect(search.isLong(at: start + .seconds(2)))
        #expect(!search.isOver(at: start + .milliseconds(9999)))
        #expect(search.isOver(at: start + .seconds(10)))
    }
}

@Suite struct AccountStatesTests {
    private func states(_ changes: String...) throws -> AccountStates {
        try changes.reduce(into: AccountStates()) { states, change in
            let text = change.replacing("@", with: #""issuer":"i","state":"fresh","generation":1,"failures":0"#)
            states.apply(try JSONDecoder().decode(Subscribe.Reply.self, from: Data(text.utf8)))
        }
    }

    @Test func `a renamed account is not listed twice`() throws {
        let states = try states(
            #"{"event":"present","atUSec":0,"accounts":[{"account":"b",@},{"account":"a",@}]}"#,
            #"{"event":"ready","atUSec":0,"accounts":[]}"#,
            #"{"event":"account-renamed","atUSec":0,"account":"c","previousName":"a","accounts":[{"account":"c",@}]}"#
        )
        #expect(states.isComplete)
        #expect(states.sorted.map(\.account) == ["b", "c"])
    }

    @Test func `a removed account disappears, and ready removes none`() throws {
        let states = try states(
            #"{"event":"present","atUSec":0,"accounts":[{"account":"b",@},{"account":"a",@}]}"#,
            #"{"event":"account-removed","atUSec":0,"account":"a","accounts":[]}"#
        )
        #expect(!states.isComplete)
        #expect(states.sorted.map(\.account) == ["b"])
    }
}
