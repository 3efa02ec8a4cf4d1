internal import Foundation
internal import TestSupport

/// A clean build of the release products.
struct BuildBench {
    let workshop: Workshop

    func figures() async throws -> [Figure] {
        let package = try Self.packageFolder()
        let scratch = try TemporaryFolder()
        let swift = ["/usr/bin/env", "swift"]
        let place = ["-c", "release", "--package-path", package, "--scratch-path", scratch.path]
        let environment = ProcessInfo.processInfo.environment
        Report.note("fetching the dependencies, which is not counted")
        let resolve = ["package", "--package-path", package, "--scratch-path", scratch.path, "resolve"]
        _ = try await run(swift + resolve, environment)
        var (wall, processor) = (0.0, 0.0)
        for product in ["authrefreshd", "authctl"] {
            Report.note("building \(product)")
            let took = try await run(swift + ["build", "--product", product] + place, environment)
            wall += took.wall
            processor += took.processor
        }
        let products = scratch.path + "/release/"
        return [
            Figure(name: "build/wall", value: wall, unit: .seconds, limit: .none),
            Figure(name: "build/cpu", value: processor, unit: .seconds, limit: .none),
            Figure(
                name: "build/authrefreshd",
                value: try size(products + "authrefreshd"),
                unit: .mebibytes,
                limit: .none
            ),
            Figure(name: "build/authctl", value: try size(products + "authctl"), unit: .mebibytes, limit: .none),
        ]
    }

    /// Seconds that a command took, its children's processor time included.
    private func run(_ command: [String], _ environment: [String: String]) async throws -> (
        wall: Double, processor: Double
    ) {
        let program = try Program(workshop.floor.runner, ["time", "1", "--"] + command, environment: environment)
        guard try await program.ended(within: .seconds(3600)) == .exited(0) else {
            throw BenchError.failed(program: command.joined(separator: " "), errors: program.errorText)
        }
        let fields = program.outputText.split(separator: " ").compactMap { Double($0) }
        guard fields.count == 4 else { throw BenchError.unreadable(program: "runner", output: program.outputText) }
        return (fields[1] / 1e9, fields[2] / 1e9)
    }

    private func size(_ path: String) throws -> Double {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.size] as? Int).map { Double($0) / 1_048_576 } ?? 0
    }

    /// The folder of the package that this program was built in.
    private static func packageFolder() throws -> String {
        var folder = URL(fileURLWithPath: Program.products)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            if FileManager.default.fileExists(atPath: folder.path + "/Package.swift") { return folder.path }
        }
        throw BenchError.noPackage(from: Program.products)
    }
}
