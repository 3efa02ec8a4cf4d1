internal import DemoIssuer
internal import Foundation

extension FileHandle {
    /// Writes the whole text at once; false if nobody can read it any more. If errors cannot be written, only the exit
    /// status is left to report them.
    @discardableResult
    func print(_ text: String) -> Bool {
        (try? write(contentsOf: Data(text.utf8))) != nil
    }
}

extension DemoError {
    func report() {
        FileHandle.standardError.print("authdemo: error: \(self)\n")
    }
}
