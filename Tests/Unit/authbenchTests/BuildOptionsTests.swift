import Foundation
import TestSupport
import Testing

@testable import authbench

struct BuildOptionsTests {
    @Test func `the options of a build are read as bash reads them`() async throws {
        let folder = try TemporaryFolder()
        let systemd = URL(filePath: folder.path + "/systemd")
        try FileManager.default.createDirectory(at: systemd, withIntermediateDirectories: false)
        let script = "first=-a\ndebug_options=(\n    $first 'b c' # why\n    \"$source_dir\" ''\n)\n"
        try Data(script.utf8).write(to: systemd.appending(path: "prerequisites.bash"))
        #expect(try await BuildBench.options("debug_options", folder.path) == ["-a", "b c", folder.path, ""])
    }

    @Test func `the package's script has options, and a missing one is an error`() async throws {
        let quickstart = try await BuildBench.options("debug_options", BuildBench.packageFolder())
        #expect(quickstart.contains("-whole-module-optimization"))
        let release = try await BuildBench.options("release_options", BuildBench.packageFolder())
        #expect(release.contains("-function-sections"))
        let folder = try TemporaryFolder()
        await #expect(throws: BenchError.self) { try await BuildBench.options("debug_options", folder.path) }
    }
}
