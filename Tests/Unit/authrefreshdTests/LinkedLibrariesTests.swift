import AuthRefreshInterface
import Foundation
import TestSupport
import Testing

@testable import authrefreshd

struct LinkedLibrariesTests {
    @Test func `the libraries that --version --verbose lists are those of Package.swift, in its versions`() throws {
        let manifest = try SourceTree.text("Package.swift")
        let pinned = manifest.matches(of: #/\.package\(url: ".*/([^/"]+)", exact: "([^"]+)"\)/#)
            .map { "\($0.1.lowercased()) \($0.2)" }
            // Only tests and benchmarks use these.
            .filter { !$0.hasPrefix("jwt-kit ") && !$0.hasPrefix("swift-nio-ssl ") }
        #expect(LinkedLibraries.packages.map { "\($0.name) \($0.version)" } == pinned.sorted())
    }

    @Test func `each line names a library and its version`() throws {
        let lines = LinkedLibraries.text.split(separator: "\n")
        #expect(lines.first == "authrefreshd \(Version.text)")
        #expect(lines.contains("  swift-nio             2.101.2   the loopback page of a sign-in"))
        let system = try lines.suffix(from: #require(lines.firstIndex(of: "of the system, updated with it:")))
        #expect(system.contains { $0.contains(#/  libcurl +[78]\.[0-9.]+/#) })
        #expect(system.contains { $0.contains(#/  OpenSSL +[3-9]\.[0-9.]+/#) })
        #expect(try #/  SQLite +3\.[0-9.]+/#.wholeMatch(in: #require(lines.last)) != nil)
    }
}
