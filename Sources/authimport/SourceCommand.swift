internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// Runs a program that prints its accounts. The output contains secrets; it comes through a pipe and stays in memory.
struct SourceCommand {
    /// The time limit in s. A person may have to type a password.
    static let limitSeconds = 120

    let words: [String]
    /// The file for its standard input; nil for the terminal.
    var inputFile: String?

    /// The command for display.
    var origin: String { words.joined(separator: " ") }

    /// Runs the program and returns its output.
    func output() throws(ProgramError) -> [UInt8] {
        var terminal = termios()
        let isTerminal = unsafe tcgetattr(STDIN_FILENO, &terminal) == 0
        let run = ProgramRun(
            words,
            input: inputFile.map { .file($0) } ?? .ours,
            collectsErrors: false,
            limitMilliseconds: Int32(Self.limitSeconds) * 1000,
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
                "'\(origin)' cannot be read: '\(words[0])' did not end within \(Self.limitSeconds) s"
            )
        case .tooMuch: throw .tooLarge(origin)
        }
    }
}
