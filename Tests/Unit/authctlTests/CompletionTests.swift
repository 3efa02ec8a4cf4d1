import AuthRefreshInterface
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

    enum Shell: String, CaseIterable {
        case bash, zsh, fish

        /// The command that starts it with the completion script `_PROGRAM` of its folder.
        func start(for program: String) -> String {
            switch self {
            case .bash: "printf 'source ./_\(program); PS1=READ\"\"Y\\n' > rc; exec bash --rcfile rc -i"
            case .zsh:
                """
                printf 'fpath=($PWD $fpath); autoload -U compinit; compinit -u -d ./dump; PS1=READ""Y\\n' > .zshrc
                ZDOTDIR=$PWD exec zsh -i
                """
            case .fish:
                """
                mkdir -p .local/share/fish/vendor_completions.d
                mv _\(program) .local/share/fish/vendor_completions.d/\(program).fish
                exec fish -i -C 'function fish_prompt; echo READ""Y; end'
                """
            }
        }
    }

    /// The terminal after the keys were typed in the shell with the program's completion script.
    private func show(
        _ shell: Shell,
        _ program: String,
        _ steps: [TerminalRun.Step],
        _ exchanges: [StubDaemon.Exchange] = []
    ) throws -> String {
        let run = try CommandRun()
        defer { run.remove() }
        let script = try run.run("\(program) --generate-completion-script \(shell)")
        #expect(script.status == 0)
        try Data(script.output.utf8).write(to: run.folder.appendingPathComponent("_\(program)"))
        let daemon = try StubDaemon(path: run.socket, exchanges: exchanges)
        let shown = try TerminalRun(columns: 120).run(shell.start(for: program), in: run, steps)
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

    @Test(arguments: Shell.allCases)
    func `the shell completes the name of an account`(shell: Shell) throws {
        guard CommandRun.has(shell.rawValue) else { try Test.cancel("\(shell) is not installed") }
        #expect(try show(shell, "authctl", Self.typing, Self.listing + [Self.token]).contains("at-1"))
    }

    @Test(arguments: Shell.allCases)
    func `the shell completes the programs that accounts are imported from`(shell: Shell) throws {
        guard CommandRun.has(shell.rawValue) else { try Test.cancel("\(shell) is not installed") }
        let steps = [
            TerminalRun.Step.typing("authctl impo\t", at: "READY"), .typing("--from oidc\t", at: "rt"),
            .typing("--help\n", at: "-agent"), .typing("exit\n", at: "READY"),
        ]
        let shown = try show(shell, "authctl", steps)
        #expect(shown.contains("Take over accounts from other programs"))
    }

    @Test(arguments: Shell.allCases)
    func `the shell completes an option of the daemon`(shell: Shell) throws {
        guard CommandRun.has(shell.rawValue) else { try Test.cancel("\(shell) is not installed") }
        let steps = [
            TerminalRun.Step.typing("authrefreshd --vers\t", at: "READY"), .typing("\n", at: "sion"),
            .typing("exit\n", at: "\(Version.text)\r\n"),
        ]
        #expect(try show(shell, "authrefreshd", steps).contains("\(Version.text)\r\n"))
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
