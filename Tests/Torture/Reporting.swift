internal import Synchronization

/// Prints a line for each check, like the scripts in `Tests/Integration`, and counts those that fail.
final class Checks: Sendable {
    private let counts = Mutex((passed: 0, failed: 0))

    /// - Parameter surprises: what was not as expected. The check passes if it is empty.
    func add(_ name: String, surprises: [String]) {
        counts.withLock { counts in
            if surprises.isEmpty { counts.passed += 1 } else { counts.failed += 1 }
            Torture.say(
                surprises.isEmpty
                    ? "ok   \(name)" : "FAIL \(name): \(surprises.joined(separator: "; ").replacing("\n", with: " / "))"
            )
        }
    }

    var haveAllPassed: Bool { counts.withLock { $0.failed == 0 && $0.passed > 0 } }
}

/// A table that is readable in a terminal and in Markdown.
enum MarkdownTable {
    /// - Parameter rows: rows with as many cells as `header`.
    static func render(_ header: [String], _ rows: [[String]]) -> String {
        let lines = ([header] + rows).map { $0.map { $0.replacing("|", with: "\\|") } }
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        let rendered = lines.map { cells in
            "| " + zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ")
                + " |"
        }
        return ([rendered[0], rule] + rendered.dropFirst()).joined(separator: "\n")
    }
}
