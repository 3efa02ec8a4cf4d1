import ArgumentParser
import AuthRefreshInterface
import Basics
import Testing

@testable import authctl

/// What the daemon's errors become, and the accounts whose refresh failed: each command in a hint parses.
@Suite struct MessageFormTests {
    @Test func `every command in a hint is one that the parser takes`() {
        let reports = RefusalReportTests.rows.map { ErrorReply(name: $0.name, parameters: $0.parameters).report }
        var count = 0
        for report in reports {
            let commands = report.hints.compactMap(\.command).flatMap { $0.split(separator: "\n") }
            for command in commands where command.hasPrefix("authctl ") {
                count += 1
                let words = command.split(separator: " ").dropFirst().map(String.init)
                do {
                    _ = try AuthctlCommand.parseAsRoot(SettingsOptions.nameTokenFile(in: words))
                } catch {
                    // Help that was asked for is thrown, too.
                    #expect(AuthctlCommand.exitCode(for: error) == .success, "\(command)")
                }
            }
        }
        #expect(count >= 5)
    }
}
