import Testing

@testable import authctl

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
    func `typed values are hidden and option names stay`(arguments: [String], message: String, hidden: String) {
        #expect(ParserReport.hideValues(of: arguments, in: message) == hidden)
    }

    @Test func `a list of possible values stays on the line`() {
        let message = "'x' is invalid for '--format'. Please provide one of the following:\n  - raw\n  - header"
        #expect(
            ParserReport.oneLine(message)
                == "'x' is invalid for '--format'. Please provide one of the following: raw, header"
        )
        #expect(ParserReport.oneLine("Missing expected argument") == "Missing expected argument")
        #expect(ParserReport.oneLine("") == "")
    }
}
