import Foundation
import TestSupport
import Testing

/// Paths on which the daemon cannot listen, or to which `authctl` cannot connect.
struct SocketPathTests {
    /// The error of a daemon that cannot start with this path.
    private func refusal(_ path: String, on stage: DaemonStage) async throws -> String {
        let daemon = try stage.spawn(["--socket", path])
        #expect(try await daemon.ended() == .exited(78), "\(daemon.logText)")
        #expect(daemon.logText.contains("authrefreshd: hint: name another path with --socket"))
        return daemon.logText
    }

    @Test func `a symbolic link at the socket's path is left alone, wherever it leads`() async throws {
        let stage = try DaemonStage()
        let path = stage.folder.path + "/link"
        for target in [stage.folder.path + "/nowhere", "/etc/passwd", stage.socket] {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            #expect(try await refusal(path, on: stage).contains("'\(path)' is not a socket, and is left alone"))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(!FileManager.default.fileExists(atPath: stage.folder.path + "/nowhere"))
    }

    @Test func `a path too long for a socket is refused by the daemon and by authctl`() async throws {
        let stage = try DaemonStage()
        let path = stage.folder.path + "/" + String(repeating: "x", count: 107)
        #expect(
            try await refusal(path, on: stage).contains("is longer than the 107 bytes that a socket's path may have")
        )
        let outcome = try await stage.authctl("status", "--socket", path)
        #expect(outcome.end != .exited(0))
        #expect(outcome.errors.contains("authctl: error: "), "\(outcome.errors)")
        #expect(outcome.errors.contains("the path of the socket is too long"), "\(outcome.errors)")
    }
}
