import Foundation
import Testing

@testable import authctl

/// The completion scripts, in their shells.
@Suite struct CompletionTests {
    private static let listing = [
        StubDaemon.Exchange(
            call: #"{"method":"io.authrefresh.ListAccounts","parameters":{"accounts":["wo"]}}"#,
            replies: [#"{"error":"io.authrefresh.NoSuchAccount","parameters":{"account":"wo"}}"#]
        ),
        StubDaemon.Exchange(
            call: #"{"method":"io.authrefresh.ListAccounts","parameters":{"after":"wo"}}"#,
            replies: [
                #"""
                {"parameters":{"accounts":[{"name":"workplace","clientId":"c"},{"name":"zoe","clientId":"c"}]}}
                """#
            ]
        ),
    ]

    /// The terminal after `authctl token wo`, a tab and a line break were typed.
    private func complete(_ shell: String, _ start: String) throws -> String {
        let run = try CommandRun()
        defer { run.remove() }
        let script = try run.run("authctl --generate-completion-script \(shell)")
        #expect(script.status == 0)
        try Data(script.output.utf8).write(to: run.folder.appendingPathComponent("_authctl"))
        let daemon = try StubDaemon(path: run.socket, exchanges: Self.listing + [Self.token])
        let shown = try TerminalRun(columns: 120).run(start, in: run, Self.typing)
        #expect(daemon.finish() == [])
        return shown
    }

    /// The completed line is also run. How a shell draws it is not tested.
    private static let typing = [
        TerminalRun.Step.typing("authctl token wo\t", at: "READY"), .typing("\n", at: "place"),
        .typing("exit\n", at: "at-1"),
    ]

    private static let token = StubDaemon.Exchange(
        call: #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"workplace"}}"#,
        replies: [#"{"parameters":{"accessToken":"at-1","tokenType":"Bearer","expiresAtUSec":1}}"#]
    )

    @Test(.enabled(if: CommandRun.has("bash"), "bash is not installed"))
    func `bash completes the name of an account`() throws {
        let start = "printf 'source ./_authctl; PS1=READ\"\"Y\\n' > rc; exec bash --rcfile rc -i"
        #expect(try complete("bash", start).contains("at-1"))
    }

    @Test(.enabled(if: CommandRun.has("zsh"), "zsh is not installed"))
    func `zsh completes the name of an account`() throws {
        let start = """
            printf 'fpath=($PWD $fpath); autoload -U compinit; compinit -u -d ./dump; PS1=READ""Y\\n' > .zshrc
            ZDOTDIR=$PWD exec zsh -i
            """
        #expect(try complete("zsh", start).contains("at-1"))
    }

    @Test(.enabled(if: CommandRun.has("fish"), "fish is not installed"))
    func `fish completes the name of an account`() throws {
        let start = """
            mkdir -p .local/share/fish/vendor_completions.d
            mv _authctl .local/share/fish/vendor_completions.d/authctl.fish
            exec fish -i -C 'function fish_prompt; echo READ""Y; end'
            """
        #expect(try complete("fish", start).contains("at-1"))
    }

    @Test func `only names that begin with the word are offered, also complete ones`() throws {
        let run = try CommandRun()
        defer { run.remove() }
        var exchanges = Self.listing
        exchanges[0].replies = [#"{"parameters":{"accounts":[{"name":"wo","clientId":"c"}]}}"#]
        let daemon = try StubDaemon(path: run.socket, exchanges: exchanges)
        let outcome = try run.run("SAP_SHELL=bash authctl ---completion token -- positional@0 2 2 authctl token wo")
        #expect(daemon.finish() == [])
        #expect(outcome == CommandRun.Outcome(output: "wo\nworkplace\n", errors: "", status: 0))
    }

    @Test(arguments: ["token -- positional@0 2 2 authctl token wo", "token -- positional@0 x", "nonsense", ""])
    func `without a daemon, or for a nonsensical line, nothing is offered or printed`(words: String) throws {
        let run = try CommandRun()
        defer { run.remove() }
        let outcome = try run.run("SAP_SHELL=bash authctl ---completion \(words)")
        #expect(outcome.errors == "")
        #expect(outcome.output.filter { $0 != "\n" } == "")
        #expect(outcome.status == 0)
    }

    @Test func `the socket is the one in the typed line`() {
        #expect(DaemonCompletion.socket(in: ["authctl", "token", "--socket", "/s", "w"]) == "/s")
        #expect(DaemonCompletion.socket(in: ["authctl", "token", "--socket=/s", "w"]) == "/s")
        #expect(DaemonCompletion.socket(in: ["authctl", "token", "w"]) == nil)
    }
}
