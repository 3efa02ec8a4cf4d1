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

    @Test func `the options with -file are not mistaken for them`() throws {
        try ArgumentCheck.check(["account", "add", "--client-secret-file=x", "--refresh-token-file", "y"])
    }

    @Test func `a word that is no command is not repeated`() {
        #expect(throws: AuthctlError.unknownCommand(suggestion: nil, helpCommand: "authctl --help")) {
            try ArgumentCheck.check(["hunter2"])
        }
        #expect(throws: AuthctlError.unknownCommand(suggestion: "rename", helpCommand: "authctl account --help")) {
            try ArgumentCheck.check(["account", "rname"])
        }
    }
}

@Suite struct ParserReportTests {
    @Test(
        arguments: [
            (["x", "hunter2"], "Unexpected argument 'hunter2'", "Unexpected argument '…'"),
            (
                ["--lead-time", "hunter2"], "'hunter2' is invalid for '--lead-time <time>'",
                "'…' is invalid for '--lead-time <time>'"
            ),
            (["--lead-time=hunter2"], "'hunter2' is invalid for '--lead-time'", "'…' is invalid for '--lead-time'"),
            (["--jsno"], "Unknown option '--jsno'", "Unknown option '--jsno'"),
            (["-x"], "Unknown option '-x'", "Unknown option '-x'"),
            (["--Hunter2"], "Unknown option '--Hunter2'", "Unknown option '…'"),
            (["-hunter2"], "Unexpected argument '-hunter2'", "Unexpected argument '…'"),
        ] as [([String], String, String)]
    )
    func `what the user typed is hidden and names of options stay`(arguments: [String], message: String, hidden: String)
    {
        #expect(ParserReport.hideValues(of: arguments, in: message) == hidden)
    }
}

@Suite struct SpellingTests {
    @Test func `one slip of each kind is a distance of one`() {
        for word in ["tatus", "sstatus", "stitus"] { #expect(Spelling.distance(from: word, to: "status") == 1) }
        #expect(Spelling.distance(from: "status", to: "status") == 0)
        #expect(Spelling.distance(from: "", to: "status") == 6)
    }

    @Test func `a long word has no suggestion`() {
        #expect(Spelling.nearest(to: String(repeating: "s", count: 21), in: ["s"]) == nil)
    }
}
