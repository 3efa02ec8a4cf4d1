import Testing

@testable import authctl

@Suite struct ArgumentCheckTests {
    @Test(arguments: ArgumentCheck.secretOptions.sorted())
    func `an option that would carry a secret is refused without its value`(option: String) throws {
        for arguments in [["status", option, "hunter2"], ["status", "\(option)=hunter2"]] {
            let error = #expect(throws: AuthctlError.self) { try ArgumentCheck.check(arguments) }
            let report = try #require(error).report
            #expect(report.status == .usage)
            #expect(report.text.contains(option))
            #expect(!report.text.contains("hunter2"))
        }
    }

    @Test func `the options with -file are not mistaken for them`() {
        #expect(throws: Never.self) {
            try ArgumentCheck.check(["account", "add", "--client-secret-file=x", "--refresh-token-file", "y"])
        }
    }

    @Test func `a word that is no command is not repeated`() {
        #expect(throws: AuthctlError.unknownCommand(suggestion: nil, helpCommand: "authctl --help")) {
            try ArgumentCheck.check(["hunter2"])
        }
        #expect(throws: AuthctlError.unknownCommand(suggestion: "rename", helpCommand: "authctl account --help")) {
            try ArgumentCheck.check(["account", "rname"])
        }
    }

    @Test func `help for a command that is none is refused like the command`() throws {
        #expect(throws: AuthctlError.unknownCommand(suggestion: "token", helpCommand: "authctl --help")) {
            try ArgumentCheck.check(["help", "tokne"])
        }
        #expect(throws: AuthctlError.unknownCommand(suggestion: "rename", helpCommand: "authctl account --help")) {
            try ArgumentCheck.check(["help", "account", "rname"])
        }
        for arguments in [["help"], ["help", "token"], ["help", "account", "add"], ["help", "--version"]] {
            try ArgumentCheck.check(arguments)
        }
    }
}
