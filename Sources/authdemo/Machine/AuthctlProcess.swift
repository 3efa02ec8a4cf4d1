internal import DemoIssuer
internal import Foundation

/// One run of the real `authctl`.
enum AuthctlProcess {
    /// The result of a run.
    struct Outcome: Sendable {
        let output: String
        let errors: String
        let end: ProcessEnd
    }

    /// Starts it; `whenEnded` is called once, on a separate thread.
    ///
    /// - Parameter input: written to its standard input through a pipe, so that a secret appears in no list of
    ///   processes.
    /// - Throws: if it cannot be started.
    static func start(
        executable: String,
        arguments: [String],
        input: String,
        stage: Stage,
        whenEnded: @escaping @Sendable (Outcome) -> Void
    ) throws(DemoError) {
        let process = Process()
        let (inputPipe, outputPipe, errorPipe) = (Pipe(), Pipe(), Pipe())
        process.executableURL = URL(filePath: executable)
        process.arguments = arguments
        process.environment = stage.environment
        process.currentDirectoryURL = URL(filePath: stage.folder)
        process.standardInput = inputPipe
        process.standardOutput = outputPipe
        process.standardError = errorPipe
        // Its output fits into a pipe's 64 KiB, so it can wait there until the end.
        process.terminationHandler = { process in
            whenEnded(
                Outcome(output: text(from: outputPipe), errors: text(from: errorPipe), end: ProcessEnd(process))
            )
        }
        do {
            try process.runTakingSignals()
        } catch {
            throw DemoError("cannot start '\(executable)'")
        }
        // If the program does not read, it has already ended, and its status says why.
        try? inputPipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try? inputPipe.fileHandleForWriting.close()
    }

    private static func text(from pipe: Pipe) -> String {
        let bytes = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        return String(decoding: bytes, as: UTF8.self)
    }
}
