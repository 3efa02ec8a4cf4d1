internal import Glibc

/// A program of ours that is installed beside this one, and that does what a static program, or one without Foundation, cannot.
enum ProgramBeside: String, CaseIterable {
    case agent = "authagent"
    case daemon = "authrefreshd"
    case importer = "authimport"

    /// Replaces this process by that program, with execve(2).
    ///
    /// - Throws: `cannotStart`; there is no other return.
    func become(_ arguments: [String]) throws(AuthctlError) {
        let program = Surroundings.real.programFolder + "/" + rawValue
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        unsafe execv(program, &words)
        let number = errno
        unsafe words.forEach { unsafe free($0) }
        throw .cannotStart(self, path: program, errno: number)
    }

    /// What programs know it by that this one cannot be started.
    var errorName: String {
        switch self {
        case .agent: "authctl.CannotStartAgent"
        case .daemon: "authctl.CannotStartDaemon"
        case .importer: "authctl.CannotStartImport"
        }
    }
}
