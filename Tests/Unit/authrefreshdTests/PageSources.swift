import Foundation
import TestSupport

/// The pages of the documentation, and the names of the tests that they cite.
enum PageSources {
    static func page(_ name: String) throws -> String {
        try SourceTree.text("Sources/authrefreshd/Documentation.docc/\(name).md")
    }

    /// The daemon's own sources.
    static func daemonSources() throws -> [(name: String, text: String)] {
        let folder = SourceTree.root.appending(path: "Sources/authrefreshd")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return try (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
            .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
    }

    /// The commands of `authctl`, by the names of their types: `AccountShow`.
    static func commands() throws -> Set<String> {
        let folder = SourceTree.root.appending(path: "Sources/authctl/Commands")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.reduce(into: []) { commands, file in
            let text = try String(contentsOf: file, encoding: .utf8)
            commands.formUnion(text.matches(of: /struct ([A-Za-z]+)Command:/).map { String($0.1) })
        }
    }

    /// The parts of `Tests/torture`, by the names to call them with.
    static func tortures() throws -> Set<String> {
        let script = try SourceTree.text("Tests/torture")
        return Set(script.matches(of: /\n +"([a-z]+) *\|/).map { "Tests/torture \($0.1)" })
    }

    /// The names of all tests in Swift.
    static func tests() throws -> Set<String> {
        try Set(testTexts().keys)
    }

    /// The source of each test in Swift, by its name.
    static func testTexts() throws -> [String: String] {
        let files = FileManager.default.enumerator(
            at: SourceTree.root.appending(path: "Tests"),
            includingPropertiesForKeys: nil
        )
        let sources = (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
        return try sources.reduce(into: [:]) { texts, source in
            let text = try String(contentsOf: source, encoding: .utf8)
            let tests = text.matches(of: /func `([^`]+)`\(/)
            let ends = tests.dropFirst().map(\.range.lowerBound) + [text.endIndex]
            for (test, end) in zip(tests, ends) {
                texts[String(test.1)] = String(text[test.range.upperBound..<end])
            }
        }
    }
}
