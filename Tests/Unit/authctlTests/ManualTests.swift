import Foundation
import TestSupport
import Testing

/// The manual pages, as `systemd/install` makes them.
@Suite struct ManualTests {
    private static let make = """
        set -e; mkdir pages
        export SOURCE_DATE_EPOCH=86400
        authctl --experimental-dump-help | $ROOT/systemd/manual-pages pages 7.8.9
        authrefreshd --experimental-dump-help |
            $ROOT/systemd/manual-pages pages 7.8.9 $ROOT/etc/authrefreshd.yaml $ROOT/etc/provider-profile.yaml
        """

    /// The output of the command in a folder with all pages in `pages`.
    private func run(_ command: String) throws -> CommandRun.Outcome {
        let run = try CommandRun()
        defer { run.remove() }
        let make = Self.make.replacing("$ROOT", with: SourceTree.root.path)
        return try run.run("exec 2>&1; \(make)\n\(command)")
    }

    @Test func `every command has a page, and so have the daemon, its configuration and provider profiles`() throws {
        let outcome = try run("ls pages; authctl --help | sed -n '/SUBCOMMANDS:$/,$p'")
        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        for page in [
            "authctl.1", "authctl-account-add.1", "authrefreshd.1", "authrefreshd.yaml.5", "provider-profile.yaml.5",
        ] {
            #expect(lines.contains(page))
        }
        let commands = lines.drop { !$0.hasSuffix("SUBCOMMANDS:") }.filter {
            $0.hasPrefix("  ") && !$0.hasPrefix("   ")
        }
        .compactMap { $0.split(separator: " ").first }.filter { $0 != "See" }
        #expect(commands.count >= 9)
        for command in commands { #expect(lines.contains("authctl-\(command).1")) }
    }

    @Test(.enabled(if: CommandRun.has("mandoc"), "mandoc is not installed"))
    func `mandoc finds nothing to warn of`() throws {
        let outcome = try run("mandoc -Tlint -Wwarning pages/*")
        #expect(outcome.output == "")
        #expect(outcome.status == 0)
    }

    @Test(.enabled(if: CommandRun.has("man"), "man is not installed"))
    func `man formats every page without a warning`() throws {
        let outcome = try run("for page in pages/*; do man --warnings -E UTF-8 -l -Tutf8 $page > /dev/null; done")
        #expect(outcome.output == "")
    }

    @Test(.enabled(if: CommandRun.has("man"), "man is not installed"))
    func `an option of two values shows both, and a page says what its file is`() throws {
        let token = try run("MANWIDTH=100 man -E UTF-8 -l pages/authctl-token.1 | col -bx").output
        #expect(token.contains("[--dpop method url]"))
        #expect(token.contains("\n     --dpop method url\n"))
        let profile = try run("MANWIDTH=100 man -E UTF-8 -l pages/provider-profile.yaml.5 | col -bx").output
        #expect(profile.contains(" description of a provider for authrefreshd\n"))
    }

    @Test(.enabled(if: CommandRun.has("man"), "man is not installed"))
    func `a page shows options, examples and the exit status as the help text has them`() throws {
        let page = try run("MANWIDTH=100 man -E UTF-8 -l pages/authctl-status.1 | col -bx").output
        let root = try run("MANWIDTH=100 man -E UTF-8 -l pages/authctl.1 | col -bx").output
        #expect(page.contains("authctl status [accounts ...] [--watch] [--json] [--socket path]"))
        #expect(page.contains("authctl status work || authctl account show work\n"))
        #expect(page.contains("EXIT STATUS"))
        #expect(root.contains("authctl-token(1)"))
        #expect(root.contains("78 misconfigured"))
    }

    @Test func `every page carries the version, and the day of the source`() throws {
        let outcome = try run("grep -L '^.Os authrefreshd 7.8.9$' pages/*; grep -L '^.Dd January 2, 1970$' pages/*")
        #expect(outcome.output == "")
    }

    @Test func `the daemon's page has its environment, files and exit status`() throws {
        let page = try run("cat pages/authrefreshd.1").output
        for section in ["ENVIRONMENT", "FILES", "EXIT STATUS"] { #expect(page.contains("\n.Sh \(section)\n")) }
    }
}
