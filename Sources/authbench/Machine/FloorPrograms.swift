internal import Foundation
internal import TestSupport

/// The C programs that are measured against or measure; compiled from the source that this program carries.
struct FloorPrograms: Sendable {
    /// Asks one question over a Unix socket.
    let client: String
    /// The same, linked statically as `authctl` is: it spares the dynamic linker's work.
    let staticClient: String
    /// Answers one question a connection.
    let server: String
    /// The same for many callers at a time: takes in all who wait, then answers them together.
    let batchServer: String
    /// Asks many questions, many at a time.
    let load: String
    /// Starts programs in turn, and times them.
    let runner: String

    /// Compiles them into `folder`.
    ///
    /// - Throws: `noCompiler`, `cannotCompile`.
    init(in folder: TemporaryFolder) async throws {
        // As a distribution builds its programs: optimised and, unless said otherwise, dynamically linked.
        func compile(_ name: String, _ source: [UInt8], _ options: [String] = []) async throws -> String {
            let file = try folder.write(String(decoding: source, as: UTF8.self), to: "\(name).c")
            let path = folder.path + "/" + name
            let arguments = ["cc", "-O2"] + options + ["-o", path, file]
            let compiler = try Program("/usr/bin/env", arguments, environment: ProcessInfo.processInfo.environment)
            switch try await compiler.ended(within: .seconds(60)) {
            case .exited(0): return path
            case .exited(127): throw BenchError.noCompiler
            case .exited, .signalled: throw BenchError.cannotCompile(program: name, errors: compiler.errorText)
            }
        }
        client = try await compile("client", PackageResources.client_c)
        staticClient = try await compile("static-client", PackageResources.client_c, ["-static"])
        server = try await compile("server", PackageResources.server_c)
        batchServer = try await compile("batch-server", PackageResources.batch_server_c)
        load = try await compile("load", PackageResources.load_c)
        runner = try await compile("runner", PackageResources.runner_c)
    }

    /// Runs one of them to its end, and gives what it printed.
    ///
    /// - Throws: `failed` if it does not end well.
    static func output(
        of path: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> [String] {
        let program = try Program(path, arguments, environment: environment)
        guard try await program.ended(within: .seconds(300)) == .exited(0) else {
            throw BenchError.failed(program: path, errors: program.errorText)
        }
        return program.output.all
    }
}
