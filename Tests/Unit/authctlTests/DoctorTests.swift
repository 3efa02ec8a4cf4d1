import AuthRefreshInterface
import Basics
import Glibc
import Testing

@testable import authctl

/// What `authctl doctor` finds by itself, and how it shows the findings.
@Suite struct DoctorTests {
    private static let folder = Surroundings.File(owner: 1000, mode: 0o700, kind: .folder)
    private static let program = Surroundings.File(owner: 0, mode: 0o755, kind: .regular)

    private func surroundings(
        _ environment: [String: String],
        files: [String: Surroundings.File] = ["/run/user/1000": folder, "/usr/bin/authctl": program],
        user: UInt32 = 1000,
        systemctl: CommandOutput = CommandOutput(end: .notStarted(2)),
        program: String = "/usr/bin/authctl"
    ) -> Surroundings {
        Surroundings(
            user: user,
            environment: { environment[$0] },
            file: { files[$0] },
            text: { $0 == "/etc/passwd" ? "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n" : nil },
            program: program,
            run: { $0.contains("systemctl") ? systemctl : CommandOutput(end: .notStarted(2)) }
        )
    }

    private func session(_ surroundings: Surroundings) -> [Finding] {
        surroundings.sessionFindings(isSocketNamed: false)
    }

    @Test func `a login shell is fine`() {
        let findings = session(surroundings(["XDG_RUNTIME_DIR": "/run/user/1000", "PATH": "/bin:/usr/bin"]))
        #expect(findings.map(\.level) == ["ok", "ok"])
    }

    @Test func `the missing runtime folder variable of cron is a note if the folder exists`() {
        let found = session(surroundings(["PATH": "/usr/bin"]))
        #expect(found.first?.level == "note")
        let none = session(surroundings(["PATH": "/usr/bin"], files: ["/usr/bin/authctl": Self.program]))
        #expect(none.first?.level == "error")
        #expect(none.first?.needs == "start")
        #expect(none.first?.advice?.contains("enable-linger") == true)
    }

    @Test func `the runtime folder of another user, as after su, is an error`() {
        let finding = session(surroundings(["XDG_RUNTIME_DIR": "/run/user/1000"], user: 1001)).first
        #expect(finding?.level == "error")
        #expect(finding?.text.contains("uid 1000") == true)
    }

    @Test func `sudo is reported`() {
        let finding = session(surroundings(["SUDO_USER": "ada"], user: 0)).first
        #expect(finding?.level == "warning")
        #expect(finding?.advice == "run it without sudo")
    }

    @Test func `a folder that is not in PATH is a note`() {
        let findings = session(surroundings(["XDG_RUNTIME_DIR": "/run/user/1000", "PATH": "/bin"]))
        #expect(findings.last?.check == "path")
        #expect(findings.last?.level == "note")
    }

    @Test func `another program of the same name in the shell's PATH is a warning`() {
        var surroundings = surroundings(
            ["XDG_RUNTIME_DIR": "/run/user/1000", "PATH": "/snap/bin:/usr/bin"],
            files: ["/run/user/1000": Self.folder, "/snap/bin/authctl": Self.program, "/usr/bin/authctl": Self.program]
        )
        let other = session(surroundings).last
        #expect(other?.level == "warning")
        #expect(other?.text == "a shell finds another authctl, '/snap/bin/authctl'; this one is '/usr/bin/authctl'")
        // A link managed by update-alternatives, or another link in a folder of PATH.
        surroundings.target = { $0 == "/snap/bin/authctl" ? "/usr/bin/authctl" : $0 }
        #expect(session(surroundings).last?.text == "a shell finds '/snap/bin/authctl'")
    }

    @Test(arguments: [
        ("PATH=/usr/local/bin:/usr/bin", "ok", "your units find '/usr/bin/authctl'"),
        ("PATH=$'/usr/bin:/a b'", "ok", "your units find '/usr/bin/authctl'"),
        ("PATH=/bin", "note", "your units do not find authctl: the service manager's PATH is '/bin'"),
        ("PATH=/opt/bin:/usr/bin", "warning", "your units find another authctl, '/opt/bin/authctl'"),
    ])
    func `what units find is checked with the manager's own PATH`(line: String, level: String, text: String) {
        let files = [
            "/run/user/1000": Self.folder, "/usr/bin/authctl": Self.program, "/opt/bin/authctl": Self.program,
        ]
        let finding = session(
            surroundings(
                ["XDG_RUNTIME_DIR": "/run/user/1000", "PATH": "/usr/bin"],
                files: files,
                systemctl: CommandOutput(text: "LANG=C\n\(line)\nUSER=ada\n", end: .exited(0))
            )
        ).last
        #expect(finding?.check == "path")
        #expect(finding?.level == level)
        #expect(finding?.text == text)
    }

    @Test func `another project's program and another installation are distinguished`() {
        var surroundings = surroundings(
            ["XDG_RUNTIME_DIR": "/run/user/1000", "PATH": "/opt"],
            files: ["/run/user/1000": Self.folder, "/usr/bin/authctl": Self.program, "/opt/authctl": Self.program]
        )
        surroundings.run = { words in
            CommandOutput(end: words == ["grep", "-qsF", "io.authrefresh", "/opt/authctl"] ? .exited(1) : .timedOut)
        }
        let finding = session(surroundings).last
        #expect(finding?.text == "a shell finds '/opt/authctl', which is another project's authctl")
        #expect(finding?.advice?.contains("authrefreshctl") == true)
    }

    private func installation(_ found: [String: String?], starts: String = "") -> Finding {
        let files = found.mapValues { identity in
            Surroundings.File(owner: 0, mode: 0o755, kind: .regular, identity: identity)
        }
        var surroundings = surroundings(["HOME": "/home/ada", "PATH": "/bin:/usr/bin"], files: files)
        surroundings.run = { words in
            words.last == "--version"
                ? CommandOutput(text: "0.\(words[0].count)\n", end: .exited(0))
                : CommandOutput(text: "{ path=\(starts) ; argv[]=\(starts) ; }\n", end: .exited(0))
        }
        return surroundings.installationFinding
    }

    @Test func `one installation is fine, with any links to it`() {
        let finding = installation(["/usr/bin/authrefreshd": "1:1", "/bin/authrefreshd": "1:1"])
        #expect(finding == .ok(.installation, "'/usr/bin/authrefreshd' (0.21) is installed"))
        #expect(installation([:]).level == "note")
    }

    @Test func `two installations are both reported, with the one that the service starts`() {
        let home = "/home/ada/.local/bin/authrefreshd"
        let finding = installation(["/usr/bin/authrefreshd": "1:1", home: "1:2"], starts: home)
        #expect(finding.level == "note")
        #expect(
            finding.text
                == "there are 2 installations: '/usr/bin/authrefreshd' (0.21), '\(home)' (0.33); the service starts '\(home)'"
        )
        #expect(
            finding.advice
                == "keep one; to remove '/usr/bin/authrefreshd': apt remove authrefreshd"
                + "; to remove '\(home)': systemd/uninstall --prefix '/home/ada/.local'"
        )
    }

    @Test func `of two installations in two prefixes, each is named with the command that removes it`() {
        let finding = installation([
            "/usr/local/bin/authrefreshd": "1:1", "/home/ada/.local/bin/authrefreshd": "1:2",
            "/build/authrefreshd": "1:3",
        ])
        #expect(
            finding.advice
                == "keep one; to remove '/home/ada/.local/bin/authrefreshd': systemd/uninstall --prefix '/home/ada/.local'"
                + "; to remove '/usr/local/bin/authrefreshd': systemd/uninstall --prefix '/usr/local'"
        )
    }

    private static let sockets: [(file: Surroundings.File?, level: String, need: String?)] = [
        (Surroundings.File(owner: 1000, mode: 0o600, kind: .socket), "ok", nil),
        (Surroundings.File(owner: 1000, mode: 0o666, kind: .socket), "note", nil),
        (Surroundings.File(owner: 7, mode: 0o600, kind: .socket), "error", "permission"),
        (Surroundings.File(owner: 1000, mode: 0o600, kind: .regular), "error", "repair"),
        (nil, "error", "start"),
    ]

    @Test(arguments: sockets)
    func `the socket's kind and owner are checked`(file: Surroundings.File?, level: String, need: String?) {
        let files = file.map { ["/run/s": $0] } ?? [:]
        let findings = surroundings([:], files: files).socketFindings(at: "/run/s")
        #expect(findings.map(\.level) == [level])
        #expect(findings.first?.needs == need)
    }

    @Test func `a socket folder that others may enter or own is reported`() {
        var files = [
            "/r/authrefreshd": Self.folder,
            "/r/authrefreshd/s": Surroundings.File(owner: 1000, mode: 0o600, kind: .socket),
        ]
        files["/r/authrefreshd"]?.mode = 0o755
        let path = "/r/authrefreshd/s"
        #expect(
            surroundings([:], files: files).socketFindings(at: path).first?.level == "warning"
        )
        files["/r/authrefreshd"]?.owner = 7
        #expect(surroundings([:], files: files).socketFindings(at: path).first?.level == "error")
    }

    @Test func `without lingering a server gets a warning and a desktop a note`() {
        let well = CommandOutput(
            text: "Id=authrefreshd.socket\nLoadState=loaded\nActiveState=active\n",
            end: .exited(0)
        )
        func level(_ environment: [String: String], _ files: [String: Surroundings.File] = [:]) -> String? {
            let surroundings = surroundings(environment, files: files, systemctl: well)
            return surroundings.serviceFindings(isAnswering: true).last?.level
        }
        #expect(level(["SSH_CONNECTION": "x"]) == "warning")
        #expect(level(["SSH_CONNECTION": "x", "DISPLAY": ":0"]) == "note")
        #expect(level([:]) == "note")
        #expect(level([:], ["/var/lib/systemd/linger/ada": Self.program]) == "ok")
    }

    @Test func `an unreachable manager matters only while the daemon does not answer`() {
        let failing = CommandOutput(text: "Failed to connect to bus\n", end: .exited(1))
        let surroundings = surroundings([:], systemctl: failing)
        #expect(surroundings.serviceFindings(isAnswering: true).first?.level == "note")
        let down = surroundings.serviceFindings(isAnswering: false).first
        #expect(down?.level == "error")
        #expect(down?.needs == "start")
        #expect(down?.text.contains("failed to connect to bus") == true)
    }

    @Test(arguments: [
        ("217", "", "user namespaces", "/usr/share/authrefreshd/see-executables.conf"),
        ("226", "", "226/NAMESPACE", "systemctl --user edit authrefreshd"),
        ("243", "", "LoadCredential=", "systemctl --user edit authrefreshd"),
        ("203", "", "203/EXEC", "systemctl --user cat authrefreshd"),
        ("77", "", "key of its store", "systemctl --user restart authrefreshd"),
        ("78", "", "configuration", "authrefreshd --check"),
        ("0", "{ argv[]=mkdir -p x status=7 ; code=exited ; status=1 }", "ExecStartPre=, status 1", "edit"),
    ])
    func `a start that failed is told with its reason and what helps`(
        status: String,
        before: String,
        text: String,
        advice: String
    ) {
        let unit = "Id=authrefreshd.service\nLoadState=loaded\nActiveState=failed\nResult=exit-code\n"
        let said = CommandOutput(
            text: unit + "ExecMainStatus=\(status)\nExecStartPre=\(before)\n",
            end: .exited(0)
        )
        let surroundings = surroundings([:], systemctl: said)
        let found = surroundings.serviceFindings(isAnswering: false).first
        #expect(found?.text.contains(text) == true && found?.level == "error", "\(found.debugDescription)")
        #expect(found?.advice?.contains(advice) == true, "\(found.debugDescription)")
    }

    @Test func `a unit that exists is never called missing, and the package's user is not told to run a script`() {
        let unknown = CommandOutput(text: "not-found\n", end: .exited(0))
        func hints(_ files: [String], _ environment: [String: String] = ["XDG_RUNTIME_DIR": "/run/user/1000"])
            -> [String]
        {
            let known = Dictionary(uniqueKeysWithValues: (files + ["/run/user/1000"]).map { ($0, Self.folder) })
            let surroundings = surroundings(environment, files: known, systemctl: unknown)
            return surroundings.socketHints(for: "/run/user/1000/authrefreshd/io.authrefresh")
                .map(\.text)
        }
        let start = "systemctl --user start authrefreshd"
        #expect(hints(["/usr/lib/systemd/user/authrefreshd.socket"]) == [start])
        #expect(hints([]).count == 2 && !hints([]).joined().contains("systemd/install"))
        let own = "/home/ada/.config/systemd/user/authrefreshd.socket"
        #expect(hints([own], ["XDG_RUNTIME_DIR": "/run/user/1000", "HOME": "/home/ada"]) == [start])
        // cron: systemctl finds the manager only with the variable.
        #expect(
            hints(["/usr/lib/systemd/user/authrefreshd.socket"], [:]) == ["env XDG_RUNTIME_DIR=/run/user/1000 " + start]
        )
    }

    @Test func `a newcomer's program that was only built says how to install`() {
        let folder = ["/run/user/1000": Self.folder]
        let built = surroundings(["XDG_RUNTIME_DIR": "/run/user/1000"], files: folder, program: "/home/ada/src/authctl")
        let hints = built.socketHints(for: "/run/user/1000/authrefreshd/io.authrefresh")
        #expect(
            hints.map { $0.text(by: .here) }
                == ["systemctl --user start authrefreshd", "not installed yet: run systemd/install"]
        )
    }

    @Test func `without a session the hint names lingering, and after su the other user's folder`() {
        let path = "/run/user/1000/authrefreshd/io.authrefresh"
        let cron = surroundings([:], files: [:])
        #expect(cron.socketHints(for: path).map(\.text).joined().contains("loginctl enable-linger"))
        #expect(cron.socketHints(for: "/tmp/socket").map(\.text).first == "systemctl --user start authrefreshd")
        let afterSu = surroundings(["XDG_RUNTIME_DIR": "/run/user/1000"], user: 0)
        #expect(afterSu.socketHints(for: path).map(\.text).joined().contains("as after su"))
    }

    @Test func `a program is run without a shell, and its output is kept`() {
        #expect(CommandOutput(of: ["printf", "a b; $HOME"]) == CommandOutput(text: "a b; $HOME", end: .exited(0)))
        #expect(CommandOutput(of: ["false"]).end == .exited(1))
        #expect(CommandOutput(of: ["no-such-program-here"]).end == .notStarted(2))
        #expect(CommandOutput(of: ["yes"], longest: 100).end == .timedOut)
        #expect(CommandOutput(of: ["sleep", "60"], limitMilliseconds: 1).end == .timedOut)
    }

    @Test func `a program that is run has the usual signals`() {
        // As our programs do.
        _ = signal(SIGPIPE, SIG_IGN)
        #expect(CommandOutput(of: ["sh", "-c", "yes | head -n 1"]) == CommandOutput(text: "y\n", end: .exited(0)))
    }

    @Test func `the most urgent error or warning decides the exit status, and notes never do`() {
        var report = DoctorReport(style: TerminalStyle())
        _ = report.add(.ok(.store, "well"))
        _ = report.add(.note(.linger, "good to know"))
        #expect(report.status == .success)
        #expect(report.total.contains("nothing is wrong: 1 ok, 1 note\n"))
        _ = report.add(.warning(.dns, "slow", needs: .time, advice: "wait"))
        #expect(report.status == .tryAgainLater)
        _ = report.add(.error(.key, "open", needs: .repair, advice: "chmod"))
        #expect(report.status == .misconfigured)
        _ = report.add(.error(.account, "ended", needs: .signIn, advice: "import"))
        #expect(report.status == .interactionRequired)
        _ = report.add(.error(.socket, "not yours", needs: .permission, advice: "check"))
        #expect(report.status == .notPermitted)
        _ = report.add(.error(.daemon, "down", needs: .start, advice: "start"))
        #expect(report.status == .unavailable)
    }

    @Test func `an unknown level of a newer daemon counts as a warning that needs a repair`() {
        var report = DoctorReport(style: TerminalStyle())
        let text = report.add(Finding(check: "moon", level: "eclipse", text: "it is dark", needs: "lamp"))
        #expect(text == "Daemon\n  ! moon          it is dark\n")
        #expect(report.status == .misconfigured)
    }

    @Test func `every line fits 40 columns, and a command can be copied`() {
        var report = DoctorReport(style: TerminalStyle(width: 40, charset: .ascii))
        let text = report.add(
            .error(
                .tls,
                "the certificate is another host's: this may not be the server",
                of: "as.example",
                needs: .repair,
                advice:
                    "check the URL of the issuer, then: \(Command(program: "systemctl", "--user", "restart", "authrefreshd"))"
            )
        )
        #expect(
            text == """
                Authorization servers
                X tls: as.example: the certificate is
                  another host's: this may not be the
                  server
                    -> check the URL of the issuer,
                       then: systemctl --user restart \\
                       authrefreshd

                """
        )
    }

    @Test func `a server's text cannot control the terminal`() {
        var report = DoctorReport(style: TerminalStyle())
        let text = report.add(.error(.discovery, "for '\u{1B}[2J'", needs: .repair, advice: "a\nb"))
        #expect(!text.contains("\u{1B}"))
        #expect(text.split(separator: "\n").count == 3)
    }
}
