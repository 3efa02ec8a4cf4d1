internal import DemoIssuer
internal import Foundation

/// Standard output, for the show itself or the issuer's URL.
enum StandardOutput {
    /// Writes the whole text at once; false if nobody can read it any more.
    static func write(_ text: String) -> Bool {
        (try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))) != nil
    }
}

/// Standard error, for errors.
enum StandardError {
    static func write(_ text: String) {
        // If this fails, only the exit status is left to report it.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    static func report(_ error: DemoError) {
        write("authdemo: error: \(error)\n")
    }
}
