import Foundation
import Testing

@testable import authctl

/// `authctl import` on a terminal, without names: it asks before each account. No daemon runs; an account that is agreed to fails there.
@Suite struct ImportDialogueTests {
    private static let settings = """
        account "home" { token_uri = "https://as.example.org/token"; client_id = "c-1"; }
        account "office" { token_uri = "https://as.example.org/token"; client_id = "c-2"; }
        """
    private static let home = "Take over 'home' from pizauth (https://as.example.org)? [y/N] "
    private static let office = "Take over 'office' from pizauth (https://as.example.org)? [y/N] "

    private func show(_ steps: TerminalRun.Step...) throws -> String {
        let run = try CommandRun()
        defer { run.remove() }
        let folder = run.folder.appendingPathComponent(".config")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data(Self.settings.utf8).write(to: folder.appendingPathComponent("pizauth.conf"))
        let command = "authctl import --from pizauth; echo \"exit $?\""
        return try TerminalRun(columns: 200).run(command, in: run, steps).replacing("\r\n", with: "\n")
    }

    @Test(arguments: ["n", "", "nonsense"])
    func `anything but a yes takes nothing over`(answer: String) throws {
        let shown = try show(.typing(answer + "\n", at: Self.home), .typing("N\n", at: Self.office))
        #expect(shown == "\(Self.home)\(answer)\n\(Self.office)N\nexit 0\n")
    }

    @Test func `a yes takes over that account alone`() throws {
        let shown = try show(.typing("n\n", at: Self.home), .typing("Yes\n", at: Self.office))
        #expect(shown.contains("\(Self.office)Yes\nauthctl: error: authrefreshd does not answer at"), "\(shown)")
        #expect(shown.hasSuffix("authctl: hint: authctl doctor\nexit 69\n"), "\(shown)")
        #expect(shown.matches(of: /authctl: error:/).count == 1, "\(shown)")
    }

    @Test func `the end of the input cancels the rest`() throws {
        let shown = try show(.typing("\u{4}", at: Self.home))
        #expect(shown == "\(Self.home)authctl: error: cancelled\nexit 130\n")
    }
}
