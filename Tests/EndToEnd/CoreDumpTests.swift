import Foundation
import Glibc
import TestSupport
import Testing

/// What a crash of the running programs may leave behind.
struct CoreDumpTests {
    /// The soft and the hard limit on the size of a core dump, as the kernel shows them.
    private func coreLimits(of program: Int32) throws -> [Substring] {
        let limits = try String(contentsOfFile: "/proc/\(program)/limits", encoding: .utf8)
        let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        return line.split(separator: " ").suffix(3).dropLast()
    }

    @Test func `the running daemon and authctl write no core dump, and the daemon's would hold no memory`()
        async throws
    {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        #expect(try coreLimits(of: daemon.pid) == ["0", "0"])
        // Only root can read this file of a process that is not dumpable.
        let filter = try? String(contentsOfFile: "/proc/\(daemon.pid)/coredump_filter", encoding: .utf8)
        #expect(filter == (isRoot ? "00000000\n" : nil))
        let watch = try Program("authctl", ["watch", "--json"], environment: stage.environment)
        try await watch.output.first("the present state") { $0.contains(#""event":"ready""#) }
        #expect(try coreLimits(of: watch.pid) == ["0", "0"])
        watch.signal(SIGTERM)
        _ = try await watch.ended()
        #expect(try await daemon.terminate() == .exited(0))
    }
}
