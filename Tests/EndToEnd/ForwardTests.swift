import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

@testable import authctl

/// `authctl forward` with a real daemon and a stand-in for ssh, which prints its arguments and waits until its input
/// ends.
///
/// `Tests/Integration/forward` does the same with a real sshd.
struct ForwardTests {
    /// Writes its arguments and the path of the socket, then waits for its exit status.
    private static let ssh = """
        #!/bin/sh
        for word in "$@"; do
            printf 'word %s\\n' "$word"
            case $word in /tmp/authctl-*:*) echo "socket ${word#*:}" ;; esac
        done
        mkfifo "$HOME/end-$$"
        echo "ready $$"
        read -r status < "$HOME/end-$$"
        exit "$status"
        """

    private struct Forwarding {
        let program: Program
        let socket: String
        /// The process id of the stand-in.
        let ssh: Int32
        /// The FIFO from which it reads its exit status.
        private let end: String

        init(_ stage: DaemonStage, _ arguments: [String]) async throws {
            try stage.folder.write(ForwardTests.ssh, to: "programs/ssh", mode: 0o700)
            let environment = stage.environment.merging(["PATH": stage.folder.path + "/programs:/usr/bin:/bin"]) { $1 }
            program = try Program("authctl", ["forward"] + arguments, environment: environment)
            let line = try await program.output.first("the socket") { $0.hasPrefix("socket ") }
            socket = String(line.dropFirst("socket ".count))
            let ready = try await program.output.first("the stand-in") { $0.hasPrefix("ready ") }
            ssh = try #require(Int32(ready.dropFirst("ready ".count)))
            end = stage.folder.path + "/end-\(ssh)"
        }

        /// The arguments with which ssh was called.
        var words: [String] {
            program.output.all.filter { $0.hasPrefix("word ") }.map { String($0.dropFirst("word ".count)) }
        }

        /// Ends ssh.
        func end(_ status: Int) async throws -> ProgramEnd {
            let fifo = try #require(FileHandle(forWritingAtPath: end))
            try fifo.write(contentsOf: Data("\(status)\n".utf8))
            try fifo.close()
            return try await program.ended()
        }

        func ended() async throws -> ProgramEnd { try await program.ended() }

        var isGone: Bool {
            let folder = (socket as NSString).deletingLastPathComponent
            return !FileManager.default.fileExists(atPath: socket) && !FileManager.default.fileExists(atPath: folder)
        }

        /// The output of `authctl` on the other machine.
        func authctl(_ arguments: String..., stage: DaemonStage) async throws -> CommandOutcome {
            let environment = ["AUTHREFRESH_SOCKET": socket, "PATH": "/usr/bin:/bin", "HOME": stage.folder.path]
            let program = try Program("authctl", arguments, environment: environment)
            let end = try await program.ended()
            return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
        }
    }

    /// Runs `body` with the accounts `work` and `works`, of which `work` is forwarded.
    private func withForwarding(
        _ body: (DaemonStage, Forwarding, DemoIssuer, DaemonProcess) async throws -> Void
    ) async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            for name in ["work", "works"] {
                try await stage.add(name, issuer: url, grant: issuer.issueGrant(clientID: "app"))
            }
            let forwarding = try await Forwarding(stage, ["host", "work"])
            try await body(stage, forwarding, issuer, daemon)
            if forwarding.program.isRunning { #expect(try await forwarding.end(0) == .exited(0)) }
            #expect(forwarding.isGone)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private static func call(_ method: String, _ parameters: String) -> String {
        #"{"method":"io.authrefresh.\#(method)","parameters":\#(parameters)}"# + "\0"
    }

    private static let acquire = call("AcquireToken", #"{"account":"work"}"#)

    @Test func `the other machine gets tokens of the named accounts, and nothing else`() async throws {
        try await withForwarding { stage, forwarding, _, _ in
            let token = try await stage.acquire("work")
            let answer = try await forwarding.authctl("token", "work", stage: stage)
            #expect(answer.output == token.accessToken, "\(answer.errors)")
            for other in ["works", "nobody"] {
                let refused = try await forwarding.authctl("token", other, stage: stage)
                #expect(refused.end == .exited(4))
                #expect(refused.errors.contains("no account is named '\(other)'"), "\(refused.errors)")
                #expect(!refused.errors.contains("did you mean"), "\(refused.errors)")
            }
            for command in [["status"], ["account", "export", "work", "--show-secrets"], ["logout", "work"]] {
                let program = try Program(
                    "authctl",
                    command,
                    environment: ["AUTHREFRESH_SOCKET": forwarding.socket, "PATH": "/usr/bin:/bin"]
                )
                #expect(try await program.ended() == .exited(77), "\(command)")
                #expect(program.outputText.isEmpty)
                #expect(program.errorText.contains("this socket is for the tokens of some accounts"))
            }
            #expect(try await stage.status("work").state == "fresh")
        }
    }

    @Test func `a rejected token can be reported from the other machine`() async throws {
        try await withForwarding { stage, forwarding, _, _ in
            let header = #"Bearer error="insufficient_scope", scope="mail.send""#
            let told = try await forwarding.authctl("challenge", "work", "--header", header, stage: stage)
            #expect(told.end == .exited(3), "\(told.errors)")
            #expect(try await stage.status("work").reason == "stepUp")
            let other = try await forwarding.authctl("challenge", "works", "--header", header, stage: stage)
            #expect(other.end == .exited(4), "\(other.errors)")
            #expect(try await stage.status("works").state == "fresh")
        }
    }

    @Test func `an account that was removed meanwhile reveals no other`() async throws {
        try await withForwarding { stage, forwarding, _, _ in
            #expect(try await stage.authctl("account", "remove", "work", "--yes").end == .exited(0))
            // Locally, the daemon itself suggests the account with a similar name.
            #expect(try await stage.authctl("token", "work").errors.contains("did you mean 'works'?"))
            let refused = try await forwarding.authctl("token", "work", stage: stage)
            #expect(refused.end == .exited(4))
            #expect(!refused.errors.contains("works"), "\(refused.errors)")
        }
    }

    /// The name was that of another account when the person forwarded it.
    @Test func `an account that gets a forwarded name later is not forwarded`() async throws {
        try await withForwarding { stage, forwarding, _, _ in
            #expect(try await stage.authctl("account", "rename", "work", "old").end == .exited(0))
            #expect(try await stage.authctl("account", "rename", "works", "work").end == .exited(0))
            let header = #"Bearer error="insufficient_scope", scope="mail.send""#
            for command in [["token", "work"], ["token", "old"], ["challenge", "work", "--header", header]] {
                let program = try Program(
                    "authctl",
                    command,
                    environment: ["AUTHREFRESH_SOCKET": forwarding.socket, "PATH": "/usr/bin:/bin"]
                )
                #expect(try await program.ended() == .exited(4), "\(command): \(program.errorText)")
                #expect(program.outputText.isEmpty)
            }
            #expect(try await stage.status("work").state == "fresh")
            // Under its own name again, the account is the one that was forwarded.
            #expect(try await stage.authctl("account", "rename", "work", "works").end == .exited(0))
            #expect(try await stage.authctl("account", "rename", "old", "work").end == .exited(0))
            #expect(try await forwarding.authctl("token", "work", stage: stage).end == .exited(0))
        }
    }

    /// Each number of descriptors is too small for another step of the start. With the larger ones it runs.
    @Test(arguments: [4, 7, 9, 11, 13]) func `with few descriptors it fails, or a signal ends it`(most: Int)
        async throws
    {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try stage.folder.write("#!/bin/sh\necho ready\nexec sleep 600\n", to: "programs/ssh", mode: 0o700)
            let environment = stage.environment.merging(["PATH": stage.folder.path + "/programs:/usr/bin:/bin"]) { $1 }
            let command = "ulimit -n \(most) && exec \"$0\" forward host work"
            let words = ["-c", command, Program.products + "/authctl"]
            let program = try Program("/bin/sh", words, environment: environment)
            let ready = try? await program.output.first("the stand-in or the end") { $0 == "ready" }
            if ready != nil {
                program.signal(SIGTERM)
                #expect(try await program.ended() == .signalled(SIGTERM))
            } else {
                let end = try await program.ended()
                #expect(end != .exited(0) && !program.errorText.isEmpty, "\(end)")
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: stage.folder.path + "/run")
            #expect(left.filter { $0.hasPrefix("authctl-forward-") } == [])
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `calls are answered in turn, and an invalid one ends the connection`() async throws {
        try await withForwarding { stage, forwarding, _, _ in
            let token = try await stage.acquire("work").accessToken
            let socket = forwarding.socket
            try await onOwnThread {
                let caller = try RawConnection(socket)
                try caller.send(Self.acquire + Self.call("GetStatus", "{}") + Self.acquire)
                caller.finish()
                #expect(try caller.receive().contains(token))
                #expect(try caller.receive().contains(PermissionDeniedError.name))
                #expect(try caller.receive().contains(token))
                #expect(try caller.receive() == "")
                for broken in [String(repeating: "\0", count: 100_000), "{}\0" + Self.acquire, "x\0" + Self.acquire] {
                    let caller = try RawConnection(socket)
                    try caller.send(broken)
                    #expect(try caller.receive().contains("org.varlink.service.InvalidParameter"))
                    #expect(try caller.receive() == "")
                }
                // A call in several pieces is one call.
                let slow = try RawConnection(socket)
                for character in Self.acquire { try slow.send(String(character)) }
                #expect(try slow.receive().contains(token))
            }
        }
    }

    /// `forwardedCallBytesMax`.
    @Test func `a call that is too long is refused before it has ended`() async throws {
        try await withForwarding { stage, forwarding, _, _ in
            let socket = forwarding.socket
            let longest = TokenRelay.forwardedCallBytesMax
            try await onOwnThread {
                let caller = try RawConnection(socket)
                try caller.send(String(repeating: " ", count: longest - Self.acquire.utf8.count + 1) + Self.acquire)
                #expect(try caller.receive().contains("accessToken"))
                try caller.send(String(repeating: " ", count: longest + 1))
                #expect(try caller.receive().contains("org.varlink.service.InvalidParameter"))
                #expect(try caller.receive() == "")
            }
        }
    }

    /// `forwardedClientsMax`.
    @Test func `programs that are silent or do not read delay nobody`() async throws {
        try await withForwarding { stage, forwarding, _, _ in
            let socket = forwarding.socket
            let most = TokenRelay.forwardedClientsMax
            try await onOwnThread {
                // Half a call, nothing at all, and replies that nobody reads.
                let halves = try RawConnection.open(most / 4, to: socket)
                for caller in halves { try caller.send(String(Self.acquire.prefix(20))) }
                let silent = try RawConnection.open(most / 4, to: socket)
                let deaf = try RawConnection.open(most / 2, to: socket)
                let calls = String(repeating: Self.call("GetStatus", "{}"), count: 500)
                for caller in deaf { try caller.send(calls) }
                // These connections stay open, too.
                let served = try (0..<most).map { _ in
                    let caller = try RawConnection(socket)
                    try caller.send(Self.acquire)
                    #expect(try caller.receive().contains("accessToken"))
                    return caller
                }
                #expect(served.count == most)
                // The silent callers were closed to make room.
                for caller in silent { #expect(try caller.receive() == "") }
            }
        }
    }

    @Test func `the same socket works after a restart of the daemon`() async throws {
        try await withForwarding { stage, forwarding, _, daemon in
            let before = try await forwarding.authctl("token", "work", stage: stage)
            #expect(try await daemon.terminate() == .exited(0))
            // The forwarding program hangs up, as a daemon does that cannot start. So the call ends soon.
            #expect(try await forwarding.authctl("token", "work", stage: stage).end == .exited(69))
            let second = try await stage.start()
            let after = try await forwarding.authctl("token", "work", stage: stage)
            #expect(after.output == before.output, "\(after.errors)")
            #expect(try await forwarding.end(0) == .exited(0))
            #expect(try await second.terminate() == .exited(0))
        }
    }

    @Test func `ssh gets a new remote path, and its status is the command's`() async throws {
        try await withForwarding { stage, first, _, _ in
            let second = try await Forwarding(
                stage,
                ["me@host", "works", "--ssh-option", "Port=22", "--", "make", "-k"]
            )
            #expect(first.socket != second.socket)
            #expect(first.words.last?.contains("AUTHREFRESH_SOCKET") == true)
            #expect(second.words.last?.hasSuffix(" 'make -k'") == true)
            #expect(second.words.contains("Port=22") && second.words.contains("me@host"))
            let remote = [first, second].compactMap { $0.words.first { $0.hasPrefix("/tmp/authctl-") }?.prefix(45) }
            #expect(Set(remote).count == 2)
            // Each has its own account.
            #expect(try await first.authctl("token", "works", stage: stage).end == .exited(4))
            #expect(try await second.authctl("token", "works", stage: stage).end == .exited(0))
            #expect(try await second.end(7) == .exited(7))
            #expect(second.isGone && !first.isGone)
            #expect(try await first.authctl("token", "work", stage: stage).end == .exited(0))
        }
    }

    @Test func `only the user may access the socket and its folder`() async throws {
        try await withForwarding { stage, forwarding, _, _ in
            #expect(forwarding.socket.hasPrefix(stage.folder.path + "/run/authctl-forward-"))
            let modes = try [forwarding.socket, (forwarding.socket as NSString).deletingLastPathComponent].map { path in
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            #expect(modes == [0o600, 0o700])
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func `a signal ends ssh and removes the socket`(number: Int32)
        async throws
    {
        try await withForwarding { _, forwarding, _, _ in
            forwarding.program.signal(number)
            let end = try await forwarding.ended()
            #expect(end == .signalled(number))
            #expect(forwarding.isGone)
            #expect(kill(forwarding.ssh, 0) != 0)
        }
    }

    @Test func `if ssh is killed, everything ends`() async throws {
        try await withForwarding { _, forwarding, _, _ in
            #expect(kill(forwarding.ssh, SIGKILL) == 0)
            let end = try await forwarding.ended()
            #expect(end == .exited(128 + SIGKILL))
            #expect(forwarding.isGone)
        }
    }

    @Test func `the next authctl removes what a killed one has left`() async throws {
        try await withForwarding { stage, killed, _, _ in
            killed.program.signal(SIGKILL)
            try await killed.program.ended()
            #expect(!killed.isGone)
            let next = try await Forwarding(stage, ["host", "work"])
            #expect(killed.isGone && !next.isGone)
            #expect(try await next.end(0) == .exited(0))
            _ = kill(killed.ssh, SIGKILL)
        }
    }

    @Test func `without the account or ssh nothing is started, and nothing is left`() async throws {
        try await withForwarding { stage, _, _, _ in
            let environment = stage.environment.merging(["PATH": stage.folder.path + "/programs"]) { $1 }
            let unknown = try Program("authctl", ["forward", "host", "work", "worx"], environment: environment)
            #expect(try await unknown.ended() == .exited(4))
            #expect(unknown.outputText == "")
            #expect(unknown.errorText.contains("no account is named 'worx'"))
            let unnamed = try Program("authctl", ["forward", "host"], environment: environment)
            #expect(try await unnamed.ended() == .exited(64))
            let none = stage.environment.merging(["PATH": stage.folder.path]) { $1 }
            let program = try Program("authctl", ["forward", "host", "work"], environment: none)
            #expect(try await program.ended() == .exited(78))
            #expect(program.errorText.contains("cannot start 'ssh'"))
            let left = try FileManager.default.contentsOfDirectory(atPath: stage.folder.path + "/run")
            #expect(left.filter { $0.hasPrefix("authctl-forward-") }.count == 1)
        }
    }

    @Test func `a list of allowed callers applies to the other machine, too`() async throws {
        try await withForwarding { stage, forwarding, _, _ in
            let edit = try await stage.authctl(
                "account",
                "edit",
                "work",
                "--allow-executable",
                "/usr/bin/true",
                "--yes"
            )
            #expect(edit.end == .exited(0), "\(edit.errors)")
            let refused = try await forwarding.authctl("token", "work", stage: stage)
            #expect(refused.end == .exited(77))
            #expect(refused.errors.contains("'work' is for '/usr/bin/true' only"), "\(refused.errors)")
        }
    }

    // MARK: A socket on this machine

    /// `authctl forward --listen`, once its socket is there.
    private func listening(_ stage: DaemonStage, at path: String, _ accounts: String...) async throws -> Program {
        let words = ["forward", "--listen", path] + accounts
        let program = try Program("authctl", words, environment: stage.environment)
        _ = try await program.errors.first("the note") { $0.contains("until you interrupt this command") }
        return program
    }

    /// Runs `authctl` where only the socket is known.
    private func confined(_ socket: String, _ arguments: String...) async throws -> CommandOutcome {
        let environment = ["AUTHREFRESH_SOCKET": socket, "PATH": "/usr/bin:/bin"]
        let program = try Program("authctl", arguments, environment: environment)
        let end = try await program.ended()
        return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
    }

    private func withAccounts(_ body: (DaemonStage, String) async throws -> Void) async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            for name in ["work", "works"] {
                try await stage.add(name, issuer: url, grant: issuer.issueGrant(clientID: "app"))
            }
            try await body(stage, stage.folder.path + "/box/socket")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a socket here gives tokens of the named accounts, and nothing else, until a signal`(number: Int32)
        async throws
    {
        try await withAccounts { stage, path in
            let program = try await listening(stage, at: path, "work")
            let modes = try [path, (path as NSString).deletingLastPathComponent].map { path in
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            #expect(modes == [0o600, 0o700])
            let token = try await stage.acquire("work")
            #expect(try await confined(path, "token", "work").output == token.accessToken)
            let header = #"Bearer error="insufficient_scope", scope="mail.send""#
            #expect(try await confined(path, "challenge", "work", "--header", header).end == .exited(3))
            #expect(try await stage.status("work").reason == "stepUp")
            #expect(try await confined(path, "token", "works").end == .exited(4))
            for words in [["status"], ["logout", "work"]] {
                let refused = try await confined(path, words[0], words.count > 1 ? words[1] : "work")
                #expect(refused.end == .exited(77), "\(refused.errors)")
            }
            program.signal(number)
            #expect(try await program.ended() == .signalled(number))
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a socket here is bound to the account, also if another gets its name`() async throws {
        try await withAccounts { stage, path in
            let program = try await listening(stage, at: path, "work")
            #expect(try await stage.authctl("account", "rename", "work", "old").end == .exited(0))
            #expect(try await stage.authctl("account", "rename", "works", "work").end == .exited(0))
            for name in ["work", "old"] {
                #expect(try await confined(path, "token", name).end == .exited(4), "\(name)")
            }
            program.signal(SIGTERM)
            #expect(try await program.ended() == .signalled(SIGTERM))
        }
    }

    @Test func `a socket here replaces nothing but a socket at which nobody listens`() async throws {
        try await withAccounts { stage, path in
            let first = try await listening(stage, at: path, "work")
            let second = try await stage.authctl("forward", "--listen", path, "works")
            #expect(second.end == .exited(64))
            #expect(second.errors.contains("another process listens on '\(path)'"), "\(second.errors)")
            #expect(try await confined(path, "token", "work").end == .exited(0))
            first.signal(SIGKILL)
            try await first.ended()
            #expect(FileManager.default.fileExists(atPath: path))
            let next = try await listening(stage, at: path, "works")
            #expect(try await confined(path, "token", "works").end == .exited(0))
            // Who ends removes only the socket that is its own.
            try FileManager.default.removeItem(atPath: path)
            try stage.folder.write("precious", to: "box/socket")
            next.signal(SIGTERM)
            #expect(try await next.ended() == .signalled(SIGTERM))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
            let refused = try await stage.authctl("forward", "--listen", path, "work")
            #expect(refused.end == .exited(64))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
        }
    }

    @Test func `there is no socket in a folder that everybody may write to`() async throws {
        try await withAccounts { stage, path in
            let folder = (path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
            let refused = try await stage.authctl("forward", "--listen", path, "work")
            #expect(refused.end == .exited(77))
            #expect(refused.errors.contains("everybody can write to the folder"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}
