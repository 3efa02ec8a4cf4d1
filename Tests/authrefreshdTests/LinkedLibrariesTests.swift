import AuthRefreshInterface
import Foundation
import Testing

@testable import authrefreshd

struct LinkedLibrariesTests {
    @Test func `the libraries that --version --verbose lists are those of Package.swift, in its versions`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Package.swift")
        let manifest = try String(contentsOf: file, encoding: .utf8)
        let pinned = manifest.matches(of: #/\.package\(url: ".*/([^/"]+)", exact: "([^"]+)"\)/#)
            .map { "\($0.1.lowercased()) \($0.2)" }
            // Only the tests use this library.
            .filter { !$0.hasPrefix("jwt-kit ") }
        #expect(LinkedLibraries.packages.map { "\($0.name) \($0.version)" } == pinned.sorted())
    }

    @Test func `each line names a library and its version`() throws {
        let lines = LinkedLibraries.text.split(separator: "\n")
        #expect(lines.first == "authrefreshd \(Version.text)")
        #expect(lines.contains("  swift-nio-ssl         2.37.6    TLS (BoringSSL)"))
        #expect(try #/  SQLite +3\.[0-9.]+/#.wholeMatch(in: #require(lines.last)) != nil)
    }
}
