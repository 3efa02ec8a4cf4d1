import Foundation
import TestSupport
import Testing

/// The pages name tests that exist, and link to files that exist.
struct PageCitationTests {
    /// The README and all pages, each with its file.
    private func pages() throws -> [(file: URL, text: String)] {
        let folder = SourceTree.root.appending(path: "Sources/authrefreshd/Documentation.docc")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let pages = (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "md" }
        return try ([SourceTree.root.appending(path: "README.md")] + pages).map { file in
            (file, try String(contentsOf: file, encoding: .utf8))
        }
    }

    @Test func `every test that a page names as its proof exists`() throws {
        let tests = try PageSources.tests().union(PageSources.tortures())
        var count = 0
        for page in try pages() {
            for paragraph in page.text.matches(of: /Shown by:(?:[^\n]|\n(?!\n|- |#))+/) {
                for citation in paragraph.0.matches(of: /`([^`]+)`/) {
                    let name = String(citation.1.replacing(/\s*\n\s*/, with: " "))
                    #expect(tests.contains(name), "\(page.file.lastPathComponent): \(name)")
                    count += 1
                }
            }
        }
        #expect(count >= 80)
    }

    @Test func `every suite that a page names exists`() throws {
        let files = FileManager.default.enumerator(
            at: SourceTree.root.appending(path: "Tests"),
            includingPropertiesForKeys: nil
        )
        let names = Set((files?.compactMap { $0 as? URL } ?? []).map { $0.deletingPathExtension().lastPathComponent })
        var count = 0
        for page in try pages() {
            for suite in page.text.matches(of: /`([A-Za-z]+Tests)`/) where suite.1 != "NAMETests" {
                #expect(names.contains(String(suite.1)), "\(page.file.lastPathComponent): \(suite.1)")
                count += 1
            }
        }
        #expect(count >= 5)
    }

    @Test func `every link from a page to a file leads to a file`() throws {
        var count = 0
        for page in try pages() {
            for link in page.text.matches(of: /\]\(([A-Za-z0-9.\/~-]+\.(?:md|svg))\)/) {
                let file = page.file.deletingLastPathComponent().appending(path: String(link.1)).standardizedFileURL
                #expect(FileManager.default.fileExists(atPath: file.path), "\(page.file.lastPathComponent): \(link.1)")
                count += 1
            }
        }
        #expect(count >= 30)
    }
}
