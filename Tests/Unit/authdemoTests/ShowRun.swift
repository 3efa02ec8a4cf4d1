import Foundation

@testable import authdemo

/// A run of the built `authdemo`, with a folder of its own for temporary files.
struct ShowRun {
    struct Outcome {
        let output: String
        let errors: String
        let status: Int32
    }

    /// The folder of this test's executable. The programs are built into the same folder.
    static let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    /// The time limit of a run in seconds. After it, the test fails by the status 124.
    private static let limit = "400"

    let folder: URL

    init() throws {
        folder = URL(filePath: "/tmp/authdemo-test-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try FileManager.default.createDirectory(at: temporaryFiles, withIntermediateDirectories: false)
    }

    /// The folder that the show may use, and must leave empty.
    var temporaryFiles: URL { folder.appending(path: "tmp") }

    /// The names of the files that a show has left.
    var leftovers: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: temporaryFiles.path) }
    }

    /// A folder of programs in which `name` is a shell script and the other program is real.
    func programs(replacing name: String, by script: String) throws -> String {
        let programs = folder.appending(path: "programs")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: false)
        for real in ["authrefreshd", "authctl"] where real != name {
            try FileManager.default.createSymbolicLink(
                at: programs.appending(path: real),
                withDestinationURL: Self.products.appending(path: real)
            )
        }
        let file = programs.appending(path: name)
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        return programs.path
    }

    /// Runs `authdemo`. Sends `signal` when its output contains `cue`.
    func run(_ arguments: [String], cue: String? = nil, signal: Int32 = SIGINT) async throws -> Outcome {
        let process = Process()
        let output = Pipe()
        let errorFile = folder.appending(path: "stderr")
        try Data().write(to: errorFile)
        process.executableURL = URL(filePath: "/usr/bin/timeout")
        process.arguments = [Self.limit, Self.products.appending(path: "authdemo").path] + arguments
        process.environment = [
            "PATH": "/usr/bin:/bin", "TMPDIR": temporaryFiles.path, "TZ": "UTC", "LC_ALL": "C.UTF-8",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errorFile)
        let (ends, continuation) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { ended in
            continuation.yield(
                ended.terminationReason == .exit ? ended.terminationStatus : 128 + ended.terminationStatus
            )
            continuation.finish()
        }
        try process.runTakingSignals()
        var bytes = Data()
        var isCued = false
        for await chunk in Self.chunks(of: output.fileHandleForReading) {
            bytes += chunk
            guard let cue, !isCued, String(decoding: bytes, as: UTF8.self).contains(cue) else { continue }
            isCued = true
            // timeout(1) passes a signal on to its command.
            kill(process.processIdentifier, signal)
        }
        var status: Int32 = -1
        for await end in ends { status = end }
        let text = String(decoding: bytes, as: UTF8.self)
        return Outcome(output: text, errors: try String(contentsOf: errorFile, encoding: .utf8), status: status)
    }

    /// The data from a pipe until its other end is closed, read on a thread of its own.
    private static func chunks(of pipe: FileHandle) -> AsyncStream<Data> {
        AsyncStream { continuation in
            DispatchQueue(label: "authdemo-test.output").async {
                var chunk = pipe.availableData
                while !chunk.isEmpty {
                    continuation.yield(chunk)
                    chunk = pipe.availableData
                }
                continuation.finish()
            }
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
