internal import Glibc

/// A program of ours in the same folder. It does work for which a static program, or a program without Foundation, is
/// not enough.
enum ProgramBeside: String, CaseIterable {
    case agent = "authagent"
    case daemon = "authrefreshd"
    case importer = "authimport"

    /// Replaces this process by that program, with execve(2).
    ///
    /// - Throws: `cannotStart`. If it succeeds, it does not return.
    func become(_ arguments: [String]) throws(AuthctlError) {
        let program = Surroundings.real.programFolder + "/" + rawValue
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        unsafe execv(program, &words)
        let number = errno
        unsafe words.forEach { unsafe free($0) }
        throw .cannotStart(self, path: program, errno: number)
    }

    /// The name of the error in JSON if the program cannot be started.
    var errorName: String {
        switch self {
        case .agent: "authctl.CannotStartAgent"
        case .daemon: "authctl.CannotStartDaemon"
        case .importer: "authctl.CannotStartImport"
        }
    }
}
