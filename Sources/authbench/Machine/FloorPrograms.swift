internal import Foundation
internal import TestSupport

/// The C programs that are the floor or create load. They are compiled from source code inside this program.
struct FloorPrograms: Sendable {
    /// Makes one call over a Unix socket.
    let client: String
    /// The same program, linked statically like `authctl`, so that the dynamic linker does no work.
    let staticClient: String
    /// Answers one call per connection.
    let server: String
    /// The same for many callers: it accepts all waiting callers, then answers them together.
    let batchServer: String
    /// Makes many calls, many at the same time.
    let load: String
    /// Runs programs one after the other, and measures their time.
    let runner: String

    /// Compiles them into `folder`.
    ///
    /// - Throws: `BenchError` if there is no compiler, or if it rejects a source.
    init(in folder: TemporaryFolder) async throws {
        // With the options of a distribution: optimized and, unless stated otherwise, dynamically linked.
        func compile(_ name: String, _ source: [UInt8], _ options: [String] = []) async throws -> String {
            let file = try folder.write(String(decoding: source, as: UTF8.self), to: "\(name).c")
            let path = folder.path + "/" + name
            let arguments = ["cc", "-O2"] + options + ["-o", path, file]
            let compiler = try Program("/usr/bin/env", arguments, environment: ProcessInfo.processInfo.environment)
            switch try await compiler.ended(within: .seconds(60)) {
            case .exited(0): return path
            case .exited(127):
                throw BenchError(
                    "there is no C compiler ('cc') to build the floor with",
                    hint: "apt install gcc libc6-dev"
                )
            case .exited, .signalled: throw BenchError("the C compiler does not take '\(name)':\n\(compiler.errorText)")
            }
        }
        client = try await compile("client", PackageResources.client_c)
        staticClient = try await compile("static-client", PackageResources.client_c, ["-static"])
        server = try await compile("server", PackageResources.server_c)
        batchServer = try await compile("batch-server", PackageResources.batch_server_c)
        load = try await compile("load", PackageResources.load_c)
        runner = try await compile("runner", PackageResources.runner_c)
    }

    /// Runs one of them to its end; returns its output.
    ///
    /// - Throws: `BenchError` if it fails.
    static func output(
        of path: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> [String] {
        let program = try Program(path, arguments, environment: environment)
        guard try await program.ended(within: .seconds(300)) == .exited(0) else {
            throw BenchError.failed(path, errors: program.errorText)
        }
        return program.output.all
    }
}
