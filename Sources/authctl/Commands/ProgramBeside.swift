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
        let program = Surroundings.real.programFolder + "/" + rawValue
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        unsafe execv(program, &words)
        let number = errno
        unsafe words.forEach { unsafe free($0) }
        throw Report(
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
