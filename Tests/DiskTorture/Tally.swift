internal import Foundation

/// Counts checks, and prints those that failed, as the scripts of Tests/Integration do.
struct Tally {
    private(set) var passed = 0
    private(set) var failed = 0

    mutating func check(_ name: String, _ body: () throws -> Void) {
        do {
            try body()
            passed += 1
        } catch {
            failed += 1
            say("FAIL \(name): \(error)")
        }
    }
}

/// Prints a line at once, whoever reads it.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
