import Foundation
import Testing

@testable import authdemo

/// The show as people run it, with the real daemon and with faulty ones.
@Suite struct ShowTests {
    @Test func `an unattended show plays its whole story in order and leaves nothing behind`() async throws {
        let run = try ShowRun()
        defer { run.remove() }
        let outcome = try await run.run(["run", "--once", "--lifetime", "8s"])
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.errors.isEmpty)
        let story = [
            "An authorization server is started on http://127.0.0.1:", "it listens on",
            "$ authctl account add demo", "token-refreshed: generation 2", "3 silent refreshes",
            "token-refreshed: generation 3", "token-refreshed: generation 4", "token-refreshed: generation 5",
            "takes the access token (HTTP 200)", "The grant is revoked", "interaction-required: invalid_grant: ",
            "run: authctl login demo", "ends with status 3", "$ authctl account import demo",
            "token-refreshed: generation 7", "fresh again", "token-refreshed: generation 8",
            "takes the access token (HTTP 200)", "never two at a time, no spent token", "The show is over",
        ]
        var rest = outcome.output[...]
        for part in story {
            let found = try #require(
                rest.range(of: part),
                "\"\(part)\" is missing, or too early, in:\n\(outcome.output)"
            )
            rest = rest[found.upperBound...]
        }
        #expect(!outcome.output.contains("\u{1B}"), "lines hold no escape sequences")
        #expect(!outcome.output.contains("demo-at-") && !outcome.output.contains("demo-rt-"), "no token is shown")
        #expect(try run.leftovers.isEmpty)
    }

    @Test func `a missing daemon is named, and nothing is started`() async throws {
        let run = try ShowRun()
        defer { run.remove() }
        let outcome = try await run.run(["run", "--once", "--programs", run.temporaryFiles.path])
        #expect(outcome.status == 1)
        #expect(outcome.errors == "authdemo: error: there is no program '\(run.temporaryFiles.path)/authrefreshd'\n")
        #expect(outcome.output.isEmpty)
    }

    @Test func `a daemon that ends also ends the show, with the daemon's last lines`() async throws {
        let run = try ShowRun()
        defer { run.remove() }
        let programs = try run.programs(replacing: "authrefreshd", by: "echo the store is on fire >&2; exit 78")
        let outcome = try await run.run(["run", "--once", "--programs", programs])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("error: authrefreshd ended by itself (status 78)"))
        #expect(outcome.errors.contains("\n  the store is on fire\n"))
        #expect(try run.leftovers.isEmpty)
    }

    @Test func `a daemon that never listens is given up and ended`() async throws {
        let run = try ShowRun()
        defer { run.remove() }
        let pidFile = run.folder.appending(path: "pid")
        let programs = try run.programs(
            replacing: "authrefreshd",
            by: "echo $$ > '\(pidFile.path)'; trap 'echo asked to end; exit 0' TERM; while :; do sleep 0.1; done"
        )
        let outcome = try await run.run(["run", "--once", "--programs", programs])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("waiting for authrefreshd to listen: not done within 20 s"))
        #expect(outcome.errors.contains("\n  asked to end\n"), "SIGTERM came first, and was heard")
        let text = try String(contentsOf: pidFile, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        let pid = try #require(pid_t(text))
        #expect(kill(pid, 0) == -1 && errno == ESRCH, "the daemon is gone")
        #expect(try run.leftovers.isEmpty)
    }

    @Test func `a command that fails ends the show with its message`() async throws {
        let run = try ShowRun()
        defer { run.remove() }
        let programs = try run.programs(replacing: "authctl", by: "echo 'authctl: error: no luck' >&2; exit 75")
        let outcome = try await run.run(["run", "--once", "--programs", programs])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("ended with status 75, expected status 0:\nauthctl: error: no luck\n"))
        #expect(try run.leftovers.isEmpty)
    }

    @Test func `Ctrl-C ends the daemon, cleans up and differs from a failure`() async throws {
        let run = try ShowRun()
        defer { run.remove() }
        let outcome = try await run.run(["run", "--once"], cue: "3 silent refreshes", signal: SIGINT)
        #expect(outcome.status == 130)
        #expect(outcome.errors == "authdemo: error: interrupted\n")
        #expect(try run.leftovers.isEmpty)
    }

    @Test func `a show without --once continues until a signal, and then ends with success`() async throws {
        let run = try ShowRun()
        defer { run.remove() }
        // Its pause is made for people, so this is the longest test of the suite.
        let outcome = try await run.run(["run", "--lifetime", "8s"], cue: "AUTHREFRESH_SOCKET=", signal: SIGTERM)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(try run.leftovers.isEmpty)
    }

    @Test func `the issuer alone prints its URL and serves until SIGTERM`() async throws {
        let run = try ShowRun()
        defer { run.remove() }
        let outcome = try await run.run(["issuer", "--no-rotation"], cue: "http://127.0.0.1:", signal: SIGTERM)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("http://127.0.0.1:"))
        #expect(outcome.output.split(separator: "\n").count == 1)
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
