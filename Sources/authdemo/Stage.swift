internal import DemoIssuer
internal import Foundation

/// A show's programs, its temporary folder, and an environment that keeps the daemon inside it.
struct Stage: Sendable {
    let daemon: String
    let authctl: String
    let folder: String

    /// A socket's path may have 107 bytes. A longer folder for temporary files is not used.
    private static let longestParent = 64

    /// Creates the folder, for its owner only.
    ///
    /// - Parameter programs: the folder of `authrefreshd` and `authctl`.
    /// - Throws: if a program is missing, or if the folder cannot be created.
    init(programs: String) throws(DemoError) {
        let base = URL(filePath: programs).standardizedFileURL
        daemon = base.appending(path: "authrefreshd").path
        authctl = base.appending(path: "authctl").path
        for path in [daemon, authctl] where !FileManager.default.isExecutableFile(atPath: path) {
            throw DemoError("there is no program '\(path)'")
        }
        let wished = FileManager.default.temporaryDirectory.path
        let parent = wished.utf8.count <= Self.longestParent ? wished : "/tmp"
        let name = "authdemo-" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
        folder = URL(filePath: parent).appending(path: name).path
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw DemoError("cannot make '\(folder)'")
        }
    }

    var socket: String { folder + "/socket" }
    var logFile: String { folder + "/authrefreshd.log" }

    /// The whole environment of the daemon and `authctl`. No path in it leads to the user's files.
    var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter {
            ["PATH", "LANG", "LC_ALL", "TZ"].contains($0.key)
        }
        environment["HOME"] = folder
        environment["AUTHREFRESH_SOCKET"] = socket
        for (variable, name) in [
            ("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
        ] {
            environment[variable] = "\(folder)/\(name)"
        }
        return environment
    }

    /// The last lines of the daemon's log.
    func logTail(lines count: Int) -> [String] {
        guard let log = try? String(contentsOfFile: logFile, encoding: .utf8) else { return [] }
        return log.split(separator: "\n").suffix(count).map(String.init)
    }

    func remove() {
        // A folder left in /tmp does no harm. The system removes it in time.
        try? FileManager.default.removeItem(atPath: folder)
    }
}
