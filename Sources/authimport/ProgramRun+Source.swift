internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// Programs that print their accounts.
extension ProgramRun {
    /// The time limit in s. A person may have to type a password.
    private static let sourceLimit = 120

    /// Runs such a program and returns its output. It contains secrets; it comes through a pipe and stays in memory.
    ///
    /// - Parameter inputFile: the file for its standard input; nil for the terminal.
    static func source(_ words: [String], inputFile: String? = nil) throws(ProgramError) -> [UInt8] {
        let origin = words.joined(separator: " ")
        var terminal = termios()
        let isTerminal = unsafe tcgetattr(STDIN_FILENO, &terminal) == 0
        let run = ProgramRun(
            words,
            input: inputFile.map { .file($0) } ?? .ours,
            collectsErrors: false,
            limitMilliseconds: Int32(sourceLimit) * 1000,
            bytesMax: ImportLimit.sourceBytesMax
        )
        let (bytes, end) = run.output()
        // A program that was killed may have been asking for a password.
        if isTerminal, end == .timedOut || end == .tooMuch { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &terminal) }
        switch end {
        case .exited(0): return bytes
        case .exited(let status):
            let more = words[0] == "oidc-gen" ? "; without a terminal: --password-file FILE" : ""
            throw ProgramError(
                .tryAgainLater,
                "'\(origin)' cannot be read: '\(words[0])' failed with status \(status)",
                hint: "try it yourself: \(origin)\(more)"
            )
        case .notStarted(ENOENT): throw ProgramError(.misconfigured, "'\(words[0])' is not installed")
        case .notStarted(let number): throw .unreadable(origin, errno: number)
        case .timedOut:
            throw ProgramError(
                .tryAgainLater,
                "'\(origin)' cannot be read: '\(words[0])' did not end within \(sourceLimit) s"
            )
        case .tooMuch: throw .tooLarge(origin)
        }
    }
}
