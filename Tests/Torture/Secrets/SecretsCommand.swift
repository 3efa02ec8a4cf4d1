internal import ArgumentParser
internal import Foundation
internal import TestSupport

/// `authtorture secrets`.
struct SecretsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secrets",
        abstract: "Searches for every secret in all places where it must not be.",
        discussion: """
            A daemon that logs all it can lives through days of rotations, sign-ins, errors, changes of its key and backups, while the \
            server notes every secret it is sent. Then all that was said and written is searched for pieces of them; and the daemon's \
            memory by those who have no business in it.
            """
    )

    @Option(help: "How many days, of some seconds each.")
    var days = 3

    func run() async throws {
        Torture.ignoreBrokenPipes()
        let checks = Checks()
        let scene = try await SecretsStage()
        for day in 0..<days { try await SecretsDay(scene: scene).live(day) }
        var search = scene.search()
        checks.add(
            "\(search.count) secrets are known: tokens, codes, verifiers, client secrets and keys, store keys",
            surprises: search.count < 20 * days ? ["too few for \(days) days"] : []
        )
        try look(in: scene, search, "at work", checks)
        try await lookIntoMemory(of: scene, search, checks)
        try await scene.end()
        // Also the key from the last key change.
        try scene.noteKey()
        search = scene.search()
        try look(in: scene, search, "after its end", checks)
        try plant(in: scene, search, checks)
        await scene.shutdown()
        try await lookBesides(checks)
        if !checks.haveAllPassed { throw ExitCode(1) }
    }

    /// Searches all output, and all files except those in which secrets belong.
    private func look(in scene: SecretsStage, _ search: SecretSearch, _ when: String, _ checks: Checks) throws {
        let said = scene.allSaid
        checks.add(
            "\(when), nothing in \(said.utf8.count >> 10) KiB of log, status lines, and what authctl says",
            surprises: Self.surprises(search.hits(in: said))
        )
        if when == "at work" {
            let sight = try SecretPlaces.sight(of: scene.daemon.pid)
            checks.add(
                "nothing in the arguments and the environment of the daemon",
                surprises: Self.surprises(search.hits(in: sight))
            )
        }
        var size = 0
        var surprises: [String] = []
        let files = try SecretPlaces.files(in: scene.stage.folder.path, except: [scene.inputs, scene.stage.key])
        for file in files {
            let bytes = try SecretPlaces.bytes(of: file)
            size += bytes.count
            surprises += Self.surprises(search.hits(in: bytes), in: file)
        }
        let names = Set(files.map { ($0 as NSString).lastPathComponent })
        if !names.contains("accounts.sqlite") { surprises.append("the store is not among \(names)") }
        if when == "at work", !names.contains("accounts.sqlite-wal") { surprises.append("no log among \(names)") }
        checks.add(
            "\(when), nothing in \(files.count) files of \(size >> 10) KiB: store, log, free pages, backups, runtime folder",
            surprises: surprises
        )
    }

    /// Checks that the search finds planted secrets, both as a whole file and inside one.
    private func plant(in scene: SecretsStage, _ search: SecretSearch, _ checks: Checks) throws {
        var store = try SecretPlaces.bytes(of: scene.stage.store)
        let planted = Array((scene.wiretap.secrets.max { $0.count < $1.count } ?? "").utf8)
        let piece = planted.dropFirst(planted.count / 2).prefix(16)
        store.replaceSubrange(store.count / 2..<store.count / 2 + piece.count, with: piece)
        checks.add(
            "half of a token, planted in the midst of the store, is found by the same search",
            surprises: search.hits(in: store) > 0 ? [] : ["it is not"]
        )
        let said = scene.said + "access token refreshed demo-at-0123"
        checks.add(
            "so is the beginning of one in the log",
            surprises: search.hits(in: said) > 0 ? [] : ["it is not"]
        )
    }

    private func lookIntoMemory(of scene: SecretsStage, _ search: SecretSearch, _ checks: Checks) async throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/gdb"), isRoot else {
            return Torture.say("skip what a debugger of root dumps: there is no gdb, or no root")
        }
        // A daemon that was just started has no secret open.
        try await scene.stage.acquire("public0")
        let (pid, file) = (scene.daemon.pid, scene.stage.folder.path + "/core")
        try await Onlookers.dump(pid, to: file, isWhole: false)
        let dump = try SecretPlaces.bytes(of: file)
        checks.add(
            "nothing in what a debugger of root dumps of it (\(dump.count >> 10) KiB)",
            surprises: Self.surprises(search.hits(in: dump))
        )
        try await Onlookers.dump(pid, to: file, isWhole: true)
        // The address space of a debug build is nearly a gigabyte and mostly empty, so grep reads it.
        let count = try await SecretsStage.output("grep -caE 'demo-[ar]t-[0-9a-f]{32}' '\(file)'; rm '\(file)'")
        checks.add(
            "its whole memory, dumped by who means to, has tokens in it, as it must",
            surprises: count.hasPrefix("0") ? ["it has none"] : []
        )
    }

    /// Checks who can look into a daemon without privileges, and whether it leaves a core dump.
    private func lookBesides(_ checks: Checks) async throws {
        guard isRoot else {
            return Torture.say("skip another process of the same user: it takes root to be another user")
        }
        try await Onlookers.withDaemon { pid in
            let ways = try await Onlookers.openWays(into: pid)
            checks.add("no process of the same user can look into it", surprises: ways)
        }
        let patient = Onlookers.asUser + ["/bin/sh", "-c", "echo ready; exec sleep 60"]
        let sleeper = try Program("/usr/bin/setpriv", patient, environment: ["PATH": "/usr/bin:/bin"])
        defer { sleeper.signal(SIGKILL) }
        try await sleeper.output.first("ready") { $0 == "ready" }
        let ways = try await Onlookers.openWays(into: sleeper.pid)
        checks.add(
            "the same ways stand open into another program: \(ways.joined(separator: ", "))",
            surprises: ways.contains("environ") && ways.contains("mem") ? [] : ["they do not"]
        )
        try await lookForCores(checks)
    }

    private func lookForCores(_ checks: Checks) async throws {
        let stage = try DaemonStage()
        let daemon = "'\(Program.products)/authrefreshd'"
        let cores = stage.folder.path + "/cores"
        let environment = stage.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        let isLeft = try await Onlookers.leavesCore(daemon, in: cores, environment: environment) { _ in
            try await stage.notify.messages.first("READY=1") { $0.contains("READY=1") }
        }
        checks.add("it leaves no core when it ends by SIGABRT, with no limit set", surprises: isLeft ? ["it does"] : [])
        let patient = "/bin/sh -c 'echo ready; exec sleep 60'"
        let other = try await Onlookers.leavesCore(patient, in: cores + "-other", environment: environment) { program in
            try await program.output.first("ready") { $0 == "ready" }
        }
        if other {
            checks.add("another program does", surprises: [])
        } else {
            Torture.say("skip whether another program leaves a core: this machine writes none into a program's folder")
        }
    }

    private static func surprises(_ hits: Int, in place: String? = nil) -> [String] {
        hits == 0 ? [] : ["\(hits) pieces of secrets" + (place.map { " in \($0)" } ?? "")]
    }
}
