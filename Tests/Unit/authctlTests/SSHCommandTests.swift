import ArgumentParser
import Foundation
import Testing

@testable import authctl

/// How `authctl forward` calls ssh.
@Suite struct SSHCommandTests {
    private func words(
        _ command: String? = nil,
        options: [String] = [],
        remoteSocket: String = "/tmp/there",
        hasTerminal: Bool = false
    ) -> [String] {
        SSHCommand(
            host: "me@host",
            options: options,
            localSocket: "/run/here",
            remoteSocket: remoteSocket,
            command: command,
            hasTerminal: hasTerminal
        ).words
    }

    @Test func `our options come before the user's, and the host is never read as an option`() throws {
        let words = words(options: ["Port=2222", "ControlPath=/tmp/x"], hasTerminal: true)
        let options = zip(words, words.dropFirst()).filter { $0.0 == "-o" }.map(\.1)
        #expect(options.suffix(2) == ["Port=2222", "ControlPath=/tmp/x"])
        #expect(options.contains("ControlPath=none") && options.contains("ExitOnForwardFailure=yes"))
        let end = try #require(words.firstIndex(of: "--"))
        #expect(words[..<end].suffix(3) == ["-R", "/tmp/there:/run/here", "-t"])
        #expect(words[(end + 1)...].count == 2)
        #expect(words[end + 1] == "me@host")
    }

    @Test func `only a login shell gets a terminal`() {
        #expect(!words().contains("-t"))
        #expect(!words("true", hasTerminal: true).contains("-t"))
    }

    @Test func `the remote socket's path is new each time and has 128 random bits`() {
        let paths = (0..<100).map { _ in SSHCommand.freshRemoteSocket() }
        #expect(Set(paths).count == 100)
        #expect(paths.allSatisfy { $0.wholeMatch(of: /\/tmp\/authctl-[0-9a-f]{32}/) != nil })
    }

    /// Runs the last argument in the login shell, as sshd does.
    private func runThere(
        _ command: String?,
        loginShell: String = "/bin/sh",
        makesSocket: Bool = true
    ) throws -> (outcome: CommandRun.Outcome, isGone: Bool) {
        let run = try CommandRun()
        defer { run.remove() }
        let path = run.folder.path + "/s"
        let remote = try #require(words(command, remoteSocket: path).last)
        try remote.write(toFile: run.folder.path + "/remote", atomically: true, encoding: .utf8)
        let make = "/usr/bin/python3 -c 'import socket, os; os.umask(0); socket.socket(socket.AF_UNIX).bind(\"s\")'"
        let outcome = try run.run(
            (makesSocket ? make + "; " : "") + "SHELL=/bin/sh \(loginShell) -c \"$(cat remote)\"",
            input: "echo from the login shell; exit 7\n"
        )
        return (outcome, !FileManager.default.fileExists(atPath: path))
    }

    private static let shells = ["/bin/sh", "/bin/bash", "/usr/bin/zsh", "/usr/bin/fish"].filter {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(arguments: shells) func `the command arrives unchanged in every login shell`(
        shell: String
    ) throws {
        let (outcome, isGone) = try runThere(
            #"printf '[%s]' "$AUTHREFRESH_SOCKET" 'it'\''s' a\\b '!' '%' ; stat -c %a s; exit 5"#,
            loginShell: shell
        )
        #expect(outcome.errors == "")
        let lines = outcome.output.split(separator: "]").map(String.init)
        #expect(lines.first?.hasSuffix("/s") == true, "\(outcome.output)")
        #expect(lines.dropFirst().prefix(2) == ["[it's", #"[a\b"#], "\(outcome.output)")
        #expect(outcome.output.hasSuffix("[!][%]600\n"), "\(outcome.output)")
        #expect(outcome.status == 5)
        #expect(isGone)
    }

    @Test func `without a command a login shell runs, and the socket is removed afterwards`() throws {
        let (outcome, isGone) = try runThere(nil)
        #expect(outcome.output == "from the login shell\n")
        #expect(outcome.status == 7)
        #expect(isGone)
    }

    @Test func `signals to the remote command do not leave the socket behind`() throws {
        // The signal goes to the whole group, as when a terminal hangs up.
        let (outcome, isGone) = try runThere("trap 'echo hung up; exit 3' HUP; kill -HUP 0; sleep 60")
        #expect(outcome.output.contains("hung up\n"))
        #expect(isGone)
    }

    @Test func `a server that made no socket is reported`() throws {
        let (outcome, _) = try runThere("echo no", makesSocket: false)
        #expect(outcome.output == "")
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("sshd has not made the socket"))
    }

    @Test(arguments: ["-oProxyCommand=x", "-l", ""]) func `a host that ssh would take for an option is refused`(
        host: String
    ) {
        #expect(throws: (any Error).self) { try AuthctlCommand.parseAsRoot(["forward", host, "work"]) }
        // Even if the parser would accept it.
        let command = ForwardCommand.self
        #expect(throws: (any Error).self) { try command.parse([host]) }
    }

    @Test func `accounts and the command are distinguished`() throws {
        let arguments = ["forward", "host", "a", "b", "--ssh-option", "Port=1", "--", "run", "-x", "--", "y z"]
        let command = try AuthctlCommand.parseAsRoot(ForwardCommand.adoptCommand(arguments))
        let parsed = try #require(command as? ForwardCommand)
        #expect(parsed.host == "host")
        #expect(parsed.accounts == ["a", "b"])
        #expect(parsed.command == "run -x -- y z")
        #expect(parsed.sshOption == ["Port=1"])
        // A missing word is no command, and neither is one that belongs to another command.
        let empty = ForwardCommand.adoptCommand(["forward", "host", "a", "--"])
        #expect(throws: (any Error).self) { try AuthctlCommand.parseAsRoot(empty) }
        #expect(ForwardCommand.adoptCommand(["token", "--", "x"]) == ["token", "--", "x"])
    }
}
