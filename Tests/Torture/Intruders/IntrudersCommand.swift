internal import ArgumentParser
internal import DemoIssuer
internal import Foundation
internal import TestSupport

/// `authtorture intruders`.
struct IntrudersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "intruders",
        abstract: "Tries foreign callers and a false daemon, and kills a change of the key while it writes."
    )

    @Option(help: "The number of system calls at which a change of the key is killed.")
    var moments = 10

    /// How many refusals of each kind are heard. This many give a stable median for the table.
    private static let rounds = 100

    /// The wrappers of the callers, and the expected error texts.
    private static let callers = [
        ("another user", [String](), "the daemon serves its own user and root, not uid 65534"),
        // In that namespace the daemon's user has no number, and authctl refuses the daemon, too.
        ("root of another user namespace", ["unshare", "-U", "-r"], "belongs to another user (uid 65534)"),
    ]

    func run() async throws {
        Torture.ignoreBrokenPipes()
        let checks = Checks()
        guard isRoot else { return Torture.say("skip all of it: it takes root to be somebody else") }
        var table: [[String]] = []
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            try await stage.acquire("work")
            try await callAsAnother(stage, daemon, checks)
            try await RefusalTrial.prepare(stage, issuer, url)
            table = try await RefusalTrial(stage: stage, issuer: issuer, rounds: Self.rounds).run(checks)
            try await daemon.terminate()
            try await listenAsAnother(checks)
            try await killRekeys(RekeyKills(issuer: issuer, url: url), checks)
        }
        Torture.say("\n" + MarkdownTable.render(RefusalTrial.header, table))
        if !checks.haveAllPassed { throw ExitCode(1) }
    }

    /// Calls as another user, in this user namespace and as root of another, with permissions that would allow it.
    private func callAsAnother(_ stage: DaemonStage, _ daemon: DaemonProcess, _ checks: Checks) async throws {
        let folders = ["", "/run", "/run/authrefreshd"].map { "'\(stage.folder.path)\($0)'" }.joined(separator: " ")
        _ = try await SecretsStage.output("chmod 755 \(folders); chmod 666 '\(stage.socket)'")
        // Other users cannot read the source tree.
        let authctl = stage.folder.path + "/authctl"
        try FileManager.default.copyItem(atPath: Program.products + "/authctl", toPath: authctl)
        var told = 0
        for (name, wrapper, refusal) in Self.callers {
            var answers: Set<String> = []
            var surprises: [String] = []
            for words in [
                ["token", "work"], ["token", "nobody-has-this"], ["status"], ["account", "export", "work"],
            ] {
                let seen = daemon.log.count
                let command = Onlookers.asUser + wrapper + [authctl] + words
                let other = try Program("/usr/bin/setpriv", command, environment: stage.environment)
                if try await other.ended() != .exited(77) { surprises.append("\(words): \(other.errorText)") }
                if !other.errorText.contains(refusal) { surprises.append("\(words): \(other.errorText)") }
                if !other.outputText.isEmpty { surprises.append("\(words): \(other.outputText)") }
                answers.insert(other.errorText)
                let line = try? await daemon.log.first("the refusal", from: seen) {
                    $0.contains("a caller was refused")
                }
                if line?.contains("uid 65534") == true { told += 1 }
            }
            if answers.count != 1 { surprises.append("it is told more than one thing: \(answers)") }
            checks.add("\(name) is refused, whatever it asks for, in the same words", surprises: surprises)
        }
        checks.add("the log tells of each, with pid and uid", surprises: told == 8 ? [] : ["\(told) of 8 lines"])
    }

    /// Puts another user's listener in place of the daemon's socket.
    private func listenAsAnother(_ checks: Checks) async throws {
        let folder = try TemporaryFolder()
        _ = try await SecretsStage.output("chmod 777 '\(folder.path)'; mkdir -m 777 '\(folder.path)/authrefreshd'")
        let path = folder.path + "/authrefreshd/io.authrefresh"
        let impostor = try await Impostor(at: path)
        let link = folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let token = "a-refresh-token-that-nobody-must-see"
        let ways = [
            ("a replaced socket", ["XDG_RUNTIME_DIR": folder.path]),
            ("a socket path that is a symbolic link to one", ["AUTHREFRESH_SOCKET": link]),
        ]
        for (number, (name, environment)) in ways.enumerated() {
            let words = ["account", "add", "x", "--issuer", "https://login.example.com", "--client-id", "app"]
            let caller = try Program(
                "authctl",
                words + ["--refresh-token-file", "-"],
                environment: environment.merging(["PATH": "/usr/bin:/bin", "HOME": folder.path]) { $1 },
                input: token
            )
            let end = try await caller.ended()
            let heard = try await impostor.heard(from: number)
            let surprises = [end == .exited(77) ? nil : "\(end) \(caller.errorText)", heard == "heard 0" ? nil : heard]
            checks.add("authctl tells nothing to \(name), of another user", surprises: surprises.compactMap(\.self))
        }
        try await impostor.end()
    }

    private func killRekeys(_ rekey: RekeyKills, _ checks: Checks) async throws {
        let count = try await rekey.calls().count
        var surprises: [String] = []
        var killed = 0
        let places = moments >= count ? Array(1...max(count, 1)) : (0..<moments).map { 1 + $0 * count / moments }
        for place in places {
            let (found, wasKilled) = try await rekey.kill(at: place)
            surprises += found.map { "at \(place): \($0)" }
            killed += wasKilled ? 1 : 0
        }
        // The last calls belong to the daemon's end. There may be fewer of them if the log is shorter.
        if killed < places.count * 3 / 4 { surprises.append("only \(killed) of \(places.count) were killed") }
        checks.add(
            "a change of the key killed at \(killed) of its \(count) writing system calls: the store opens, nothing is lost",
            surprises: surprises
        )
    }
}
