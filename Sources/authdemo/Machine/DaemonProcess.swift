internal import DemoIssuer
internal import Foundation

/// The real `authrefreshd` as a child process.
struct DaemonProcess {
    private let process = Process()

    /// Starts it; its log goes to the stage's file. `whenEnded` is called once, on a separate thread.
    ///
    /// - Throws: if its log cannot be made, or if it cannot be started.
    init(
        executable: String,
        stage: Stage,
        whenEnded: @escaping @Sendable (ProcessEnd) -> Void
    ) throws(DemoError) {
        guard FileManager.default.createFile(atPath: stage.logFile, contents: nil),
            let log = FileHandle(forWritingAtPath: stage.logFile)
        else { throw DemoError("cannot make '\(stage.logFile)'") }
        process.executableURL = URL(filePath: executable)
        process.environment = stage.environment
        process.currentDirectoryURL = URL(filePath: stage.folder)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        process.terminationHandler = { whenEnded(ProcessEnd($0)) }
        do {
            try process.runTakingSignals()
        } catch {
            throw DemoError("cannot start '\(executable)'")
        }
    }

    /// Asks it to end; `whenEnded` reports its end.
    func terminate() {
        if process.isRunning { process.terminate() }
    }

    /// Kills it.
    func kill() {
        if process.isRunning { _ = Glibc.kill(process.processIdentifier, SIGKILL) }
    }
}
