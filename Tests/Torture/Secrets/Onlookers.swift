internal import Foundation
internal import TestSupport

/// What other processes can see of the daemon's memory: another process of its user, a debugger, the kernel when it
/// writes a core dump.
struct Onlookers {
    /// The user that runs the daemon for these checks: nobody.
    private static let user = "65534"

    /// The names of the ways into a process that are open to others of the same user.
    ///
    /// - Parameter pid: a process of `user`.
    static func openWays(into pid: Int32) async throws -> [String] {
        let script = """
            for name in environ maps mem; do (exec 3< /proc/$1/$name) 2>/dev/null && echo $name; done
            ls /proc/$1/fd > /dev/null 2>&1 && echo fd
            timeout 2 strace -qq -e trace=none -p $1 2>&1 | grep -q 'not permitted' || echo ptrace
            """
        let words = asUser + ["/bin/sh", "-c", script, "sh", "\(pid)"]
        let program = try Program("/usr/bin/setpriv", words, environment: ["PATH": "/usr/bin:/bin"])
        try await program.ended()
        return program.output.all
    }

    static let asUser = ["--reuid=" + user, "--regid=" + user, "--clear-groups"]

    /// Runs `body` with a daemon of that user.
    static func withDaemon(_ body: (Int32) async throws -> Void) async throws {
        let stage = try DaemonStage()
        _ = try await SecretsStage.output("chown -R \(user):\(user) '\(stage.folder.path)'")
        let words = asUser + [Program.products + "/authrefreshd"]
        let daemon = try Program("/usr/bin/setpriv", words, environment: stage.environment)
        defer { if daemon.isRunning { daemon.signal(SIGKILL) } }
        try await stage.notify.messages.first("READY=1") { $0.contains("READY=1") }
        try await body(daemon.pid)
    }

    /// Makes root's debugger write a core dump of a process.
    ///
    /// - Parameter isWhole: whether to include the memory that the process excludes.
    static func dump(_ pid: Int32, to file: String, isWhole: Bool) async throws {
        let whole = ["set use-coredump-filter off", "set dump-excluded-mappings on"]
        let commands = (isWhole ? whole : []) + ["generate-core-file \(file)"]
        let words = ["-nx", "-batch", "--readnever", "-p", "\(pid)"] + commands.flatMap { ["-ex", $0] }
        let gdb = try Program("/usr/bin/gdb", words, environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"])
        try await gdb.ended(within: .seconds(60))
        guard FileManager.default.fileExists(atPath: file) else {
            throw TestFault.failed(program: "gdb", errors: gdb.errorText + gdb.outputText)
        }
    }

    /// Whether the kernel leaves a core dump in the folder of a program that ends by SIGABRT, and may leave one of any
    /// size.
    ///
    /// - Parameter isReady: awaited before the signal.
    static func leavesCore(
        _ command: String,
        in folder: String,
        environment: [String: String],
        isReady: (Program) async throws -> Void
    ) async throws -> Bool {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let script = "cd '\(folder)' && ulimit -c unlimited && exec \(command)"
        let program = try Program("/bin/sh", ["-c", script], environment: environment)
        try await isReady(program)
        program.signal(SIGABRT)
        try await program.ended()
        return try !FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
    }
}
