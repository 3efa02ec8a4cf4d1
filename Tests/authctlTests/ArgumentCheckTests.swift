import CommandLineProgram
import Terminal
import Testing

@testable import authctl

@Suite struct ArgumentCheckTests {
    @Test(arguments: ArgumentCheck.secretOptions.sorted())
    func `an option that would carry a secret is refused without its value`(option: String) throws {
        for arguments in [["status", option, "hunter2"], ["status", "\(option)=hunter2"]] {
            let error = #expect(throws: AuthctlError.self) { try ArgumentCheck.check(arguments) }
            let report = try #require(error).report
            #expect(report.status == .usage)
            #expect(report.text(TerminalStyle()).contains(option))
            #expect(!report.text(TerminalStyle()).contains("hunter2"))
        }
    }

    @Test func `options that end in -file are not mistaken for secret options`() {
        #expect(throws: Never.self) {
            try ArgumentCheck.check(["account", "add", "--client-secret-file=x", "--refresh-token-file", "y"])
        }
    }

    @Test func `an unknown command is not repeated`() {
        #expect(throws: AuthctlError.unknownCommand(suggestion: nil, helpCommand: "authctl --help")) {
            try ArgumentCheck.check(["hunter2"])
        }
        #expect(
            throws: AuthctlError.unknownCommand(
                suggestion: "authctl account rename",
                helpCommand: "authctl account --help"
            )
        ) {
            try ArgumentCheck.check(["account", "rname"])
        }
    }

    @Test(arguments: [
        (["list"], "authctl account list"), (["ls"], "authctl account list"),
        (["rm", "work"], "authctl account remove"),
        (["add"], "authctl account add"), (["account", "ls"], "authctl account list"), (["signin"], "authctl login"),
        (["provider", "ls"], "authctl provider list"), (["discover"], "authctl provider discover"),
        (["verion"], "authctl version"),
    ])
    func `a command in another group, or with another program's name, is suggested`(words: [String], meant: String) {
        let help = words.first == "account" || words.first == "provider" ? "authctl \(words[0])" : "authctl"
        #expect(throws: AuthctlError.unknownCommand(suggestion: meant, helpCommand: "\(help) --help")) {
            try ArgumentCheck.check(words)
        }
    }

    @Test func `help for an unknown command is refused like the command`() throws {
        #expect(throws: AuthctlError.unknownCommand(suggestion: "authctl token", helpCommand: "authctl --help")) {
            try ArgumentCheck.check(["help", "tokne"])
        }
        #expect(
            throws: AuthctlError.unknownCommand(
                suggestion: "authctl account rename",
                helpCommand: "authctl account --help"
            )
        ) {
            try ArgumentCheck.check(["help", "account", "rname"])
        }
        for arguments in [["help"], ["help", "token"], ["help", "account", "add"], ["help", "--version"]] {
            try ArgumentCheck.check(arguments)
        }
    }
}
