internal import Basics
internal import Glibc

/// A program of ours in the same folder as authctl. It does what authctl cannot, because authctl is linked statically
/// and starts without Foundation.
enum ProgramBeside: String, CaseIterable {
    case agent = "authagent"
    case daemon = "authrefreshd"
    case importer = "authimport"

    /// Replaces this process with the program (execve(2)). If that succeeds, this function never returns.
    ///
    /// - Throws: the reason why it did not start.
    func become(_ arguments: [String]) throws(Report) {
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        // Not execvp(3), which gives what is no program to a shell: an empty file would succeed.
        unsafe execv(program, &words)
        let number = errno
        unsafe words.forEach { unsafe free($0) }
        throw notStarted(number)
    }

    /// Runs the program, which reports its own errors.
    ///
    /// - Parameter bytesMax: the most bytes that it may print.
    /// - Returns: what it printed.
    func output(_ arguments: [String], bytesMax: Int) throws(Report) -> [UInt8] {
        let run = ProgramRun(
            [program] + arguments,
            input: .ours,
            collectsErrors: false,
            // A person may be typing its input.
            limitMilliseconds: .max,
            bytesMax: bytesMax
        )
        let (bytes, end) = run.output()
        switch end {
        case .exited(0): return bytes
        case .notStarted(let number): throw notStarted(number)
        case .exited(let status): throw .reported(ExitStatus(rawValue: status) ?? .badData)
        case .timedOut, .tooMuch: throw .reported(.badData)
        }
    }

    private var program: String { Surroundings.real.programFolder + "/" + rawValue }

    private func notStarted(_ number: Int32) -> Report {
        Report(
            status: .misconfigured,
            name: errorName,
            message: "cannot start '\(program)': \(systemText(number))",
            hints: ["\(Surroundings.real.installer) puts it beside authctl"]
        )
    }

    /// The name, in an error as JSON, of the failure to start this program.
    private var errorName: String {
        switch self {
        case .agent: "authctl.CannotStartAgent"
        case .daemon: "authctl.CannotStartDaemon"
        case .importer: "authctl.CannotStartImport"
        }
    }
}
