import Foundation

/// Runs the built `authctl` in a folder for this test.
struct CommandRun {
    struct Outcome: Equatable {
        var output: String
        var errors: String
        var status: Int32
    }

    /// The folder of this test's executable. `authctl` is built into the same folder.
    static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    /// The folder in which the command starts.
    let folder: URL

    init() throws {
        let name = "authctl-test-\(UUID().uuidString.prefix(8))"
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        // Hints depend on whether the daemon is installed. Here it is, whatever this machine has.
        let units = folder.appendingPathComponent(".share/systemd/user")
        try FileManager.default.createDirectory(at: units, withIntermediateDirectories: true)
        try Data().write(to: units.appendingPathComponent("authrefreshd.socket"))
    }

    var socket: String { folder.appendingPathComponent("socket").path }

    /// The environment, with nothing of the machine's own. `authctl` is in PATH, and finds its daemon at `socket`.
    var environment: [String: String] {
        [
            "PATH": "\(Self.products.path):/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C.UTF-8", "HOME": folder.path,
            "AUTHREFRESH_SOCKET": socket, "TERM": "xterm",
            "XDG_DATA_DIRS": folder.appendingPathComponent(".share").path,
        ]
    }

    /// Runs a command of the shell.
    func run(_ command: String, input: String = "") throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        // It only ends a hang. No command here takes a second.
        process.arguments = ["180", "/bin/sh", "-c", command]
        process.currentDirectoryURL = folder
        process.environment = environment
        let streams = try ["in", "out", "err"].map { name in
            let url = folder.appendingPathComponent(".std\(name)")
            try Data(name == "in" ? Array(input.utf8) : []).write(to: url)
            return url
        }
        process.standardInput = try FileHandle(forReadingFrom: streams[0])
        process.standardOutput = try FileHandle(forWritingTo: streams[1])
        process.standardError = try FileHandle(forWritingTo: streams[2])
        try process.run()
        process.waitUntilExit()
        return Outcome(
            output: try String(contentsOf: streams[1], encoding: .utf8),
            errors: try String(contentsOf: streams[2], encoding: .utf8),
            status: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        )
    }

    /// Runs the command of a transcript, on a terminal if it has that section.
    func run(_ transcript: Transcript) throws -> Outcome {
        guard let terminal = transcript.terminal else { return try run(transcript.command, input: transcript.input) }
        // The shell survives the keys that end the command, so that it can report the status.
        let command = "trap : INT QUIT; \(transcript.command)\necho $? > .status"
        let shown = try TerminalRun(columns: terminal.columns).run(command, in: self, terminal.steps)
        let status = try? String(contentsOf: folder.appendingPathComponent(".status"), encoding: .utf8)
        return Outcome(
            output: shown.replacing("\r\n", with: "\n"),
            errors: "",
            status: status.flatMap { Int32($0.filter(\.isNumber)) } ?? -1
        )
    }

    /// Whether this machine has all of the programs.
    static func has(_ programs: String...) -> Bool {
        programs.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
