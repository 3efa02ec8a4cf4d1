internal import Foundation
internal import TestSupport

/// Clean builds: the quickstart's debug build, part by part, and the release programs.
struct BuildBench {
    let workshop: Workshop

    /// The targets of the quickstart's build, each after its dependencies. A target's share includes the dependencies
    /// that only it has.
    private static let parts = [
        "CCryptoBoringSSL", "NIOPosix", "Crypto", "CryptoExtras", "GRDB", "Yams", "ArgumentParser", "OAuthClient",
        "AccountStorage", "authrefreshd", "authctl", "authdemo",
    ]

    func figures() async throws -> [Figure] {
        let package = try Self.packageFolder()
        return try await quickstart(package) + release(package)
    }

    /// The build of `systemd/quickstart`, with the processor time of each part.
    private func quickstart(_ package: String) async throws -> [Figure] {
        let scratch = try TemporaryFolder()
        let place = try await prepare(package, scratch) + Self.options("debug_options", package)
        var (figures, total) = ([Figure](), 0.0)
        for part in Self.parts {
            Report.note("building \(part)")
            let took = try await build(["--target", part] + place)
            total += took.processor
            figures.append(seconds("build/quickstart/\(part)/cpu", took.processor))
        }
        Report.note("linking")
        let linking = try await build(["--product", "authdemo"] + place)
        return figures + [
            seconds("build/quickstart/linking/cpu", linking.processor),
            seconds("build/quickstart/cpu", total + linking.processor),
        ]
    }

    private func release(_ package: String) async throws -> [Figure] {
        let scratch = try TemporaryFolder()
        let place = try await prepare(package, scratch) + ["-c", "release"] + Self.options("release_options", package)
        var (wall, processor) = (0.0, 0.0)
        for product in ["authrefreshd", "authctl"] {
            Report.note("building \(product), optimised")
            let took = try await build(["--product", product] + place)
            wall += took.wall
            processor += took.processor
        }
        let products = scratch.path + "/release/"
        return [
            seconds("build/wall", wall), seconds("build/cpu", processor),
            Figure(
                name: "build/authrefreshd",
                value: try size(products + "authrefreshd"),
                unit: .mebibytes,
                limit: .none
            ),
            Figure(name: "build/authctl", value: try size(products + "authctl"), unit: .mebibytes, limit: .none),
        ]
    }

    private func seconds(_ name: String, _ value: Double) -> Figure {
        Figure(name: name, value: value, unit: .seconds, limit: .none)
    }

    /// Fetches the dependencies, which is not counted; returns the arguments with the folder.
    private func prepare(_ package: String, _ scratch: TemporaryFolder) async throws -> [String] {
        Report.note("fetching the dependencies, which is not counted")
        let place = ["--package-path", package, "--scratch-path", scratch.path]
        _ = try await run(["package"] + place + ["resolve"])
        return place
    }

    /// The options of a build: an array in `systemd/prerequisites.bash`.
    static func options(_ array: String, _ package: String) async throws -> [String] {
        let script = #"""
            source_dir=$1 && source "$1/systemd/prerequisites.bash" || exit
            declare -n options=$2 && printf '%s\n' "${options[@]}"
            """#
        let bash = try Program(
            "/bin/bash",
            ["-c", script, "bash", package, array],
            environment: ProcessInfo.processInfo.environment
        )
        guard try await bash.ended() == .exited(0) else {
            throw BenchError.failed("systemd/prerequisites.bash", errors: bash.errorText)
        }
        return bash.output.all
    }

    private func build(_ arguments: [String]) async throws -> (wall: Double, processor: Double) {
        try await run(["build"] + arguments)
    }

    /// The seconds that a SwiftPM command took, and its processor time, including that of its children.
    private func run(_ arguments: [String]) async throws -> (wall: Double, processor: Double) {
        let command = ["/usr/bin/env", "swift"] + arguments
        let environment = ProcessInfo.processInfo.environment
        let program = try Program(workshop.floor.runner, ["time", "1", "--"] + command, environment: environment)
        guard try await program.ended(within: .seconds(3600)) == .exited(0) else {
            throw BenchError.failed(command.joined(separator: " "), errors: program.errorText)
        }
        let fields = program.outputText.split(separator: " ").compactMap { Double($0) }
        guard fields.count == 4 else { throw BenchError.unreadable("runner", output: program.outputText) }
        return (fields[1] / 1e9, fields[2] / 1e9)
    }

    private func size(_ path: String) throws -> Double {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.size] as? Int).map { Double($0) / 1_048_576 } ?? 0
    }

    /// The folder of the package in which this program was built.
    static func packageFolder() throws -> String {
        var folder = URL(fileURLWithPath: Program.products)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            if FileManager.default.fileExists(atPath: folder.path + "/Package.swift") { return folder.path }
        }
        throw BenchError("there is no Package.swift above '\(Program.products)'", hint: "Tests/bench build")
    }
}
