internal import Foundation

/// The show itself, or the issuer's URL.
enum StandardOutput {
    /// Writes all of the text at once; false if nobody can read it any more.
    static func write(_ text: String) -> Bool {
        (try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))) != nil
    }
}

/// What went wrong.
enum StandardError {
    static func write(_ text: String) {
        // If this fails there is nowhere left to say so; the exit status tells.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    static func report(_ error: DemoError) {
        write("authdemo: error: \(error)\n")
    }
}
