import AuthRefreshInterface
import Testing

@testable import authrefreshd

/// What `authctl doctor` says about the file from which the daemon was started.
@Suite struct ProgramCheckTests {
    @Test func `an unchanged program is reported with its path`() {
        let finding = ProgramCheck(program: "/usr/bin/authrefreshd") { _ in true }.finding
        #expect(finding == .ok(.program, "it runs '/usr/bin/authrefreshd', version \(Version.text)"))
    }

    @Test func `a replaced or removed program is a warning with a hint`() {
        let replaced = ProgramCheck(program: "/usr/bin/authrefreshd (deleted)") { $0 == "/usr/bin/authrefreshd" }
            .finding
        #expect(replaced.level == "warning")
        #expect(replaced.text.contains("'/usr/bin/authrefreshd' was replaced"))
        #expect(replaced.advice == "systemctl --user restart authrefreshd")
        let removed = ProgramCheck(program: "/usr/bin/authrefreshd (deleted)") { _ in false }.finding
        #expect(removed.text.contains("was removed"))
        #expect(removed.advice?.hasPrefix("install it again") == true)
    }

    @Test func `this process's program is found`() throws {
        let finding = try #require(ProgramCheck()).finding
        #expect(finding.level == "ok")
    }
}
