internal import CommandLineProgram
internal import Glibc
internal import MovingIn

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
    ///
    /// - Throws: `programMissing`, `programFailed`, `programTimedOut`, `tooLarge`, `unreadable`.
    func output() throws(MovingInError) -> [UInt8] {
        var terminal = termios()
        let isTerminal = unsafe tcgetattr(STDIN_FILENO, &terminal) == 0
        let run = ProgramRun(
            words,
            input: inputFile.map { .file($0) } ?? .ours,
            collectsErrors: false,
            limitMilliseconds: Int32(Self.limitSeconds) * 1000,
            bytesMax: MovingInLimit.sourceBytesMax
        )
        let (bytes, end) = run.output()
        // A program that was killed may have been asking for a password.
        if isTerminal, end == .timedOut || end == .tooMuch { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &terminal) }
        switch end {
        case .exited(0): return bytes
        case .exited(let status): throw .programFailed(origin: origin, program: words[0], status: status)
        case .notStarted(ENOENT): throw .programMissing(origin: origin, program: words[0])
        case .notStarted(let number): throw .unreadable(origin: origin, errno: number)
        case .timedOut: throw .programTimedOut(origin: origin, program: words[0], seconds: Self.limitSeconds)
        case .tooMuch: throw .tooLarge(origin: origin, bytesMax: MovingInLimit.sourceBytesMax)
        }
    }
}
