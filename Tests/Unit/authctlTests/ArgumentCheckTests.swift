import Basics
import Testing

@testable import authctl

@Suite struct ArgumentCheckTests {
    @Test(arguments: ParserReport.secretOptions.sorted())
    func `an option that would carry a secret is refused without its value`(option: String) throws {
        for arguments in [["status", option, "hunter2"], ["status", "\(option)=hunter2"]] {
            let error = #expect(throws: Report.self) { try ParserReport.check(arguments) }
            let report = try #require(error)
            #expect(report.status == .usage)
            #expect(report.text(TerminalStyle()).contains(option))
            #expect(!report.text(TerminalStyle()).contains("hunter2"))
        }
    }

    @Test func `options that end in -file are not mistaken for secret options`() {
        #expect(throws: Never.self) {
            try ParserReport.check(["account", "add", "--client-secret-file=x", "--refresh-token-file", "y"])
        }
    }

    /// What is told of a command that does not exist.
    private func hint(for arguments: [String]) -> String? {
        let error = #expect(throws: Report.self) { try ParserReport.check(arguments) }
        #expect(error?.message == "no command has this name")
        return error?.hints.first?.text
    }

    @Test func `an unknown command is not repeated`() {
        #expect(hint(for: ["hunter2"]) == "see 'authctl --help'")
        #expect(hint(for: ["account", "rname"]) == "did you mean 'authctl account rename'?")
    }

    @Test(arguments: [
        (["list"], "authctl account list"), (["ls"], "authctl account list"),
        (["rm", "work"], "authctl account remove"),
        (["add"], "authctl account add"), (["account", "ls"], "authctl account list"), (["signin"], "authctl login"),
        (["provider", "ls"], "authctl provider list"), (["discover"], "authctl provider discover"),
        (["verion"], "authctl version"),
    ])
    func `a command in another group, or with another program's name, is suggested`(words: [String], meant: String) {
        #expect(hint(for: words) == "did you mean '\(meant)'?")
    }

    @Test func `help for an unknown command is refused like the command`() throws {
        #expect(hint(for: ["help", "tokne"]) == "did you mean 'authctl token'?")
        #expect(hint(for: ["help", "account", "rname"]) == "did you mean 'authctl account rename'?")
        for arguments in [["help"], ["help", "token"], ["help", "account", "add"], ["help", "--version"]] {
            try ParserReport.check(arguments)
        }
    }
}
