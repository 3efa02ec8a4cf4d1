import Foundation
import TestSupport
import Testing

@testable import authbench

struct ShortRunTests {
    private struct Line: Decodable, Equatable {
        let bench: String
        let value: Double
        let unit: String
        let floor: Double?
        let ratio: Double?
        let limit: Double?
        let met: Bool
    }

    @Test(.timeLimit(.minutes(15)), arguments: Bench.allCases)
    func `every bench runs and prints figures`(_ bench: Bench) async throws {
        let program = try Program(
            "authbench",
            [bench.rawValue, "--short", "--json"],
            environment: ProcessInfo.processInfo.environment
        )
        let end = try await program.ended(within: .seconds(800))
        // Status 1 means that a limit is not met, which does not matter in a short run of a debug build.
        #expect(end == .exited(0) || end == .exited(1), "\(program.errorText)")
        let lines = try program.output.all.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(!lines.isEmpty)
        #expect(Set(lines.map(\.bench)).count == lines.count)
        #expect((end == .exited(0)) == lines.allSatisfy(\.met))
        for line in lines {
            #expect(line.bench.hasPrefix(bench.rawValue + "/"))
            #expect(line.value > 0 || line.bench == "idle/wake-ups")
            #expect(line.limit != nil)
            #expect((line.floor == nil) == (line.ratio == nil))
        }
    }

    @Test func `an unknown bench is wrong usage`() async throws {
        let program = try Program("authbench", ["speed"], environment: [:])
        #expect(try await program.ended() == .exited(64))
        #expect(program.output.all.isEmpty)
    }

    @Test func `without a C compiler the error says what to install`() async throws {
        let program = try Program("authbench", ["serve", "--short"], environment: ["PATH": "/nowhere"])
        #expect(try await program.ended() == .exited(2))
        #expect(program.errorText.contains("authbench: error: there is no C compiler"))
        #expect(program.errorText.contains("authbench: hint: apt install gcc"))
    }
}
